//===- PeerStoragesTest.cpp - What of a plan other ranks read -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/PeerStorages.h"

#include "runtime/RankMemory.h"
#include "test/support/PlanBuilder.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using sfsdp::test::PlanBuilder;

namespace {

constexpr int64_t kBlock = 64 + 64; // 16 floats and a header

/// A chain of relus on 16 floats over two ranks; each collective named in
/// `kinds` works on the value before it.
Plan chain(const std::vector<CollectiveKind> &kinds) {
  PlanBuilder builder(/*ranks=*/2);
  ValueId x = builder.argument(Role::Input, "x", {16});
  for (CollectiveKind kind : kinds) {
    x = builder.call("aten::relu", "", {ValueRef{x}}, {{{16}}}).front();
    int64_t rows = kind == CollectiveKind::AllGather ? 32 : 16;
    ValueId moved = builder.collective(kind, x, rows);
    if (rows == 32) {
      x = builder.call("aten::narrow", "", {ValueRef{moved}}, {{{16}}}).front();
    } else {
      x = moved;
    }
  }
  x = builder.call("aten::relu", "", {ValueRef{x}}, {{{16}}}).front();
  builder.result(Role::Output, "y", x, {16});
  return builder.finish();
}

std::vector<bool> readOf(const Plan &plan, const std::vector<bool> &read,
                         ValueId first, size_t count) {
  std::vector<bool> flags;
  for (size_t i = 0; i < count; ++i) {
    flags.push_back(read[plan.values[first + i].storage]);
  }
  return flags;
}

} // namespace

TEST(PeerStorages, InputsOfCollectivesAndOutputsOfAllReduce) {
  // x, relu, gathered, narrow, relu
  Plan plan = chain({CollectiveKind::AllGather});
  EXPECT_EQ(readOf(plan, storagesReadByPeers(plan), 0, 5),
            (std::vector<bool>{false, true, false, false, false}));
  // x, relu, reduced, relu
  plan = chain({CollectiveKind::AllReduce});
  EXPECT_EQ(readOf(plan, storagesReadByPeers(plan), 0, 4),
            (std::vector<bool>{false, true, true, false}));
}

TEST(PeerStorages, BlocksOfASizeAreUsedAgain) {
  EXPECT_EQ(peerMemoryBytes(chain({})), 0);
  EXPECT_EQ(peerMemoryBytes(chain({CollectiveKind::AllGather})), kBlock);
  EXPECT_EQ(peerMemoryBytes(
                chain({CollectiveKind::AllGather, CollectiveKind::AllGather})),
            kBlock);
  // Input and output of an all_reduce live at once. The second one's input is
  // made while the first one's output lives.
  EXPECT_EQ(peerMemoryBytes(chain({CollectiveKind::AllReduce})), 2 * kBlock);
  EXPECT_EQ(peerMemoryBytes(
                chain({CollectiveKind::AllReduce, CollectiveKind::AllReduce})),
            2 * kBlock);
}

// A sharded parameter is gathered where it lies; its gradient is made, reduced
// and freed.
TEST(PeerStorages, ArgumentsLiveAllTheTime) {
  Plan plan = sfsdp::test::linearStep(
      {.ranks = 2, .shard = true, .rows = 8, .columns = 4});
  std::vector<bool> read = storagesReadByPeers(plan);
  const Argument &weight = plan.arguments.front();
  ASSERT_EQ(weight.name, "linear.weight");
  EXPECT_TRUE(read[plan.values[weight.value].storage]);
  // 4 * 4 floats of the shard, 8 * 4 of the gradient.
  EXPECT_EQ(peerMemoryBytes(plan),
            RankMemory::blockBytes(64) + RankMemory::blockBytes(128));
}
