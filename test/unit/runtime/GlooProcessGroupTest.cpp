//===- GlooProcessGroupTest.cpp - Collectives over Gloo -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the cases of every transport do not cover: failures of processes and
// groups that are part of a job.
//
//===----------------------------------------------------------------------===//

#include "runtime/GlooProcessGroup.h"

#include "runtime/Socket.h"
#include "runtime/TcpStore.h"
#include "test/support/Transports.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sfsdp::runtime;
using namespace sfsdp::test;
using namespace std::chrono_literals;

namespace {

Groups makeGroups(int size, std::chrono::milliseconds timeout) {
  return transports().front().make(size, timeout);
}

Status gather(ProcessGroup &group, int64_t count) {
  std::vector<float> input(count, float(group.rank()));
  std::vector<float> output(count * group.size());
  CollectiveCall call;
  call.kind = CollectiveKind::AllGather;
  call.label = "step 3, op 17";
  call.members = {{input.data(), output.data(), count, count * group.size(),
                   DType::Float32}};
  Expected<std::unique_ptr<Work>> work = group.start(std::move(call));
  return work.ok() ? (*work)->wait() : work.status();
}

Status reduce(ProcessGroup &group, int64_t count) {
  std::vector<float> values(count, 1);
  CollectiveCall call;
  call.label = "step 3, op 18";
  call.members = {{values.data(), values.data(), count, count, DType::Float32}};
  Expected<std::unique_ptr<Work>> work = group.start(std::move(call));
  return work.ok() ? (*work)->wait() : work.status();
}

} // namespace

TEST(GlooProcessGroup, RefusesARankThatIsNoMember) {
  auto store = makeMemoryStore();
  EXPECT_EQ(makeGlooGroup(*store, "tp", {0, 2}, 1, {}).message(),
            "rank 1 is no member of process group 'tp'");
}

TEST(GlooProcessGroup, AGroupOfOneRankConnectsToNothing) {
  auto store = makeMemoryStore();
  GlooOptions options;
  options.address = "no.such.host.invalid";
  auto group = makeGlooGroup(*store, "dp", {3}, 3, options);
  ASSERT_TRUE(group.ok()) << group.message();
  EXPECT_TRUE(gather(**group, 5).ok());
  EXPECT_EQ((*group)->traffic().bytesReceived[0], 0);
}

TEST(GlooProcessGroup, NamesAnAddressItCannotBindTo) {
  auto store = makeMemoryStore();
  GlooOptions options;
  options.address = "no.such.host.invalid";
  options.timeout = 1s;
  std::string message =
      makeGlooGroup(*store, "dp", {0, 1}, 0, options).message();
  EXPECT_EQ(message.find("process group 'dp': gloo cannot connect over "
                         "'no.such.host.invalid': "),
            0u)
      << message;
}

TEST(GlooProcessGroup, APeerThatNeverComesEndsTheConnecting) {
  auto store = makeMemoryStore();
  GlooOptions options;
  options.timeout = 300ms;
  auto begin = std::chrono::steady_clock::now();
  auto group = makeGlooGroup(*store, "dp", {0, 1}, 0, options);
  EXPECT_FALSE(group.ok());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

// Gloo would end the process when it receives more bytes than it expects.
TEST(GlooProcessGroup, F56_DifferentSizesAreAnError) {
  for (auto collective : {gather, reduce}) {
    Groups groups = makeGroups(2, 10s);
    onEveryRank(groups, [&](ProcessGroup &group) {
      EXPECT_TRUE(collective(group, 10).ok());
      std::string message =
          collective(group, group.rank() == 0 ? 2000 : 1000).message();
      EXPECT_NE(message.find("ranks disagree on this collective: rank " +
                             std::to_string(group.rank()) + " has "),
                std::string::npos)
          << message;
    });
  }
}

// The dp groups of mesh dp = 2, tp = 2 with permuted ranks (F58).
TEST(GlooProcessGroup, GroupsOfAJobAreSeparate) {
  auto store = makeMemoryStore();
  std::vector<std::vector<int>> members = {{2, 1}, {0, 3}};
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    ranks.emplace_back([&, rank] {
      const std::vector<int> &mine = members[rank == 0 || rank == 3];
      auto group =
          makeGlooGroup(*store, "dp" + std::to_string(mine[0]), mine, rank, {});
      ASSERT_TRUE(group.ok()) << group.message();
      float input = float(rank), output[2] = {};
      CollectiveCall call;
      call.kind = CollectiveKind::AllGather;
      call.members = {{&input, output, 1, 2, DType::Float32}};
      ASSERT_TRUE((*(*group)->start(call))->wait().ok());
      EXPECT_EQ(output[0], mine[0]);
      EXPECT_EQ(output[1], mine[1]);
    });
  }
  for (std::thread &rank : ranks) {
    rank.join();
  }
}

namespace {

/// Runs two processes as one job; rank 1 sends itself `signal` instead of its
/// second collective. Returns what rank 0 is told, and the time it took.
std::pair<std::string, std::chrono::milliseconds>
afterSignal(int signal, std::chrono::milliseconds timeout) {
  Expected<Listener> listener = listenOn("127.0.0.1", 0);
  LaunchContext context;
  context.worldSize = context.localWorldSize = 2;
  context.masterPort = listener->port;
  GlooOptions options;
  options.timeout = timeout;
  pid_t child = ::fork();
  if (child == 0) {
    context.rank = 1;
    auto store = connectStore(context, 10s);
    auto group = makeGlooGroup(**store, "dp", {0, 1}, 1, options);
    (void)reduce(**group, 100);
    ::raise(signal);
    ::pause();
  }
  context.listenFd = listener->socket.release();
  auto store = connectStore(context, 10s);
  auto group = makeGlooGroup(**store, "dp", {0, 1}, 0, options);
  EXPECT_TRUE(group.ok()) << group.message();
  EXPECT_TRUE(reduce(**group, 100).ok());
  auto begin = std::chrono::steady_clock::now();
  std::string message = reduce(**group, 100).message();
  auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begin);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return {message, took};
}

} // namespace

TEST(GlooProcessGroup, F55_AKilledPeerEndsTheCollectiveAtOnce) {
  auto [message, took] = afterSignal(SIGKILL, 60s);
  EXPECT_EQ(message.find("step 3, op 18: gloo failed, so a rank is dead, "
                         "stopped or late: "),
            0u)
      << message;
  EXPECT_LT(took, 5s);
}

TEST(GlooProcessGroup, AStoppedPeerEndsTheCollectiveAtTheTimeout) {
  auto [message, took] = afterSignal(SIGSTOP, 700ms);
  EXPECT_EQ(message.find("step 3, op 18: gloo failed"), 0u) << message;
  EXPECT_LT(took, 5s);
}
