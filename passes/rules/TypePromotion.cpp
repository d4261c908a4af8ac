//===- TypePromotion.cpp - Element type of mixed operands -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/passes/rules/TypePromotionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/TypePromotion.h"

#include <algorithm>
#include <utility>

namespace sfsdp::rules {

using runtime::isComplex;
using runtime::isFloatingPoint;

namespace {

DType complexFor(DType dtype) {
  return dtype == DType::Float64 || dtype == DType::Complex128
             ? DType::Complex128
             : DType::Complex64;
}

DType promoteFloats(DType left, DType right) {
  if (left == right) {
    return left;
  }
  // f16 and bf16 hold neither each other's range nor precision.
  return std::max({left, right, DType::Float32});
}

DType promoteIntegers(DType left, DType right) {
  auto [narrow, wide] = std::minmax(left, right);
  if (narrow == DType::UInt8 && wide == DType::Int8) {
    return DType::Int16;
  }
  return wide;
}

/// A missing type does not count.
std::optional<DType> promotePresent(std::optional<DType> left,
                                    std::optional<DType> right) {
  if (!left || !right) {
    return left ? left : right;
  }
  return promoteTypes(*left, *right);
}

/// The type of operands of a heavier and a lighter class.
std::optional<DType> combineClasses(std::optional<DType> heavier,
                                    std::optional<DType> lighter) {
  if (!heavier || !lighter) {
    return heavier ? heavier : lighter;
  }
  if (isComplex(*heavier)) {
    return heavier;
  }
  if (isFloatingPoint(*heavier)) {
    return isComplex(*lighter) ? complexFor(*heavier) : *heavier;
  }
  bool lighterIsOfHigherKind = *heavier == DType::Bool ||
                               isFloatingPoint(*lighter) || isComplex(*lighter);
  return lighterIsOfHigherKind ? promoteTypes(*heavier, *lighter) : *heavier;
}

} // namespace

DType promoteTypes(DType left, DType right) {
  if (left == right) {
    return left;
  }
  if (isComplex(left) || isComplex(right)) {
    return std::max(complexFor(left), complexFor(right));
  }
  bool leftFloats = isFloatingPoint(left);
  bool rightFloats = isFloatingPoint(right);
  if (leftFloats && rightFloats) {
    return promoteFloats(left, right);
  }
  if (leftFloats || rightFloats) {
    return leftFloats ? left : right;
  }
  return promoteIntegers(left, right);
}

DType floatingTypeFor(DType dtype) {
  return runtime::isIntegral(dtype) ? kDefaultFloat : dtype;
}

DType numberType(const Argument &number) {
  if (std::holds_alternative<bool>(number)) {
    return DType::Bool;
  }
  return std::holds_alternative<int64_t>(number) ? DType::Int64
                                                 : DType::Float64;
}

DType resultType(const OperatorCall &call, const std::vector<size_t> &indices) {
  std::optional<DType> shaped;
  std::optional<DType> rankless;
  std::optional<DType> numbers;
  for (size_t index : indices) {
    if (call.isNone(index)) {
      continue;
    }
    const TensorLayout *tensor = call.optionalTensor(index);
    if (tensor == nullptr) {
      DType type = numberType(call.arguments[index]);
      type = isFloatingPoint(type) ? kDefaultFloat : type;
      numbers = promotePresent(numbers, type);
    } else if (tensor->rank() > 0) {
      shaped = promotePresent(shaped, tensor->dtype);
    } else {
      rankless = promotePresent(rankless, tensor->dtype);
    }
  }
  std::optional<DType> type =
      combineClasses(shaped, combineClasses(rankless, numbers));
  return type.value_or(kDefaultFloat);
}

} // namespace sfsdp::rules
