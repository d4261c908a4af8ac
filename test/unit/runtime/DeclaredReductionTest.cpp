//===- DeclaredReductionTest.cpp - How a plan says it reduces gradients ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/DeclaredReduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using testing::ElementsAre;

namespace {

/// 2 replicas of 3 shards.
Expected<DeclaredReduction> declaredBy(const std::string &options) {
  PlanHeader header;
  header.mesh.axes = {{"dp_replicate", 2}, {"dp_shard", 3}, {"tp", 2}};
  header.dataAxes = {"dp_replicate", "dp_shard"};
  header.options = options;
  return declaredReduction(header);
}

} // namespace

TEST(DeclaredReduction, WithoutOptionsItIsTheMeanInRankOrder) {
  auto declared = declaredBy("");
  ASSERT_TRUE(declared) << declared.message();
  EXPECT_THAT(declared->ranks, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(declared->grouped, 0);
  EXPECT_EQ(declared->divisor, 6);
}

TEST(DeclaredReduction, HybridSumsWithinReplicasFirst) {
  EXPECT_EQ(declaredBy("mode=hybrid_shard reduction=auto")->grouped, 3);
  EXPECT_EQ(declaredBy("mode=hybrid_shard reduction=flat")->grouped, 0);
  auto declared = declaredBy("mode=hybrid_shard reduction=allreduce_first");
  EXPECT_THAT(declared->ranks, ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_EQ(declared->grouped, 2);
}

TEST(DeclaredReduction, ReadsNumbers) {
  EXPECT_EQ(declaredBy("mode=fully_shard reduction=grouped:4")->grouped, 4);
  EXPECT_EQ(declaredBy("gradient-scale=sum")->divisor, 1);
  EXPECT_EQ(declaredBy("gradient-scale=1/2.5")->divisor, 2.5);
}

TEST(DeclaredReduction, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(declaredBy("reduction=tree").message(),
            "the plan's options say reduction=tree, which has no order to "
            "compare with");
  EXPECT_EQ(declaredBy("gradient-scale=global:count").message(),
            "the plan's options say gradient-scale=global:count, which has no "
            "factor to compare with");
}
