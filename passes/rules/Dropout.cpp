//===- Dropout.cpp - Random masks -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/passes/rules/LayoutFixtureTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/Costs.h"
#include "passes/rules/Families.h"
#include "passes/rules/LayoutAlgorithms.h"
#include "passes/rules/Results.h"

namespace sfsdp::rules {

namespace {

/// (output, mask). Without elements the input itself comes back, and the mask
/// has its type.
Results dropout(const OperatorCall &call) {
  const TensorLayout &input = call.tensor(0);
  if (input.elementCount() == 0) {
    return ResultLayouts{viewOf(0, input),
                         fresh(emptyLike(input, input.dtype))};
  }
  TensorLayout mask = emptyLike(input, DType::Bool);
  bool trains = call.isNone(2) || call.boolean(2);
  if (!trains) {
    return ResultLayouts{fresh(emptyLike(input, input.dtype)), fresh(mask)};
  }
  // The product of input and mask; the mask is converted first.
  TensorLayout factor = castTo(mask, input.dtype);
  return ResultLayouts{fresh(*elementwiseLayout(input.dtype, {input, factor})),
                       fresh(mask)};
}

/// grad * mask * scale.
Results dropoutBackward(const OperatorCall &call) {
  const TensorLayout &grad = call.tensor(0);
  const TensorLayout &mask = call.tensor(1);
  std::optional<TensorLayout> masked =
      elementwiseLayout(grad.dtype, {grad, castTo(mask, grad.dtype)});
  if (!masked) {
    return refuse(call, "sizes " + shown(grad.sizes) + " and " +
                            shown(mask.sizes) + " do not broadcast");
  }
  TensorLayout scale = contiguousLayout(grad.dtype, {});
  return one(fresh(*elementwiseLayout(grad.dtype, {*masked, scale})));
}

/// bernoulli: row-major, of the sizes and type of `self`.
Results bernoulli(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  return one(freshContiguous(self.dtype, self.sizes));
}

constexpr Rule kRules[] = {
    {.name = "bernoulli.default",
     .layout = bernoulli,
     .cost = pointwiseCost,
     .effect = Effect::Random},
    {.name = "bernoulli.p",
     .layout = bernoulli,
     .cost = creationCost,
     .effect = Effect::Random},
    {.name = "native_dropout.default",
     .layout = dropout,
     .cost = pointwiseCost,
     .effect = Effect::Random},
    {.name = "native_dropout_backward.default",
     .layout = dropoutBackward,
     .cost = pointwiseCost},
};

} // namespace

std::span<const Rule> dropoutRules() { return kRules; }

} // namespace sfsdp::rules
