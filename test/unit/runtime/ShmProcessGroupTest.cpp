//===- ShmProcessGroupTest.cpp - Processes over shared memory -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ProcessGroupTest.cpp does not ask of every transport: large and long
// buckets, where bytes are copied, and peers that are gone.

#include "runtime/LocalProcessGroup.h"
#include "runtime/SharedCalls.h"

#include "test/support/Elements.h"
#include "test/support/ShmTransport.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using namespace sfsdp::test;
using namespace std::chrono_literals;

namespace {

/// Counts of an all_reduce, or of the chunks of another kind.
struct Case {
  CollectiveKind kind;
  DType type;
  std::vector<int64_t> counts;
};

/// Runs one bucket on all ranks; returns the outputs by rank and member.
std::vector<std::vector<Elements>> run(Groups groups, const Case &test) {
  auto size = static_cast<int64_t>(groups.size());
  std::vector<std::vector<Elements>> outputs(groups.size());
  onEveryRank(groups, [&](ProcessGroup &group) {
    std::vector<Elements> inputs;
    std::vector<Elements> &own = outputs[group.rank()];
    CollectiveCall call;
    call.kind = test.kind;
    call.divisor = isIntegral(test.type) ? 1 : size;
    for (int64_t count : test.counts) {
      bool gathers = test.kind == CollectiveKind::AllGather;
      bool scatters = test.kind == CollectiveKind::ReduceScatter;
      bool transposes = test.kind == CollectiveKind::AllToAll;
      // One element less than whole chunks.
      int64_t input = scatters ? std::max<int64_t>(count * size - 1, 0) : count;
      inputs.emplace_back(test.type, transposes ? size * count : input);
      inputs.back().randomize(static_cast<uint32_t>(count + 31 * group.rank()));
      own.emplace_back(test.type, gathers || transposes ? size * count : count);
      own.back().poison();
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      call.members.push_back({inputs[i].data(), own[i].data(),
                              inputs[i].count(), own[i].count(), test.type});
    }
    auto work = group.start(std::move(call));
    ASSERT_TRUE(work.ok()) << work.message();
    Status status = (*work)->wait();
    ASSERT_TRUE(status.ok()) << status.message();
  });
  return outputs;
}

constexpr CollectiveKind kKinds[] = {
    CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
    CollectiveKind::AllReduce, CollectiveKind::AllToAll,
    CollectiveKind::Broadcast};

void expectAsLocal(const Case &test, int size) {
  auto expected = run(makeLocalGroups(size, 60s), test);
  EXPECT_TRUE(run(makeStagedShmGroups(size, 60s), test) == expected)
      << nameOf(test.kind) << ", staged";
  EXPECT_TRUE(run(makeMixedShmGroups(size, 60s), test) == expected)
      << nameOf(test.kind) << ", mixed";
}

std::string messageOf(ProcessGroup &group, CollectiveCall call) {
  auto work = group.start(std::move(call));
  return work.ok() ? (*work)->wait().message() : work.message();
}

} // namespace

// 3 MiB and a bit: several pieces, the last one partial.
TEST(ShmProcessGroup, LargeMembersTakeSeveralPieces) {
  constexpr int64_t kCount = 3 * kStagingBytes / 4 + 77;
  for (CollectiveKind kind : kKinds) {
    expectAsLocal({kind, DType::BFloat16, {5, kCount / 3, 1}}, 3);
  }
}

TEST(ShmProcessGroup, LongBucketsTakeSeveralRounds) {
  std::vector<int64_t> counts;
  for (int64_t i = 0; i < 2 * kMembersPerRound + 3; ++i) {
    counts.push_back(i % 5);
  }
  for (CollectiveKind kind : kKinds) {
    expectAsLocal({kind, DType::Float32, counts}, 2);
  }
}

TEST(ShmProcessGroup, RanksWithBucketsOfOtherLengthsDisagree) {
  Groups groups = makeStagedShmGroups(2, 5s);
  onEveryRank(groups, [&](ProcessGroup &group) {
    int64_t members = kMembersPerRound + 1 + group.rank();
    std::vector<float> input(1), output(2);
    CollectiveCall call;
    call.kind = CollectiveKind::AllGather;
    call.members.assign(members,
                        {input.data(), output.data(), 1, 2, DType::Float32});
    EXPECT_EQ(messageOf(group, call),
              "all_gather: ranks disagree on the number of members behind the "
              "first 512: rank 0 has 1, rank 1 has 2; all ranks must run the "
              "same plan");
  });
}

