//===- TrafficTest.cpp - Plans move what they say -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs whole plans over local groups and compares what the groups counted with
// what the plan's collectives announce. test/e2e/traffic.py compares the
// announcements with an oracle.
//
//===----------------------------------------------------------------------===//

#include "runtime/Executor.h"
#include "runtime/LocalProcessGroup.h"
#include "test/support/PlanBuilder.h"

#include <gtest/gtest.h>
#include <thread>

using namespace sfsdp::runtime;
using sfsdp::test::LinearStep;
using sfsdp::test::linearStep;

namespace {

constexpr int kSteps = 3;
constexpr auto kTimeout = std::chrono::seconds(30);

/// What one rank receives in one step, by the plan's own table.
Traffic announced(const Plan &plan) {
  Traffic traffic;
  for (const Instruction &instruction : plan.programs.front().instructions) {
    if (const auto *start = std::get_if<CollectiveStart>(&instruction.action)) {
      ++traffic.calls[static_cast<int>(start->kind)];
      traffic.bytesReceived[static_cast<int>(start->kind)] +=
          start->bytesReceived;
    }
  }
  return traffic;
}

/// Runs kSteps of one rank.
Status runRank(const Plan &plan, int rank, ProcessGroup &group) {
  prepareLane(/*threads=*/1);
  Expected<std::unique_ptr<Executor>> executor =
      Executor::make(plan, MeshPosition(plan.header.mesh, rank),
                     [&](const std::vector<std::string> &) { return &group; });
  if (!executor) {
    return executor.status();
  }
  for (int64_t step = 1; step <= kSteps; ++step) {
    if (Status status = (*executor)->runStep(step, /*lr=*/0.1); !status.ok()) {
      return status;
    }
  }
  return Status();
}

void expectAnnouncedTraffic(const LinearStep &options) {
  Plan plan = linearStep(options);
  int ranks = static_cast<int>(options.ranks);
  auto groups = makeLocalGroups(ranks, kTimeout);
  std::vector<std::string> failures(ranks);
  std::vector<std::thread> lanes;
  for (int rank = 0; rank < ranks; ++rank) {
    lanes.emplace_back([&, rank] {
      failures[rank] = runRank(plan, rank, *groups[rank]).message();
    });
  }
  for (std::thread &lane : lanes) {
    lane.join();
  }
  Traffic expected = announced(plan);
  for (int rank = 0; rank < ranks; ++rank) {
    ASSERT_EQ(failures[rank], "") << "rank " << rank;
    Traffic counted = groups[rank]->traffic();
    for (int kind = 0; kind < kCollectiveKindCount; ++kind) {
      std::string_view name = nameOf(static_cast<CollectiveKind>(kind));
      EXPECT_EQ(counted.calls[kind], kSteps * expected.calls[kind]) << name;
      EXPECT_EQ(counted.bytesReceived[kind],
                kSteps * expected.bytesReceived[kind])
          << name;
    }
  }
}

TEST(Traffic, FullyShardUnevenRows) {
  for (int64_t ranks : {1, 2, 3, 5}) {
    expectAnnouncedTraffic({.ranks = ranks, .shard = true, .rows = 7});
  }
}

TEST(Traffic, Replicate) {
  for (int64_t ranks : {1, 2, 3, 5}) {
    expectAnnouncedTraffic({.ranks = ranks, .shard = false, .rows = 7});
  }
}

TEST(Traffic, MoreRanksThanRows) {
  expectAnnouncedTraffic({.ranks = 4, .shard = true, .rows = 2});
}

} // namespace
