//===- BoxTest.cpp - One rank's part of a whole tensor --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Box.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace sfsdp::runtime;

namespace {

std::vector<std::pair<int64_t, int64_t>> rangesOf(const Box &box) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const RowRange &range : box) {
    ranges.emplace_back(range.begin, range.end);
  }
  return ranges;
}

} // namespace

TEST(Box, ReplicatedTensorsAreWhole) {
  Mesh mesh{{{"dp", 4}}, {}};
  EXPECT_EQ(rangesOf(ownedBox({7, 3}, {}, mesh, MeshPosition(mesh, 3))),
            (std::vector<std::pair<int64_t, int64_t>>{{0, 7}, {0, 3}}));
}

TEST(Box, AxesOfOneDimensionNest) {
  // 10 rows over tp:3 are 4, 4, 2; the chunk of 4 over dp:2 is 2 + 2, and the
  // last tp rank's true rows 8 and 9 both belong to its first dp rank.
  Mesh mesh{{{"dp", 2}, {"tp", 3}}, {}};
  std::vector<AxisShard> placement = {{"tp", 0}, {"dp", 0}};
  auto rows = [&](int64_t rank) {
    Box box = ownedBox({10}, placement, mesh, MeshPosition(mesh, rank));
    return std::pair(box[0].begin, box[0].end);
  };
  EXPECT_EQ(rows(0), std::pair(int64_t{0}, int64_t{2})); // dp 0, tp 0
  EXPECT_EQ(rows(1), std::pair(int64_t{4}, int64_t{6})); // dp 0, tp 1
  EXPECT_EQ(rows(2), std::pair(int64_t{8}, int64_t{10}));
  EXPECT_EQ(rows(3), std::pair(int64_t{2}, int64_t{4})); // dp 1, tp 0
  EXPECT_EQ(rows(5), std::pair(int64_t{10}, int64_t{10}));
}

TEST(Box, DataAxesOfOneDimensionAreOneSplit) {
  // 5 rows over 2 x 2 ranks are 2, 2, 1, 0, as a gather over both axes puts
  // them together; splitting 3 + 2 and then again would give 2, 1, 2, 0.
  Mesh mesh{{{"a", 2}, {"b", 2}}, {}};
  std::vector<AxisShard> placement = {{"a", 0}, {"b", 0}};
  for (int64_t rank = 0; rank < 4; ++rank) {
    Box box = ownedBox({5}, placement, mesh, MeshPosition(mesh, rank));
    RowRange expected = ownedRows(5, 4, rank);
    EXPECT_EQ(box[0].begin, expected.begin);
    EXPECT_EQ(box[0].end, expected.end);
  }
}

TEST(Box, CopiesBetweenStrides) {
  // Columns 1 and 2 of a row-major [2, 4] into a column-major [2, 2].
  std::vector<int32_t> whole(8), part(4);
  std::iota(whole.begin(), whole.end(), 0);
  Box box = {{0, 2}, {1, 3}};
  copyBox(
      sizesOf(box), 4,
      startOf(box, {reinterpret_cast<std::byte *>(whole.data()), {4, 1}}, 4),
      {reinterpret_cast<std::byte *>(part.data()), {1, 2}});
  EXPECT_EQ(part, (std::vector<int32_t>{1, 5, 2, 6}));
}

TEST(Box, ScalarsAndEmptyTensors) {
  int32_t from = 7, to = 0;
  copyBox({}, 4, {reinterpret_cast<std::byte *>(&from), {}},
          {reinterpret_cast<std::byte *>(&to), {}});
  EXPECT_EQ(to, 7);
  copyBox({0, 3}, 4, {nullptr, {3, 1}}, {nullptr, {3, 1}});
  EXPECT_EQ(elementsOf({{2, 2}, {0, 5}}), 0);
}
