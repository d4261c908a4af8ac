//===- Layout.h - Tensor types with strides ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor type carries strides as its encoding unless it is contiguous; these
// are the only functions that make or read such types.
//
// Tested by test/dialect/attributes.mlir and by every import test.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_DIALECT_LAYOUT_H
#define SFSDP_DIALECT_LAYOUT_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::sfsdp {

/// Row-major strides of `shape`, in elements, as torch.empty makes them: a
/// dimension of size 0 counts as 1.
SmallVector<int64_t> contiguousStrides(ArrayRef<int64_t> shape);

/// Whether `strides` lay `shape` out row-major. Strides of dimensions of size
/// 1, and all strides of a tensor without elements, do not matter.
bool isContiguous(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides);

/// The tensor type with these strides: without encoding when they are exactly
/// contiguousStrides(shape), so that equal layouts have equal types.
RankedTensorType tensorType(ArrayRef<int64_t> shape, Type elementType,
                            ArrayRef<int64_t> strides);

/// Strides of `type`, in elements.
SmallVector<int64_t> stridesOf(RankedTensorType type);

bool isContiguous(RankedTensorType type);

/// Whether the elements fill a block of memory without gaps or overlaps, in
/// some order of the dimensions.
bool isDense(RankedTensorType type);

/// ceil(rows / ranks): rows of one shard in memory.
inline int64_t chunkOf(int64_t rows, int64_t ranks) {
  return (rows + ranks - 1) / ranks;
}

/// Bytes of one element. Requires an integer, float or complex type.
int64_t elementBytes(Type elementType);

} // namespace mlir::sfsdp

#endif // SFSDP_DIALECT_LAYOUT_H
