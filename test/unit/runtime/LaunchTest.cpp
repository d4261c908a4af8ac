//===- LaunchTest.cpp - Local ranks as child processes --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Launch.h"

#include "runtime/Socket.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace sfsdp::runtime;
using namespace std::chrono_literals;

namespace {

LocalLaunchResult launch(int count,
                         const std::function<int(const LaunchContext &)> &body,
                         std::chrono::milliseconds grace = 200ms) {
  LocalLaunchOptions options;
  options.grace = grace;
  Expected<LocalLaunchResult> result = launchLocalRanks(
      count,
      [&](const LaunchContext &context) {
        ::_exit(body(context)); // a rank runs no test clean-up
        return 0;
      },
      options);
  EXPECT_TRUE(result.ok()) << result.message();
  return result.ok() ? *result : LocalLaunchResult();
}

int sleepForever() {
  while (true) {
    ::pause();
  }
}

bool anyChildLeft() { return ::waitpid(-1, nullptr, WNOHANG) >= 0; }

} // namespace

TEST(Launch, GivesEveryRankItsPlace) {
  LocalLaunchResult result = launch(4, [](const LaunchContext &context) {
    bool good = context.worldSize == 4 && context.localWorldSize == 4 &&
                context.localRank == context.rank && context.masterPort > 0 &&
                context.masterAddress == "127.0.0.1" && context.oneHost() &&
                (context.listenFd >= 0) == (context.rank == 0);
    if (context.rank > 0) {
      bool reaches =
          connectTo(context.masterAddress, context.masterPort, 5s).ok();
      return good && reaches ? 0 : 1;
    }
    for (int other = 1; other < 4; ++other) {
      good = good && ::accept(context.listenFd, nullptr, nullptr) >= 0;
    }
    return good ? 0 : 1;
  });
  EXPECT_EQ(result.exitCode, 0);
  EXPECT_EQ(result.message, "");
  EXPECT_FALSE(anyChildLeft());
}

TEST(Launch, EndsWithTheCodeOfTheFirstFailure) {
  LocalLaunchResult result = launch(3, [](const LaunchContext &context) {
    return context.rank == 1 ? 7 : sleepForever();
  });
  EXPECT_EQ(result.exitCode, 7);
  EXPECT_FALSE(anyChildLeft());
}

TEST(Launch, F55_NamesAKilledRankAndLeavesNoProcess) {
  auto begin = std::chrono::steady_clock::now();
  LocalLaunchResult result = launch(4, [](const LaunchContext &context) {
    if (context.rank == 2) {
      ::kill(::getpid(), SIGKILL);
    }
    return sleepForever();
  });
  EXPECT_EQ(result.exitCode, 128 + SIGKILL);
  EXPECT_EQ(result.message, "rank 2 was killed by signal 9 (Killed)");
  EXPECT_FALSE(anyChildLeft());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(Launch, StoppedRanksAreKilledToo) {
  LocalLaunchResult result = launch(2, [](const LaunchContext &context) {
    if (context.rank == 0) {
      ::kill(::getpid(), SIGSTOP);
    }
    return 5;
  });
  EXPECT_EQ(result.exitCode, 5);
  EXPECT_FALSE(anyChildLeft());
}

TEST(Launch, OthersMayEndByThemselvesInTheGracePeriod) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  launch(
      2,
      [&](const LaunchContext &context) {
        if (context.rank == 0) {
          return 1;
        }
        std::this_thread::sleep_for(100ms);
        return ::write(pipe[1], "x", 1) == 1 ? 0 : 1;
      },
      10s);
  char text = 0;
  EXPECT_EQ(::read(pipe[0], &text, 1), 1) << "rank 1 ended in good order";
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(Launch, AStopInGoodOrderStartsNoGracePeriod) {
  LocalLaunchResult result = launch(2, [](const LaunchContext &context) {
    std::this_thread::sleep_for(context.rank * 600ms);
    return 3;
  });
  EXPECT_EQ(result.exitCode, 3);
}

// The supervisor runs in a child of the test, which gets the signal.
TEST(Launch, PassesOnSignals) {
  pid_t supervisor = ::fork();
  if (supervisor == 0) {
    LocalLaunchResult result =
        launch(2, [](const LaunchContext &) { return sleepForever(); });
    ::_exit(result.exitCode);
  }
  std::this_thread::sleep_for(200ms);
  ::kill(supervisor, SIGTERM);
  int status = 0;
  ASSERT_EQ(::waitpid(supervisor, &status, 0), supervisor);
  EXPECT_EQ(WEXITSTATUS(status), 128 + SIGTERM);
}

TEST(Launch, RanksDieWithTheirSupervisor) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  pid_t supervisor = ::fork();
  if (supervisor == 0) {
    launch(2, [](const LaunchContext &) { return sleepForever(); });
    ::_exit(0);
  }
  ::close(pipe[1]); // now held by the supervisor and its ranks only
  std::this_thread::sleep_for(200ms);
  ::kill(supervisor, SIGKILL);
  ::waitpid(supervisor, nullptr, 0);
  char text = 0;
  EXPECT_EQ(::read(pipe[0], &text, 1), 0) << "end of file: nobody is left";
  ::close(pipe[0]);
}
