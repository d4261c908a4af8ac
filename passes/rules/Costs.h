//===- Costs.h - Cost facts that families share ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes are what a kernel must move at least: each distinct element of each
// tensor argument once, each element of each fresh result once. FLOPs of
// element-wise and reducing kernels are one per element, whatever the function,
// because such kernels wait for memory; those of matrix products and attention
// are the usual counts (2mnk), with which published utilisations compare.
//
// Tested by test/unit/passes/rules/CostTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_RULES_COSTS_H
#define SFSDP_PASSES_RULES_COSTS_H

#include "passes/rules/Rules.h"

namespace sfsdp::rules {

using runtime::CostClass;
using runtime::CostFacts;

/// Class, bytes read and bytes written; no FLOPs.
CostFacts movedBytes(CostClass costClass, const OperatorCall &call,
                     const ResultLayouts &results);

/// A view moves nothing.
CostFacts viewCost(const OperatorCall &call, const ResultLayouts &results);

/// One FLOP per element of the first result.
CostFacts pointwiseCost(const OperatorCall &call, const ResultLayouts &results);

/// One FLOP per element of the first argument.
CostFacts reductionCost(const OperatorCall &call, const ResultLayouts &results);

/// Bytes only.
CostFacts copyCost(const OperatorCall &call, const ResultLayouts &results);
CostFacts creationCost(const OperatorCall &call, const ResultLayouts &results);
CostFacts gatherCost(const OperatorCall &call, const ResultLayouts &results);

/// Of a gather that reads as much of argument 0 as it returns, not all of it.
CostFacts partialGatherCost(const OperatorCall &call,
                            const ResultLayouts &results);

} // namespace sfsdp::rules

#endif // SFSDP_PASSES_RULES_COSTS_H
