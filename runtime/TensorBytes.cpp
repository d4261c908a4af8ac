//===- TensorBytes.cpp - Sizes of tensors ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/runtime/TensorBytesTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/TensorBytes.h"

#include <algorithm>

using namespace sfsdp::runtime;

namespace {

bool isNegative(int64_t number) { return number < 0; }

bool isZero(int64_t number) { return number == 0; }

} // namespace

int64_t sfsdp::runtime::elementCount(std::span<const int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) {
    count *= size;
  }
  return count;
}

bool sfsdp::runtime::isContiguous(std::span<const int64_t> sizes,
                                  std::span<const int64_t> strides) {
  if (elementCount(sizes) == 0) {
    return true;
  }
  int64_t expected = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    if (sizes[dim] != 1 && strides[dim] != expected) {
      return false;
    }
    expected *= sizes[dim];
  }
  return true;
}

std::optional<int64_t>
sfsdp::runtime::contiguousBytes(std::span<const int64_t> sizes, DType dtype) {
  if (std::any_of(sizes.begin(), sizes.end(), isNegative)) {
    return std::nullopt;
  }
  if (std::any_of(sizes.begin(), sizes.end(), isZero)) {
    return 0;
  }
  int64_t bytes = byteSize(dtype);
  for (int64_t size : sizes) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

std::optional<int64_t>
sfsdp::runtime::storageBytes(std::span<const int64_t> sizes,
                             std::span<const int64_t> strides, int64_t offset,
                             DType dtype) {
  if (sizes.size() != strides.size() || offset < 0 ||
      std::any_of(sizes.begin(), sizes.end(), isNegative) ||
      std::any_of(strides.begin(), strides.end(), isNegative)) {
    return std::nullopt;
  }
  if (std::any_of(sizes.begin(), sizes.end(), isZero)) {
    return 0;
  }
  int64_t lastElement = offset;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    int64_t steps;
    if (__builtin_mul_overflow(sizes[dim] - 1, strides[dim], &steps) ||
        __builtin_add_overflow(lastElement, steps, &lastElement)) {
      return std::nullopt;
    }
  }
  int64_t bytes;
  if (__builtin_add_overflow(lastElement, 1, &bytes) ||
      __builtin_mul_overflow(bytes, byteSize(dtype), &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

std::string sfsdp::runtime::describeShape(std::span<const int64_t> sizes) {
  std::string text = "[";
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    text += (dim == 0 ? "" : ", ") + std::to_string(sizes[dim]);
  }
  return text + "]";
}
