//===- ControlChannelTest.cpp - Who died first, where and why -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/ControlChannel.h"

#include "runtime/ControlWire.h"

#include <condition_variable>
#include <csignal>
#include <gtest/gtest.h>
#include <mutex>
#include <poll.h>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace sfsdp::runtime;
using namespace std::chrono_literals;

namespace {

ControlOptions quickOptions() {
  ControlOptions options;
  options.startTimeout = 10s;
  options.silenceLimit = 30s;
  options.settle = 300ms;
  options.describe = [](int64_t op) {
    return "all_gather of layers." + std::to_string(op);
  };
  return options;
}

/// What onFailure told each rank.
class Causes {
public:
  explicit Causes(int size) : causes(size) {}

  std::function<void(const std::string &)> listener(int rank) {
    return [this, rank](const std::string &cause) {
      std::lock_guard<std::mutex> lock(mutex);
      causes[rank].push_back(cause);
      changed.notify_all();
    };
  }

  /// What `rank` was told first; empty after 10 s.
  std::string of(int rank) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait_for(lock, 10s, [&] { return !causes[rank].empty(); });
    return causes[rank].empty() ? "" : causes[rank].front();
  }

  size_t count(int rank) {
    std::lock_guard<std::mutex> lock(mutex);
    return causes[rank].size();
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::vector<std::string>> causes;
};

/// A channel of `size` ranks that are threads of the test.
struct Job {
  std::unique_ptr<Store> store = makeMemoryStore();
  Causes causes;
  std::vector<std::unique_ptr<ControlChannel>> ends;

  explicit Job(int size, ControlOptions options = quickOptions())
      : causes(size), ends(size) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        auto end = ControlChannel::open(*store, rank, size, options,
                                        causes.listener(rank));
        ASSERT_TRUE(end.ok()) << end.message();
        ends[rank] = *std::move(end);
      });
    }
    for (std::thread &thread : threads) {
      thread.join();
    }
  }
};

/// Where rank 0 serves, as published in the store.
struct Published {
  std::string host;
  int port = 0;
  std::string nonce;
};

Published publishedIn(Store &store) {
  Published published;
  std::istringstream text(*store.get("control/address", 10s));
  text >> published.host >> published.port >> published.nonce;
  return published;
}

} // namespace

TEST(ControlChannel, F55_ADeadRankIsNamedWithItsPlace) {
  Job job(4);
  job.ends[2]->setPosition(3, 17);
  std::this_thread::sleep_for(500ms); // a heartbeat carries the position
  job.ends[2].reset();
  for (int rank : {0, 1, 3}) {
    EXPECT_EQ(job.causes.of(rank),
              "rank 2 died at step 3, op 17 (all_gather of layers.17): its "
              "control connection ended without goodbye");
    EXPECT_EQ(job.causes.count(rank), 1u);
  }
}

TEST(ControlChannel, DeathOfRank0IsNoticed) {
  Job job(3);
  job.ends[0].reset();
  for (int rank : {1, 2}) {
    EXPECT_EQ(job.causes.of(rank),
              "rank 0 died before the first step: its control connection ended "
              "without goodbye");
  }
}

TEST(ControlChannel, AReportedFailureReachesTheOthersOnly) {
  Job job(3);
  job.ends[1]->setPosition(5, 2);
  std::string cause = job.ends[1]->reportFailure("token id 300 is too large");
  EXPECT_EQ(cause, "rank 1 failed at step 5, op 2 (all_gather of layers.2): "
                   "token id 300 is too large");
  EXPECT_EQ(job.causes.of(0), cause);
  EXPECT_EQ(job.causes.of(2), cause);
  EXPECT_EQ(job.causes.count(1), 0u);
  EXPECT_EQ(job.ends[2]->reportFailure("a later reason"), cause);
}

// Rank 0 sees its collective fail before it hears of the death behind it.
TEST(ControlChannel, ADeathExplainsAFailedCollective) {
  Job job(3);
  std::thread survivor([&] {
    EXPECT_EQ(job.ends[0]->reportFailedCollective("connection closed by peer"),
              "rank 2 died before the first step: its control connection ended "
              "without goodbye");
  });
  std::this_thread::sleep_for(100ms);
  job.ends[2].reset();
  survivor.join();
}

TEST(ControlChannel, AnUnexplainedFailedCollectiveIsItsRanksOwn) {
  Job job(2);
  job.ends[1]->setPosition(1, -1);
  std::string cause = job.ends[1]->reportFailedCollective("timed out");
  EXPECT_EQ(cause, "rank 1 failed at step 1: timed out");
  EXPECT_EQ(job.causes.of(0), cause);
}

TEST(ControlChannel, GoodbyeIsNoFailure) {
  Job job(3);
  for (auto &end : job.ends) {
    end->goodbye();
  }
  job.ends.clear();
  std::this_thread::sleep_for(100ms);
  for (int rank : {0, 1, 2}) {
    EXPECT_EQ(job.causes.count(rank), 0u);
  }
}

