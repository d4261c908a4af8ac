//===- Box.cpp - One rank's part of a whole tensor ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Axes that shard the same dimension split what the axes before them left,
// padding included: the second one's chunks end where the true rows end.
//
// Tested by test/unit/runtime/BoxTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Box.h"
#include "runtime/TensorBytes.h"

#include <cstring>

using namespace sfsdp::runtime;

namespace {

/// The axes that split one dimension together.
struct Split {
  RowRange within;  ///< what they split
  int64_t rows = 0; ///< of it, padding included
  int64_t ranks = 1;
  int64_t index = 0; ///< of this rank, row-major
  size_t lastAxis = 0;

  int64_t chunk() const { return chunkRows(rows, ranks); }

  RowRange range() const {
    int64_t begin = within.begin + index * chunk();
    return {std::min(begin, within.end), std::min(begin + chunk(), within.end)};
  }
};

size_t axisIndex(const Mesh &mesh, const std::string &name) {
  size_t index = 0;
  while (index < mesh.axes.size() && mesh.axes[index].name != name) {
    ++index;
  }
  return index;
}

} // namespace

Box sfsdp::runtime::ownedBox(const std::vector<int64_t> &globalShape,
                             const std::vector<AxisShard> &placement,
                             const Mesh &mesh, const MeshPosition &position) {
  std::vector<Split> splits;
  for (int64_t size : globalShape) {
    splits.push_back({{0, size}, size});
  }
  for (const AxisShard &shard : placement) {
    Split &split = splits[shard.dim];
    size_t axis = axisIndex(mesh, shard.axis);
    if (split.ranks > 1 && axis < split.lastAxis) {
      split = {split.range(), split.chunk()};
    }
    int64_t size = mesh.axisSize(shard.axis);
    split.ranks *= size;
    split.index = split.index * size + position.coordinate(shard.axis);
    split.lastAxis = axis;
  }
  Box box;
  for (const Split &split : splits) {
    box.push_back(split.range());
  }
  return box;
}

std::vector<int64_t> sfsdp::runtime::sizesOf(const Box &box) {
  std::vector<int64_t> sizes;
  for (const RowRange &range : box) {
    sizes.push_back(range.size());
  }
  return sizes;
}

int64_t sfsdp::runtime::elementsOf(const Box &box) {
  return elementCount(sizesOf(box));
}

std::vector<int64_t>
sfsdp::runtime::rowMajorStrides(const std::vector<int64_t> &sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t dim = sizes.size(); dim-- > 1;) {
    strides[dim - 1] = strides[dim] * std::max<int64_t>(sizes[dim], 1);
  }
  return strides;
}

StridedBytes sfsdp::runtime::startOf(const Box &box, StridedBytes whole,
                                     int64_t elementBytes) {
  for (size_t dim = 0; dim < box.size(); ++dim) {
    whole.data += box[dim].begin * whole.strides[dim] * elementBytes;
  }
  return whole;
}

namespace {

/// Copies the dimensions from `dim` on.
void copyFrom(size_t dim, const std::vector<int64_t> &sizes,
              int64_t elementBytes, const StridedBytes &from,
              const StridedBytes &to, const std::byte *source,
              std::byte *target) {
  if (dim == sizes.size()) {
    std::memcpy(target, source, elementBytes);
    return;
  }
  bool lastAndDense =
      dim + 1 == sizes.size() && from.strides[dim] == 1 && to.strides[dim] == 1;
  if (lastAndDense) {
    std::memcpy(target, source, sizes[dim] * elementBytes);
    return;
  }
  for (int64_t index = 0; index < sizes[dim]; ++index) {
    copyFrom(dim + 1, sizes, elementBytes, from, to,
             source + index * from.strides[dim] * elementBytes,
             target + index * to.strides[dim] * elementBytes);
  }
}

} // namespace

void sfsdp::runtime::copyBox(const std::vector<int64_t> &sizes,
                             int64_t elementBytes, const StridedBytes &from,
                             const StridedBytes &to) {
  if (elementCount(sizes) > 0) {
    copyFrom(0, sizes, elementBytes, from, to, from.data, to.data);
  }
}
