//===- CollectTest.cpp - What rank 0 gets from all ranks ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Also of the groups that carry it.

#include "runtime/Collect.h"
#include "runtime/RankGroups.h"
#include "test/support/PlanBuilder.h"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace sfsdp::runtime;
using namespace sfsdp::test;

namespace {

/// Calls `act` with the groups of each rank of `plan`, on its own thread.
template <typename Act>
void onEachRank(const Plan &plan, Act act) {
  auto size = static_cast<int>(plan.header.mesh.size());
  auto makers = localGroupMakers(size, std::chrono::seconds(20));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      auto groups = RankGroups::make(plan, MeshPosition(plan.header.mesh, rank),
                                     makers[rank]);
      ASSERT_TRUE(groups) << groups.message();
      act(rank, *groups);
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
}

Plan planOf(Mesh mesh, std::vector<std::string> dataAxes) {
  Plan plan = linearStep({.ranks = mesh.size()});
  plan.header.mesh = std::move(mesh);
  plan.header.dataAxes = std::move(dataAxes);
  return plan;
}

TensorView viewOf(std::vector<float> &values, std::vector<int64_t> sizes) {
  return {values.data(), DType::Float32, sizes, rowMajorStrides(sizes)};
}

} // namespace

TEST(Collect, WholeTensorsHaveNoPadding) {
  Plan plan = planOf({{{"dp", 2}}, {}}, {"dp"});
  onEachRank(plan, [&](int rank, RankGroups &groups) {
    // Rows 0, 1 | 2 and padding.
    std::vector<float> part = {rank * 4.f, rank * 4.f + 1, rank * 4.f + 2, 9};
    auto whole = collectWhole({3, 2}, {{"dp", 0}}, plan.header.mesh,
                              viewOf(part, {2, 2}), groups.world());
    ASSERT_TRUE(whole) << whole.message();
    std::vector<float> values(6);
    std::memcpy(values.data(), whole->data(), whole->size());
    EXPECT_EQ(values, (std::vector<float>{0, 1, 2, 9, 4, 5}));
  });
}

TEST(Collect, F58RanksOfAPermutedMesh) {
  Plan plan = planOf({{{"dp", 2}}, {1, 0}}, {"dp"});
  onEachRank(plan, [&](int rank, RankGroups &groups) {
    std::vector<float> part = {static_cast<float>(rank)};
    auto whole = collectWhole({2}, {{"dp", 0}}, plan.header.mesh,
                              viewOf(part, {1}), groups.world());
    std::vector<float> values(2);
    std::memcpy(values.data(), whole->data(), whole->size());
    EXPECT_EQ(values, (std::vector<float>{1, 0}));
  });
}

TEST(Collect, TextsOfAnyLength) {
  Plan plan = planOf({{{"dp", 3}}, {}}, {"dp"});
  onEachRank(plan, [&](int rank, RankGroups &groups) {
    auto texts =
        collectTexts(std::string(rank * 5, 'a' + rank), groups.world());
    ASSERT_TRUE(texts) << texts.message();
    EXPECT_EQ(*texts, (std::vector<std::string>{"", "bbbbb", "cccccccccc"}));
  });
}

TEST(Collect, MeanIsTakenOverDataRanksOnly) {
  Plan plan = planOf({{{"dp", 2}, {"tp", 2}}, {}}, {"dp"});
  onEachRank(plan, [&](int rank, RankGroups &groups) {
    std::vector<float> loss = {static_cast<float>(rank)};
    auto mean = meanOverRanks(loss[0], DType::Float32, groups.loss());
    ASSERT_TRUE(mean) << mean.message();
    EXPECT_EQ(*mean, rank % 2 == 0 ? 1.0 : 2.0); // ranks 0, 2 and 1, 3
    EXPECT_EQ(groups.loss().size(), 2);
    EXPECT_EQ(groups.world().size(), 4);
  });
}

TEST(RankGroups, AnswerToTheAxesOfThePlan) {
  Plan plan = linearStep({.ranks = 2});
  onEachRank(plan, [&](int rank, RankGroups &groups) {
    ASSERT_TRUE(groups.find({"dp"}));
    EXPECT_EQ(groups.find({"dp"})->rank(), rank);
    EXPECT_EQ(groups.find({"tp"}), nullptr);
    EXPECT_NE(groups.find({"dp"}), &groups.loss());
  });
}
