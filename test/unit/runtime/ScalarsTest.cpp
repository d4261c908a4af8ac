//===- ScalarsTest.cpp - Host values of one step --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Scalars.h"
#include "runtime/RandomSeed.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;

TEST(Scalars, AreComputedAsPythonDoes) {
  Plan plan;
  plan.scalars = {
      {ScalarOp::Lr, {}, 0, "", 0},         {ScalarOp::Step, {}, 0, "", 0},
      {ScalarOp::Constant, {}, 0.9, "", 0}, {ScalarOp::Constant, {}, 1, "", 0},
      {ScalarOp::Pow, {2, 1}, 0, "", 0},    {ScalarOp::Sub, {3, 4}, 0, "", 0},
      {ScalarOp::Div, {0, 5}, 0, "", 0},    {ScalarOp::Neg, {6}, 0, "", 0},
  };
  std::vector<double> values;
  evaluateScalars(plan, MeshPosition(plan.header.mesh, 0), {3, 2, 1e-3},
                  values);
  // python3: 1 - 0.9 ** 3.0, -(1e-3 / (1 - 0.9 ** 3.0))
  EXPECT_EQ(values[5], 0.2709999999999999);
  EXPECT_EQ(values[7], -0.003690036900369005);
}

TEST(RandomSeed, EveryPartCounts) {
  const RandomUse use{1, 2, 3, 4, 5};
  EXPECT_EQ(seedOf(use), seedOf(use));
  for (RandomUse other : {RandomUse{0, 2, 3, 4, 5}, RandomUse{1, 0, 3, 4, 5},
                          RandomUse{1, 2, 0, 4, 5}, RandomUse{1, 2, 3, 0, 5},
                          RandomUse{1, 2, 3, 4, 0}, RandomUse{1, 2, 3, 5, 4}}) {
    EXPECT_NE(seedOf(other), seedOf(use));
  }
}
