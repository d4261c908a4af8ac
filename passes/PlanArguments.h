//===- PlanArguments.h - Attributes as the plan spells them -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions without state between the dialect's attributes and the plan's.
//
// Tested by test/passes/emit-plan.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_PLANARGUMENTS_H
#define SFSDP_PASSES_PLANARGUMENTS_H

#include "dialect/Sfsdp.h"
#include "runtime/Plan.h"

namespace mlir::sfsdp {

/// Name and overload as the plan spells them: "add.Tensor" is "aten::add" and
/// "Tensor", "mylib::scale.default" is "mylib::scale" and "".
std::pair<std::string, std::string> kernelName(StringRef callee);

/// `argument` of an sfsdp.aten. `nextOperand` gives the operands in turn.
::sfsdp::runtime::KernelArgument
kernelArgument(Attribute argument,
               function_ref<::sfsdp::runtime::KernelArgument()> nextOperand);

::sfsdp::runtime::ScalarOp scalarOp(ScalarFunction function);

/// Kind, group, reduction and member names of `op`; members have no values
/// yet. Fails with a diagnostic on what no transport does: another dimension
/// than 0, and `avg`.
FailureOr<::sfsdp::runtime::CollectiveStart>
collectiveStart(CollectiveOpInterface op);

/// Bytes that a rank receives in `start` from the `groupSize` - 1 others.
int64_t bytesReceived(const ::sfsdp::runtime::CollectiveStart &start,
                      const ::sfsdp::runtime::Plan &plan, int64_t groupSize);

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_PLANARGUMENTS_H
