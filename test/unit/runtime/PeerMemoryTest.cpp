//===- PeerMemoryTest.cpp - Steps whose tensors peers read ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks over shared memory against ranks as threads: the same bits, nothing
// copied that was born in the arena, and no growth once the steps repeat.

#include "runtime/PeerStorages.h"
#include "test/support/LocalRanks.h"
#include "test/support/PlanBuilder.h"
#include "test/support/ShmTransport.h"

#include <gtest/gtest.h>
#include <random>

using namespace sfsdp::runtime;
using namespace sfsdp::test;

namespace {

constexpr int kSteps = 6;
constexpr auto kTimeout = std::chrono::seconds(60);

/// What one rank of a run leaves.
struct RankOutcome {
  std::vector<float> losses;
  std::vector<float> weight;
  std::vector<int64_t> heldBytes; ///< after each step
  int64_t stagedBytes = 0;
  int64_t arenaBytes = 0; ///< taken

  bool sameBits(const RankOutcome &other) const {
    return losses == other.losses && weight == other.weight;
  }
};

void fillRandomly(const TensorView &view, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(view.elements()));
  for (float &value : values) {
    value = normal(random);
  }
  setFloats(view, values);
}

Status trainRank(const Plan &plan, LocalRank self, RankOutcome &outcome) {
  Executor &executor = *self.executor;
  for (int64_t step = 1; step <= kSteps; ++step) {
    for (size_t i = 0; i < plan.arguments.size(); ++i) {
      if (plan.arguments[i].role == Role::Input) {
        fillRandomly(executor.argument(i),
                     static_cast<uint32_t>(100 * step + 10 * i + self.rank));
      }
    }
    if (Status status = executor.runStep(step, 0.01); !status.ok()) {
      return status;
    }
    outcome.losses.push_back(floatsOf(executor.result(0)).front());
    outcome.heldBytes.push_back(executor.memory().heldBytes);
  }
  outcome.weight = floatsOf(executor.argument(0));
  return Status();
}

std::vector<RankOutcome> train(const Plan &plan, RankGroupEnds groups) {
  std::vector<RankOutcome> outcomes(groups.size());
  Status status = onEachRankOf(groups, plan, [&](LocalRank self) {
    RankOutcome &own = outcomes[self.rank];
    Status trained = trainRank(plan, self, own);
    own.stagedBytes = groups[self.rank]->traffic().stagedBytes;
    if (auto memory = groups[self.rank]->peerMemory()) {
      own.arenaBytes = memory->takenBytes();
    }
    return trained;
  });
  EXPECT_EQ(status.message(), "");
  return outcomes;
}

void expectBornAndFixed(const LinearStep &options) {
  Plan plan = linearStep(options);
  auto ranks = static_cast<int>(options.ranks);
  int64_t arena = peerMemoryBytes(plan);
  auto local = train(plan, makeLocalGroups(ranks, kTimeout));
  auto shm = train(plan, shmGroupsOf(connectPeers(ranks, arena), kTimeout));
  // An arena of nothing: one page, which is soon full.
  auto small = train(plan, shmGroupsOf(connectPeers(ranks, 0), kTimeout));
  for (int rank = 0; rank < ranks; ++rank) {
    EXPECT_TRUE(shm[rank].sameBits(local[rank])) << rank;
    EXPECT_TRUE(small[rank].sameBits(local[rank])) << rank;
    EXPECT_EQ(shm[rank].stagedBytes, 0) << rank;
    EXPECT_GT(small[rank].stagedBytes, 0) << rank;
    EXPECT_EQ(shm[rank].arenaBytes, arena) << rank;
    EXPECT_EQ(shm[rank].heldBytes.back(), shm[rank].heldBytes[1]) << rank;
  }
}

} // namespace

TEST(PeerMemory, ShardsAndGradientsAreBornInTheArena) {
  for (int64_t ranks : {2, 3}) {
    expectBornAndFixed(
        {.ranks = ranks, .shard = true, .rows = 97, .columns = 64});
  }
}

TEST(PeerMemory, AllReducedGradientsAreBornInTheArena) {
  for (int64_t ranks : {2, 3}) {
    expectBornAndFixed(
        {.ranks = ranks, .shard = false, .rows = 97, .columns = 64});
  }
}
