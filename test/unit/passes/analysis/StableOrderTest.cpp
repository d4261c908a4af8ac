//===- StableOrderTest.cpp - Tests of stableOrder -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests passes/analysis/StableOrder.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/StableOrder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace sfsdp::analysis;
using testing::ElementsAre;

TEST(StableOrder, KeepsTheGivenOrderOfEqualKeys) {
  std::vector<OrderItem> items(4);
  EXPECT_THAT(*stableOrder(items), ElementsAre(0, 1, 2, 3));
}

TEST(StableOrder, TakesTheSmallestKeyFirst) {
  std::vector<OrderItem> items = {{{}, 3}, {{}, 1}, {{}, 2}};
  EXPECT_THAT(*stableOrder(items), ElementsAre(1, 2, 0));
}

TEST(StableOrder, MovesWhatWaitsForALateItemDownWithIt) {
  // 1 needs 0, which wants to be late; 3 and 4 need neither.
  std::vector<OrderItem> items = {
      {{}, 10}, {{0}, 1}, {{1}, 2}, {{}, 3}, {{}, 4}};
  EXPECT_THAT(*stableOrder(items), ElementsAre(3, 4, 0, 1, 2));
}

TEST(StableOrder, LeavesAnEarlyItemBehindWhatItNeeds) {
  std::vector<OrderItem> items = {{{}, 0}, {{}, 1}, {{}, 2}, {{2}, 0}};
  EXPECT_THAT(*stableOrder(items), ElementsAre(0, 1, 2, 3));
}

TEST(StableOrder, PullsAWholeChainAlong) {
  // 4 pulls 3 and, through it, 2; 1 is not needed.
  std::vector<OrderItem> items = {
      {{}, 0}, {{}, 1}, {{}, 2}, {{2}, 3}, {{3}, 0, /*pulls=*/true}};
  EXPECT_THAT(*stableOrder(items), ElementsAre(0, 2, 3, 4, 1));
}

TEST(StableOrder, FindsACircle) {
  std::vector<OrderItem> items = {{{1}, 0}, {{0}, 1}};
  EXPECT_FALSE(stableOrder(items).has_value());
  std::vector<OrderItem> self = {{{0}, 0}};
  EXPECT_FALSE(stableOrder(self).has_value());
}

TEST(StableOrder, TakesNothing) { EXPECT_TRUE(stableOrder({})->empty()); }
