//===- Box.h - One rank's part of a whole tensor ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A placement gives each rank a box of the global tensor: a range of every
// dimension, its true rows only. In memory the box stands at the start of the
// padded local tensor. Files and dumps hold whole tensors, so everything that
// enters or leaves a rank's memory is copied box by box.
//
// Tested by test/unit/runtime/BoxTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_BOX_H
#define SFSDP_RUNTIME_BOX_H

#include "runtime/Chunk.h"
#include "runtime/MeshPosition.h"

#include <cstddef>

namespace sfsdp::runtime {

/// A range of each dimension of a global tensor.
using Box = std::vector<RowRange>;

/// The part of a tensor of `globalShape` that the rank at `position` owns; some
/// range is empty when it owns nothing. Axes of one dimension that are listed
/// in the mesh's order split it as one, as a collective over them does; an axis
/// out of that order splits the chunk that the axes before it make.
Box ownedBox(const std::vector<int64_t> &globalShape,
             const std::vector<AxisShard> &placement, const Mesh &mesh,
             const MeshPosition &position);

int64_t elementsOf(const Box &box);

/// Strided memory; `data` is the element at index 0 of every dimension.
struct StridedBytes {
  std::byte *data = nullptr;
  std::vector<int64_t> strides; ///< in elements
};

/// Row-major strides of a tensor of `sizes`.
std::vector<int64_t> rowMajorStrides(const std::vector<int64_t> &sizes);

/// Copies a box of `sizes` from the start of one memory to that of another,
/// elements of `elementBytes`.
void copyBox(const std::vector<int64_t> &sizes, int64_t elementBytes,
             const StridedBytes &from, const StridedBytes &to);

/// The extents of `box`.
std::vector<int64_t> sizesOf(const Box &box);

/// `whole` moved to the first element of `box`.
StridedBytes startOf(const Box &box, StridedBytes whole, int64_t elementBytes);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_BOX_H
