//===- ChunkTest.cpp - How rows are split over ranks ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Chunk.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;

namespace {
std::vector<int64_t> rowsOfAllRanks(int64_t rows, int64_t ranks) {
  std::vector<int64_t> sizes;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    sizes.push_back(ownedRows(rows, ranks, rank).size());
  }
  return sizes;
}
} // namespace

TEST(Chunk, F01RowsFewerThanRanks) {
  EXPECT_EQ(rowsOfAllRanks(2, 8),
            (std::vector<int64_t>{1, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(ownedRows(2, 8, 7).begin, 2);
}

TEST(Chunk, F02RowsThatDoNotDivide) {
  EXPECT_EQ(rowsOfAllRanks(7, 4), (std::vector<int64_t>{2, 2, 2, 1}));
  EXPECT_EQ(rowsOfAllRanks(13, 2), (std::vector<int64_t>{7, 6}));
  EXPECT_EQ(rowsOfAllRanks(9, 8),
            (std::vector<int64_t>{2, 2, 2, 2, 1, 0, 0, 0}));
}

TEST(Chunk, NoRowsMakeEmptyChunks) {
  EXPECT_EQ(chunkRows(0, 4), 0);
  EXPECT_EQ(rowsOfAllRanks(0, 2), (std::vector<int64_t>{0, 0}));
}

TEST(Chunk, AxesOfOneDimensionApplyInTheirOrder) {
  Mesh mesh{{{"dp", 2}, {"tp", 3}}, {}};
  // 10 rows: ceil(10 / 3) = 4 per tp rank, of which 2 per dp rank.
  EXPECT_EQ(paddedLocalShape({10, 5}, {{"tp", 0}, {"dp", 0}}, mesh),
            (std::vector<int64_t>{2, 5}));
}
