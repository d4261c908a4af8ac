//===- TensorBytes.h - Sizes of tensors -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes come from files: their products are computed with checks, so that no
// overflow makes a huge tensor look small.
//
// Tested by test/unit/runtime/TensorBytesTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_TENSORBYTES_H
#define SFSDP_RUNTIME_TENSORBYTES_H

#include "runtime/DType.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace sfsdp::runtime {

/// The product of `sizes`, which must be checked: not negative, and a product
/// that fits 63 bits.
int64_t elementCount(std::span<const int64_t> sizes);

/// Whether `strides`, one per size, are those of a row-major tensor without
/// gaps. Dimensions of size 1 may have any stride; no element, any strides.
bool isContiguous(std::span<const int64_t> sizes,
                  std::span<const int64_t> strides);

/// Bytes of a contiguous tensor; nothing when a size is negative or the result
/// exceeds 63 bits.
std::optional<int64_t> contiguousBytes(std::span<const int64_t> sizes,
                                       DType dtype);

/// Bytes from the start of a storage to the end of the last element of a
/// strided tensor in it; 0 for a tensor without elements. `offset` and
/// `strides` count elements. Nothing when one of the numbers is negative, the
/// lists differ in length, or the result exceeds 63 bits.
std::optional<int64_t> storageBytes(std::span<const int64_t> sizes,
                                    std::span<const int64_t> strides,
                                    int64_t offset, DType dtype);

/// `[2, 3]`, for messages.
std::string describeShape(std::span<const int64_t> sizes);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_TENSORBYTES_H
