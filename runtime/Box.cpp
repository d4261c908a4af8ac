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

Box sfsdp::runtime::ownedBox(const std::vector<int64_t> &globalShape,
                             const std::vector<AxisShard> &placement,
                             const Mesh &mesh, const MeshPosition &position) {
  Box box;
  for (int64_t size : globalShape) {
    box.push_back({0, size});
  }
  std::vector<int64_t> padded = globalShape;
  for (const AxisShard &shard : placement) {
    RowRange &range = box[shard.dim];
    int64_t chunk = chunkRows(padded[shard.dim], mesh.axisSize(shard.axis));
    int64_t begin = range.begin + position.coordinate(shard.axis) * chunk;
    range = {std::min(begin, range.end), std::min(begin + chunk, range.end)};
    padded[shard.dim] = chunk;
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