// What lies in the arena is not copied: neither inputs, nor the results of an
// all_reduce.
TEST(ShmProcessGroup, StagesOnlyWhatPeersCannotRead) {
  for (CollectiveKind kind : kKinds) {
    Groups staged = makeStagedShmGroups(2, 60s);
    Groups born = makeBornShmGroups(2, 60s);
    std::vector<int64_t> bytes;
    for (Groups *groups : {&born, &staged}) {
      onEveryRank(*groups, [&](ProcessGroup &group) {
        std::vector<float> input(100), output(100);
        bool gathers = kind == CollectiveKind::AllGather;
        bool scatters = kind == CollectiveKind::ReduceScatter;
        CollectiveCall call;
        call.kind = kind;
        call.members = {{input.data(), output.data(), gathers ? 50 : 100,
                         scatters ? 50 : 100, DType::Float32}};
        EXPECT_EQ(messageOf(group, call), "");
      });
      bytes.push_back((*groups)[0]->traffic().stagedBytes);
    }
    // Of 100 floats the half that the other rank wants; for all_reduce also the
    // half that was summed here; for broadcast all.
    bool whole =
        kind == CollectiveKind::AllReduce || kind == CollectiveKind::Broadcast;
    EXPECT_EQ(bytes, (std::vector<int64_t>{0, whole ? 400 : 200}))
        << nameOf(kind);
  }
}

// Rank 1 of the job dies between joining the group and its first collective:
// nothing is left that could say so but its closed connection.
TEST(ShmProcessGroup, DeadPeerIsNamedLongBeforeTheTimeout) {
  auto peers = connectPeers(3);
  std::thread dying([&] {
    auto own = SharedSegment::create(sizeof(GroupBlock));
    EXPECT_TRUE(peers[1]->exchange("odd", {2, 1}, *own).ok());
    peers[1].reset();
  });
  auto group = makeShmGroup(peers[2], "odd", {2, 1}, 600s);
  dying.join();
  ASSERT_TRUE(group.ok()) << group.message();
  float input = 1, output[2];
  CollectiveCall call;
  call.kind = CollectiveKind::AllGather;
  call.members = {{&input, output, 1, 2, DType::Float32}};
  EXPECT_EQ(messageOf(**group, call),
            "all_gather: rank 1 has ended: its connection is closed");
}

TEST(ShmProcessGroup, LateRankIsNamedByItsNumberInTheJob) {
  auto peers = connectPeers(3);
  std::vector<std::unique_ptr<ProcessGroup>> groups(3);
  std::vector<std::thread> threads;
  for (int rank : {1, 2}) {
    threads.emplace_back([&, rank] {
      groups[rank] = *makeShmGroup(peers[rank], "upper", {1, 2}, 100ms);
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  float value = 1;
  CollectiveCall call;
  call.members = {{&value, &value, 1, 1, DType::Float32}};
  EXPECT_EQ(messageOf(*groups[1], call),
            "all_reduce: rank 2 did not arrive within 100 ms; raise --timeout "
            "if it is only slow");
  // The other one comes too late, and hears the same.
  EXPECT_NE(messageOf(*groups[2], call).find("rank 2 did not arrive"),
            std::string::npos);
}

TEST(ShmProcessGroup, FirstAbortReachesAllRanks) {
  Groups groups = makeStagedShmGroups(3, 600s);
  onEveryRank(groups, [&](ProcessGroup &group) {
    if (group.rank() == 2) {
      group.abort("out of memory");
      return;
    }
    float value = 1;
    CollectiveCall call;
    call.members = {{&value, &value, 1, 1, DType::Float32}};
    EXPECT_EQ(messageOf(group, call),
              "all_reduce: rank 2 aborted: out of memory");
  });
}

TEST(ShmProcessGroup, DamagedRecordIsAnErrorAndNotAPointer) {
  auto arena = SharedSegment::create(4096);
  ASSERT_TRUE(arena.ok()) << arena.message();
  auto block = std::make_unique<GroupBlock>();
  CollectiveCall call;
  call.kind = CollectiveKind::AllGather;
  call.members = {{arena->data(), arena->data() + 64, 16, 32, DType::Float32}};
  writeRecord(call, 0, 1, *arena, *block);
  CollectiveCall seen;
  int64_t followed = -1;
  ASSERT_TRUE(readRecord(*block, *arena, seen, followed).ok());
  EXPECT_EQ(followed, 0);
  EXPECT_EQ(seen.members[0].input, arena->data());
  EXPECT_EQ(seen.members[0].output, arena->data() + 64);
  for (int64_t offset : {int64_t(4096 - 63), int64_t(-2), INT64_MAX}) {
    block->members[0].inputOffset = offset;
    EXPECT_NE(readRecord(*block, *arena, seen, followed)
                  .message()
                  .find("is not within its arena of 4096 bytes"),
              std::string::npos);
  }
  block->members[0].inputOffset = 0;
  block->members[0].inputCount = INT64_MAX / 2;
  EXPECT_FALSE(readRecord(*block, *arena, seen, followed).ok());
  block->members[0].dtype = 99;
  EXPECT_FALSE(readRecord(*block, *arena, seen, followed).ok());
  block->call.members = kMembersPerRound + 1;
  EXPECT_FALSE(readRecord(*block, *arena, seen, followed).ok());
}
