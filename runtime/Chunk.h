//===- Chunk.h - How rows are split over ranks ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chunk rule: of `rows` rows over n ranks, rank r owns rows
// [r * c, min(rows, (r + 1) * c)) with c = ceil(rows / n), possibly none. In
// memory every rank holds c rows; rows that nobody owns are zero. Seven rows
// over four ranks are 2, 2, 2, 1; two rows over eight are 1, 1, 0, 0, ….
//
// Tested by test/unit/runtime/ChunkTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_CHUNK_H
#define SFSDP_RUNTIME_CHUNK_H

#include "runtime/Plan.h"

#include <algorithm>

namespace sfsdp::runtime {

/// Rows [begin, end) of the global tensor.
struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
};

/// Rows that each rank holds in memory, padding included.
inline int64_t chunkRows(int64_t rows, int64_t ranks) {
  return rows / ranks + (rows % ranks != 0 ? 1 : 0);
}

/// Rows that `rank` owns.
inline RowRange ownedRows(int64_t rows, int64_t ranks, int64_t rank) {
  int64_t chunk = chunkRows(rows, ranks);
  int64_t begin = std::min(rows, rank * chunk);
  return {begin, std::min(rows, begin + chunk)};
}

/// The padded shape that every rank holds of a tensor of `globalShape`. Axes
/// that shard the same dimension apply one after the other, as listed.
inline std::vector<int64_t>
paddedLocalShape(std::vector<int64_t> globalShape,
                 const std::vector<AxisShard> &placement, const Mesh &mesh) {
  for (const AxisShard &shard : placement) {
    int64_t &rows = globalShape[shard.dim];
    rows = chunkRows(rows, mesh.axisSize(shard.axis));
  }
  return globalShape;
}

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_CHUNK_H
