//===- OperatorCall.cpp - Typed reads of an operator's arguments ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/passes/rules/OperatorCallTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/OperatorCall.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace sfsdp::rules {

namespace {

/// The argument as a T. Requires that checkArguments accepted it.
template <typename T>
const T &as(const OperatorCall &call, size_t index) {
  assert(index < call.arguments.size() && "argument index out of range");
  const T *value = std::get_if<T>(&call.arguments[index]);
  assert(value != nullptr && "argument of another kind: call checkArguments");
  return *value;
}

template <typename T>
const T *asOrNull(const OperatorCall &call, size_t index) {
  assert(index < call.arguments.size() && "argument index out of range");
  return std::get_if<T>(&call.arguments[index]);
}

template <typename T>
T asOrEmpty(const OperatorCall &call, size_t index) {
  const T *value = asOrNull<T>(call, index);
  return value == nullptr ? T() : *value;
}

template <typename T>
std::optional<T> asOptional(const OperatorCall &call, size_t index) {
  const T *value = asOrNull<T>(call, index);
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}

} // namespace

int64_t saturatingProduct(int64_t left, int64_t right) {
  int64_t product = 0;
  if (__builtin_mul_overflow(left, right, &product)) {
    return std::numeric_limits<int64_t>::max();
  }
  return product;
}

int64_t saturatingSum(int64_t left, int64_t right) {
  int64_t sum = 0;
  if (__builtin_add_overflow(left, right, &sum)) {
    return std::numeric_limits<int64_t>::max();
  }
  return sum;
}

int64_t TensorLayout::elementCount() const {
  int64_t count = 1;
  for (int64_t size : sizes) {
    count = saturatingProduct(count, size);
  }
  // A zero anywhere wins over saturation.
  return std::ranges::count(sizes, 0) > 0 ? 0 : count;
}

int64_t TensorLayout::bytes() const {
  return saturatingProduct(elementCount(), runtime::byteSize(dtype));
}

bool TensorLayout::isContiguous() const {
  if (elementCount() == 0) {
    return true;
  }
  int64_t expected = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    if (sizes[dim] == 1) {
      continue;
    }
    if (strides[dim] != expected) {
      return false;
    }
    expected = saturatingProduct(expected, sizes[dim]);
  }
  return true;
}

bool isSameLayout(const TensorLayout &left, const TensorLayout &right) {
  if (left.dtype != right.dtype || left.sizes != right.sizes) {
    return false;
  }
  if (left.elementCount() == 0) {
    return true;
  }
  for (size_t dim = 0; dim < left.sizes.size(); ++dim) {
    if (left.sizes[dim] != 1 && left.strides[dim] != right.strides[dim]) {
      return false;
    }
  }
  return true;
}

std::vector<int64_t> contiguousStrides(const std::vector<int64_t> &sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride = saturatingProduct(stride, std::max<int64_t>(sizes[dim], 1));
  }
  return strides;
}

TensorLayout contiguousLayout(DType dtype, std::vector<int64_t> sizes) {
  std::vector<int64_t> strides = contiguousStrides(sizes);
  return {dtype, std::move(sizes), std::move(strides)};
}

bool OperatorCall::isTensor(size_t index) const {
  return asOrNull<TensorLayout>(*this, index) != nullptr;
}

const TensorLayout &OperatorCall::tensor(size_t index) const {
  return as<TensorLayout>(*this, index);
}

const TensorLayout *OperatorCall::optionalTensor(size_t index) const {
  return asOrNull<TensorLayout>(*this, index);
}

const TensorList &OperatorCall::tensors(size_t index) const {
  return as<TensorList>(*this, index);
}

int64_t OperatorCall::integer(size_t index) const {
  return as<int64_t>(*this, index);
}

std::optional<int64_t> OperatorCall::optionalInteger(size_t index) const {
  return asOptional<int64_t>(*this, index);
}

std::optional<double> OperatorCall::number(size_t index) const {
  if (const auto *integer = asOrNull<int64_t>(*this, index)) {
    return static_cast<double>(*integer);
  }
  if (const auto *flag = asOrNull<bool>(*this, index)) {
    return *flag ? 1 : 0;
  }
  return asOptional<double>(*this, index);
}

bool OperatorCall::boolean(size_t index) const {
  return as<bool>(*this, index);
}

bool OperatorCall::booleanOrFalse(size_t index) const {
  return asOptional<bool>(*this, index).value_or(false);
}

std::vector<int64_t> OperatorCall::integers(size_t index) const {
  return asOrEmpty<std::vector<int64_t>>(*this, index);
}

bool OperatorCall::isNone(size_t index) const {
  return asOrNull<std::monostate>(*this, index) != nullptr;
}

std::optional<DType> OperatorCall::dtype(size_t index) const {
  return asOptional<DType>(*this, index);
}

std::optional<MemoryFormat> OperatorCall::memoryFormat(size_t index) const {
  return asOptional<MemoryFormat>(*this, index);
}

std::string OperatorCall::text(size_t index) const {
  return asOrEmpty<std::string>(*this, index);
}

std::vector<bool> OperatorCall::booleans(size_t index) const {
  return asOrEmpty<std::vector<bool>>(*this, index);
}

} // namespace sfsdp::rules
