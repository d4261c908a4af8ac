//===- Results.h - Words in which rules answer ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short names for what every layout rule returns, so that a rule reads as the
// operator's documentation does.
//
// Tested by test/unit/passes/rules/LayoutFixtureTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_RULES_RESULTS_H
#define SFSDP_PASSES_RULES_RESULTS_H

#include "passes/rules/Rules.h"

#include <string>

namespace sfsdp::rules {

using runtime::Expected;
using runtime::Status;

/// What a layout rule returns.
using Results = Expected<ResultLayouts>;

/// A result in memory of its own.
ResultLayout fresh(TensorLayout tensor);
/// A result in memory of its own, row-major.
ResultLayout freshContiguous(DType dtype, std::vector<int64_t> sizes);
/// A result that is a window of argument `index`.
ResultLayout viewOf(size_t index, TensorLayout tensor, int64_t offset = 0);

/// The only result.
Results one(ResultLayout result);

/// PyTorch would refuse `call`, because of `reason`.
Status refuse(const OperatorCall &call, const std::string &reason);

/// Index of the parameter of that name, which the schema must have.
size_t indexOf(const OperatorCall &call, std::string_view parameter);

/// "[2, 3]".
std::string shown(const std::vector<int64_t> &sizes);

/// Argument `index` must be a tensor of `rank` dimensions.
Status requireRank(const OperatorCall &call, size_t index, int64_t rank);
/// Argument `dimIndex` as an index into the dimensions of the tensor argument
/// `tensorIndex`.
Expected<size_t> dimOf(const OperatorCall &call, size_t dimIndex,
                       size_t tensorIndex);

} // namespace sfsdp::rules

#endif // SFSDP_PASSES_RULES_RESULTS_H
