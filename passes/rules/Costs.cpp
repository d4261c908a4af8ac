//===- Costs.cpp - Cost facts that families share -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/passes/rules/CostTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/Costs.h"

#include "passes/rules/LayoutAlgorithms.h"

namespace sfsdp::rules {

namespace {

int64_t distinctBytes(const TensorLayout &tensor) {
  return saturatingProduct(distinctElements(tensor),
                           runtime::byteSize(tensor.dtype));
}

int64_t bytesRead(const Argument &argument) {
  if (const auto *tensor = std::get_if<TensorLayout>(&argument)) {
    return distinctBytes(*tensor);
  }
  int64_t bytes = 0;
  if (const auto *tensors = std::get_if<TensorList>(&argument)) {
    for (const std::optional<TensorLayout> &tensor : *tensors) {
      bytes = saturatingSum(bytes, tensor ? distinctBytes(*tensor) : 0);
    }
  }
  return bytes;
}

int64_t elementsOfFirst(const ResultLayouts &results) {
  return results.empty() || !results[0] ? 0 : results[0]->tensor.elementCount();
}

} // namespace

CostFacts movedBytes(CostClass costClass, const OperatorCall &call,
                     const ResultLayouts &results) {
  CostFacts cost;
  cost.costClass = costClass;
  for (const Argument &argument : call.arguments) {
    cost.bytesRead = saturatingSum(cost.bytesRead, bytesRead(argument));
  }
  for (const std::optional<ResultLayout> &result : results) {
    bool isFresh = result && !result->aliasOf;
    cost.bytesWritten =
        saturatingSum(cost.bytesWritten, isFresh ? result->tensor.bytes() : 0);
  }
  return cost;
}

CostFacts viewCost(const OperatorCall &, const ResultLayouts &) {
  CostFacts cost;
  cost.costClass = CostClass::View;
  return cost;
}

CostFacts pointwiseCost(const OperatorCall &call,
                        const ResultLayouts &results) {
  CostFacts cost = movedBytes(CostClass::Pointwise, call, results);
  cost.flops = elementsOfFirst(results);
  return cost;
}

CostFacts reductionCost(const OperatorCall &call,
                        const ResultLayouts &results) {
  CostFacts cost = movedBytes(CostClass::Reduction, call, results);
  cost.flops = call.tensor(0).elementCount();
  return cost;
}

CostFacts copyCost(const OperatorCall &call, const ResultLayouts &results) {
  return movedBytes(CostClass::Copy, call, results);
}

CostFacts creationCost(const OperatorCall &, const ResultLayouts &results) {
  // The argument of `ones_like` is asked for its shape, not read.
  return movedBytes(CostClass::Creation, OperatorCall(), results);
}

CostFacts gatherCost(const OperatorCall &call, const ResultLayouts &results) {
  return movedBytes(CostClass::Gather, call, results);
}

CostFacts partialGatherCost(const OperatorCall &call,
                            const ResultLayouts &results) {
  OperatorCall others = call;
  others.arguments[0] = std::monostate();
  CostFacts cost = movedBytes(CostClass::Gather, others, results);
  cost.bytesRead = saturatingSum(cost.bytesRead, cost.bytesWritten);
  return cost;
}

} // namespace sfsdp::rules
