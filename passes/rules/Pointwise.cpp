//===- Pointwise.cpp - Element-wise operators -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All go through PyTorch's TensorIterator: operands are converted to a common
// type, broadcast, and the result's dimensions are ordered in memory as those
// of the operands. Operators differ in which arguments are operands and in the
// result's type, so a rule is a line in a table.
//
// Tested by test/unit/passes/rules/LayoutFixtureTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/Costs.h"
#include "passes/rules/Families.h"
#include "passes/rules/LayoutAlgorithms.h"
#include "passes/rules/Results.h"
#include "passes/rules/TypePromotion.h"

#include <numeric>

namespace sfsdp::rules {

namespace {

using Operands = std::vector<TensorLayout>;

/// Arguments 0 … count-1.
std::vector<size_t> leadingArguments(size_t count) {
  std::vector<size_t> indices(count);
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

/// The arguments at `indices` after conversion to `dtype`.
Operands convertedOperands(const OperatorCall &call,
                           const std::vector<size_t> &indices, DType dtype) {
  Operands operands;
  for (size_t index : indices) {
    const TensorLayout *tensor = call.optionalTensor(index);
    operands.push_back(tensor == nullptr ? contiguousLayout(dtype, {})
                                         : castTo(*tensor, dtype));
  }
  return operands;
}

Results elementwise(const OperatorCall &call, DType dtype,
                    const Operands &operands) {
  std::optional<TensorLayout> layout = elementwiseLayout(dtype, operands);
  if (layout) {
    return one(fresh(std::move(*layout)));
  }
  std::string sizes;
  for (const TensorLayout &operand : operands) {
    sizes += (sizes.empty() ? "" : " and ") + shown(operand.sizes);
  }
  return refuse(call, "sizes " + sizes + " do not broadcast");
}

/// What the result's type is, given the common type of the operands.
enum class ResultType {
  Common,   ///< add, mul, …
  Floating, ///< the common type, floats for integers: div, sqrt
  Bool,     ///< comparisons
};

DType resultTypeOf(ResultType type, DType common) {
  switch (type) {
  case ResultType::Common:
    return common;
  case ResultType::Floating:
    return floatingTypeFor(common);
  case ResultType::Bool:
    return DType::Bool;
  }
  return common;
}

/// An operator whose operands are its first `operandCount` arguments.
template <size_t operandCount, ResultType type>
Results pointwise(const OperatorCall &call) {
  std::vector<size_t> indices = leadingArguments(operandCount);
  DType common = resultType(call, indices);
  DType computed =
      type == ResultType::Floating ? floatingTypeFor(common) : common;
  return elementwise(call, resultTypeOf(type, common),
                     convertedOperands(call, indices, computed));
}

/// Operators that read their operand as it is: logical_not, isnan.
Results predicate(const OperatorCall &call) {
  return elementwise(call, DType::Bool, {call.tensor(0)});
}

/// hardtanh clamps into a tensor made like its operand.
Results intoEmptyLike(const OperatorCall &call) {
  return one(fresh(emptyLike(call.tensor(0), call.tensor(0).dtype)));
}

/// threshold_backward and leaky_relu_backward read `self` before the gradient.
Results selfThenGradient(const OperatorCall &call) {
  DType common = resultType(call, {0, 1});
  return elementwise(call, common, convertedOperands(call, {1, 0}, common));
}

/// elu_backward reads the gradient and argument 5.
Results eluBackward(const OperatorCall &call) {
  DType common = resultType(call, {0, 5});
  return elementwise(call, common, convertedOperands(call, {0, 5}, common));
}

/// isinf: integers never are; floats are compared with a number.
Results isInfinite(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  if (runtime::isIntegral(self.dtype)) {
    return one(fresh(emptyLike(self, DType::Bool)));
  }
  TensorLayout absolute = *elementwiseLayout(self.dtype, {self});
  return elementwise(call, DType::Bool,
                     {absolute, contiguousLayout(self.dtype, {})});
}

/// |x| of a complex number is real.
Results abs(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  if (runtime::isComplex(self.dtype)) {
    return refuse(call, "complex numbers are not supported");
  }
  return elementwise(call, self.dtype, {self});
}

/// div.Tensor_mode, div.Scalar_mode: a true division without a mode.
Results divWithMode(const OperatorCall &call) {
  return call.isNone(2) ? pointwise<2, ResultType::Floating>(call)
                        : pointwise<2, ResultType::Common>(call);
}

/// pow.Tensor_Scalar converts its base before the loop; the exponent is no
/// operand of the loop.
Results powWithNumber(const OperatorCall &call) {
  DType common = resultType(call, {0, 1});
  return elementwise(call, common, {castTo(call.tensor(0), common)});
}

/// pow.Scalar is row-major, whatever the strides of the exponent.
Results powOfNumber(const OperatorCall &call) {
  return one(freshContiguous(resultType(call, {0, 1}), call.tensor(1).sizes));
}

/// Bounds take part in the type for integers only, so that
/// clamp(bf16, min=0.5) stays bf16.
Results clamp(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  std::vector<size_t> indices =
      leadingArguments(call.arguments.size() > 2 ? 3 : 2);
  bool anyBound = false;
  for (size_t index : indices) {
    anyBound |= index > 0 && !call.isNone(index);
  }
  if (!anyBound) {
    return refuse(call, "expected a lower or an upper bound, got none");
  }
  DType dtype = runtime::isFloatingPoint(self.dtype)
                    ? self.dtype
                    : resultType(call, indices);
  return elementwise(call, dtype, {castTo(self, dtype)});
}

/// where.self: the condition orders dimensions but has no say in the type.
Results where(const OperatorCall &call) {
  DType common = resultType(call, {1, 2});
  Operands operands = convertedOperands(call, {1, 2}, common);
  operands.insert(operands.begin(), call.tensor(0));
  if (call.tensor(0).dtype != DType::Bool &&
      call.tensor(0).dtype != DType::UInt8) {
    return refuse(call, "expected a condition of bools, got " +
                            std::string(nameOf(call.tensor(0).dtype)));
  }
  return elementwise(call, common, operands);
}

/// masked_fill copies a row-major `self`, then fills.
Results maskedFill(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  std::optional<std::vector<int64_t>> sizes =
      broadcastSizes(self.sizes, call.tensor(1).sizes);
  if (!sizes || call.tensor(1).dtype != DType::Bool) {
    return refuse(call, "expected a mask of bools that broadcasts to " +
                            shown(self.sizes) + ", got " +
                            std::string(nameOf(call.tensor(1).dtype)) + " " +
                            shown(call.tensor(1).sizes));
  }
  return one(freshContiguous(self.dtype, *sizes));
}

constexpr Rule rule(std::string_view name,
                    Results (*layout)(const OperatorCall &)) {
  return {.name = name,
          .layout = layout,
          .cost = pointwiseCost,
          .acceptsNumbers = false};
}

constexpr Rule mixed(std::string_view name,
                     Results (*layout)(const OperatorCall &)) {
  return {.name = name,
          .layout = layout,
          .cost = pointwiseCost,
          .acceptsNumbers = true};
}

constexpr auto sameType = pointwise<1, ResultType::Common>;
constexpr auto floatOf = pointwise<1, ResultType::Floating>;
constexpr auto binary = pointwise<2, ResultType::Common>;
constexpr auto binaryFloat = pointwise<2, ResultType::Floating>;
constexpr auto comparison = pointwise<2, ResultType::Bool>;
constexpr auto ternary = pointwise<3, ResultType::Common>;

constexpr Rule kRules[] = {
    rule("abs.default", abs),
    rule("acos.default", floatOf),
    mixed("add.Scalar", binary),
    mixed("add.Tensor", binary),
    mixed("addcdiv.default", ternary),
    mixed("addcmul.default", ternary),
    rule("asin.default", floatOf),
    rule("atan.default", floatOf),
    rule("atan2.default", binaryFloat),
    mixed("bitwise_and.Scalar", binary),
    mixed("bitwise_and.Tensor", binary),
    rule("bitwise_not.default", sameType),
    mixed("bitwise_or.Scalar", binary),
    mixed("bitwise_or.Tensor", binary),
    mixed("bitwise_xor.Tensor", binary),
    rule("ceil.default", sameType),
    rule("clamp.default", clamp),
    rule("clamp_max.default", clamp),
    rule("clamp_min.default", clamp),
    mixed("copysign.Scalar", binaryFloat),
    mixed("copysign.Tensor", binaryFloat),
    rule("cos.default", floatOf),
    rule("cosh.default", floatOf),
    mixed("div.Scalar", binaryFloat),
    mixed("div.Scalar_mode", divWithMode),
    mixed("div.Tensor", binaryFloat),
    mixed("div.Tensor_mode", divWithMode),
    rule("elu.default", sameType),
    rule("elu_backward.default", eluBackward),
    mixed("eq.Scalar", comparison),
    mixed("eq.Tensor", comparison),
    rule("erf.default", floatOf),
    rule("erfc.default", floatOf),
    rule("erfinv.default", floatOf),
    rule("exp.default", floatOf),
    rule("exp2.default", floatOf),
    rule("expm1.default", floatOf),
    rule("floor.default", sameType),
    mixed("floor_divide.default", binary),
    mixed("fmod.Scalar", binary),
    mixed("fmod.Tensor", binary),
    rule("frac.default", sameType),
    mixed("ge.Scalar", comparison),
    mixed("ge.Tensor", comparison),
    rule("gelu.default", sameType),
    rule("gelu_backward.default", binary),
    mixed("gt.Scalar", comparison),
    mixed("gt.Tensor", comparison),
    rule("hardsigmoid.default", floatOf),
    rule("hardsigmoid_backward.default", binary),
    rule("hardswish.default", sameType),
    rule("hardswish_backward.default", binary),
    rule("hardtanh.default", intoEmptyLike),
    rule("hardtanh_backward.default", binary),
    rule("hypot.default", binary),
    rule("isinf.default", isInfinite),
    rule("isnan.default", predicate),
    mixed("le.Scalar", comparison),
    mixed("le.Tensor", comparison),
    rule("leaky_relu.default", sameType),
    rule("leaky_relu_backward.default", selfThenGradient),
    rule("lerp.Scalar", binary),
    rule("log.default", floatOf),
    rule("log10.default", floatOf),
    rule("log1p.default", floatOf),
    rule("log2.default", floatOf),
    rule("logical_and.default", comparison),
    rule("logical_not.default", predicate),
    rule("logical_or.default", comparison),
    rule("logical_xor.default", comparison),
    mixed("lt.Scalar", comparison),
    mixed("lt.Tensor", comparison),
    rule("masked_fill.Scalar", maskedFill),
    rule("masked_fill.Tensor", maskedFill),
    rule("maximum.default", binary),
    rule("minimum.default", binary),
    rule("mish.default", sameType),
    rule("mish_backward.default", binary),
    mixed("mul.Scalar", binary),
    mixed("mul.Tensor", binary),
    mixed("ne.Scalar", comparison),
    mixed("ne.Tensor", comparison),
    rule("neg.default", sameType),
    rule("pow.Scalar", powOfNumber),
    rule("pow.Tensor_Scalar", powWithNumber),
    rule("pow.Tensor_Tensor", binary),
    rule("reciprocal.default", floatOf),
    rule("relu.default", sameType),
    mixed("remainder.Scalar", binary),
    mixed("remainder.Tensor", binary),
    rule("round.default", sameType),
    rule("rsqrt.default", floatOf),
    mixed("rsub.Scalar", binary),
    rule("sgn.default", sameType),
    rule("sigmoid.default", floatOf),
    rule("sigmoid_backward.default", binary),
    rule("sign.default", sameType),
    rule("silu.default", sameType),
    rule("silu_backward.default", binary),
    rule("sin.default", floatOf),
    rule("sinh.default", floatOf),
    rule("softplus.default", sameType),
    rule("softplus_backward.default", binary),
    rule("softshrink.default", sameType),
    rule("sqrt.default", floatOf),
    mixed("sub.Scalar", binary),
    mixed("sub.Tensor", binary),
    rule("tan.default", floatOf),
    rule("tanh.default", floatOf),
    rule("tanh_backward.default", binary),
    rule("threshold_backward.default", selfThenGradient),
    rule("trunc.default", sameType),
    mixed("where.self", where),
};

} // namespace

std::span<const Rule> pointwiseRules() { return kRules; }

} // namespace sfsdp::rules