TEST(ControlChannel, OneRankNeedsNoConnection) {
  Job job(1);
  EXPECT_EQ(job.ends[0]->reportFailedCollective("disk full"),
            "rank 0 failed before the first step: disk full");
  job.ends[0]->goodbye();
}

TEST(ControlChannel, RanksThatDoNotJoinAreNamedOnAllRanks) {
  auto store = makeMemoryStore();
  Causes causes(4);
  ControlOptions options = quickOptions();
  options.startTimeout = 300ms;
  std::thread server([&] {
    EXPECT_EQ(ControlChannel::open(*store, 0, 4, options, causes.listener(0))
                  .message(),
              "rank 0 failed before the first step: ranks 2 and 3 did not join "
              "the control channel within 300 ms");
  });
  auto client = ControlChannel::open(*store, 1, 4, options, causes.listener(1));
  ASSERT_TRUE(client.ok()) << client.message();
  EXPECT_NE(causes.of(1).find("ranks 2 and 3 did not join"), std::string::npos);
  server.join();
}

TEST(ControlChannel, StrangersAreIgnored) {
  Job job(2);
  Published published = publishedIn(*job.store);
  auto socket = connectTo(published.host, published.port, 5s);
  ASSERT_TRUE(socket.ok());
  FrameSocket stranger(*std::move(socket));
  stranger.send({FrameKind::Hello, 1, 0, 0, std::string(32, '0')});
  stranger.send({FrameKind::Failure, 1, 0, 0, "a lie"});
  pollfd event = {stranger.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&event, 1, 5000), 1);
  EXPECT_TRUE(stranger.receive().empty());
  EXPECT_FALSE(stranger.isOpen()) << "rank 0 hung up";
  EXPECT_EQ(job.causes.count(0), 0u);
  EXPECT_EQ(job.causes.count(1), 0u);
}

TEST(ControlChannel, ASilentRankCountsAsStopped) {
  auto store = makeMemoryStore();
  Causes causes(2);
  ControlOptions options = quickOptions();
  options.silenceLimit = 200ms;
  std::thread silentRank([&] {
    Published published = publishedIn(*store);
    auto socket = connectTo(published.host, published.port, 5s);
    ASSERT_TRUE(socket.ok());
    FrameSocket silent(*std::move(socket));
    silent.send({FrameKind::Hello, 1, 0, 0, published.nonce});
    EXPECT_NE(causes.of(0), "");
  });
  auto server = ControlChannel::open(*store, 0, 2, options, causes.listener(0));
  ASSERT_TRUE(server.ok()) << server.message();
  silentRank.join();
  EXPECT_EQ(causes.of(0).find("rank 1 is stopped or unreachable before the "
                              "first step: no sign of life for 2"),
            0u)
      << causes.of(0);
}

namespace {

/// Runs rank 1 in a process of its own, which works until it is killed, and
/// rank 0 here. Returns what rank 0 hears after `signal` was sent to rank 1.
std::string causeAfterSignal(int signal) {
  int pipe[2];
  EXPECT_EQ(::pipe(pipe), 0);
  ControlOptions options = quickOptions();
  options.silenceLimit = 1000ms;
  pid_t child = ::fork();
  if (child == 0) {
    char address[256] = {};
    (void)!::read(pipe[0], address, sizeof address - 1);
    auto store = makeMemoryStore();
    (void)store->set("control/address", address);
    auto end = ControlChannel::open(*store, 1, 2, options, nullptr);
    (*end)->setPosition(7, 4);
    while (true) {
      ::pause();
    }
  }
  auto store = makeMemoryStore();
  Causes causes(1);
  std::thread messenger([&] {
    std::string address = *store->get("control/address", 10s);
    (void)!::write(pipe[1], address.data(), address.size());
  });
  auto server = ControlChannel::open(*store, 0, 2, options, causes.listener(0));
  EXPECT_TRUE(server.ok()) << server.message();
  messenger.join();
  std::this_thread::sleep_for(500ms);
  ::kill(child, signal);
  std::string cause = causes.of(0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(pipe[0]);
  ::close(pipe[1]);
  return cause;
}

} // namespace

TEST(ControlChannel, F55_AKilledProcessIsNamed) {
  EXPECT_EQ(causeAfterSignal(SIGKILL),
            "rank 1 died at step 7, op 4 (all_gather of layers.4): its control "
            "connection ended without goodbye");
}

TEST(ControlChannel, AStoppedProcessIsNamed) {
  EXPECT_EQ(causeAfterSignal(SIGSTOP).find(
                "rank 1 is stopped or unreachable at step 7, op 4 "
                "(all_gather of layers.4): no sign of life for 1"),
            0u);
}
