//===- MeshPositionTest.cpp - Where a rank stands in the mesh -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/MeshPosition.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;

namespace {
const Mesh kRowMajor{{{"dp", 2}, {"tp", 3}}, {}};
}

TEST(MeshPosition, LastAxisIsFastest) {
  MeshPosition position(kRowMajor, 4);
  EXPECT_EQ(position.coordinate("dp"), 1);
  EXPECT_EQ(position.coordinate("tp"), 1);
  EXPECT_EQ(position.coordinate("pp"), 0);
  EXPECT_EQ(position.groupOn({"dp"}), (std::vector<int>{1, 4}));
  EXPECT_EQ(position.groupOn({"tp"}), (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(position.groupOn({"dp", "tp"}),
            (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(position.indexOn({"dp", "tp"}), 4);
}

TEST(MeshPosition, F58RanksMayBePermuted) {
  // [[0, 2], [1, 3]] as (dp, tp)
  Mesh mesh{{{"dp", 2}, {"tp", 2}}, {0, 2, 1, 3}};
  EXPECT_EQ(MeshPosition(mesh, 0).groupOn({"tp"}), (std::vector<int>{0, 2}));
  EXPECT_EQ(MeshPosition(mesh, 3).groupOn({"tp"}), (std::vector<int>{1, 3}));
  EXPECT_EQ(MeshPosition(mesh, 0).groupOn({"dp"}), (std::vector<int>{0, 1}));
  // [[2, 0], [1, 3]]: rank 2 holds tp shard 0
  mesh.ranks = {2, 0, 1, 3};
  EXPECT_EQ(MeshPosition(mesh, 2).coordinate("tp"), 0);
}
