//===- JobTest.cpp - Failures of a whole job ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch, store, control channel and Gloo groups together, in real processes:
// whatever happens to one rank, the others end, name it, and nothing is left.
//
//===----------------------------------------------------------------------===//

#include "runtime/ControlChannel.h"
#include "runtime/GlooProcessGroup.h"
#include "runtime/TcpStore.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sfsdp::runtime;
using namespace std::chrono_literals;

namespace {

constexpr int kRanks = 4;

/// What happens to rank 2.
struct Accident {
  int step = 0; ///< before whose collective
  int signal = 0;
};

/// One rank of a job that reduces a tensor in each of 50 steps. A survivor
/// writes why it ended to `report`.
int runRank(const LaunchContext &context, const Accident &accident,
            int report) {
  auto store = connectStore(context, 10s);
  ControlOptions control;
  control.silenceLimit = 1s;
  control.describe = [](int64_t) { return "all_reduce of layers.0"; };
  ProcessGroup *started = nullptr;
  auto channel = ControlChannel::open(**store, context.rank, context.worldSize,
                                      control, [&](const std::string &cause) {
                                        if (started) {
                                          started->abort(cause);
                                        }
                                      });
  GlooOptions options;
  options.timeout = 5s;
  auto group =
      makeGlooGroup(**store, "dp", {0, 1, 2, 3}, context.rank, options);
  started = group->get();
  for (int step = 1; step <= 50; ++step) {
    (*channel)->setPosition(step, 4);
    if (context.rank == 2 && step == accident.step) {
      std::this_thread::sleep_for(300ms); // a heartbeat carries the position
      ::raise(accident.signal);
    }
    float value = 1;
    CollectiveCall call;
    call.label = "step " + std::to_string(step) + ", op 4";
    call.members = {{&value, &value, 1, 1, DType::Float32}};
    auto work = (*group)->start(call);
    Status status = work.ok() ? (*work)->wait() : work.status();
    if (!status.ok()) {
      std::string line =
          (*channel)->reportFailedCollective(status.message()) + "\n";
      (void)!::write(report, line.data(), line.size());
      channel = Status::error("gave up");
      ::_exit(1);
    }
  }
  (*channel)->goodbye();
  return 0;
}

struct Outcome {
  LocalLaunchResult result;
  std::vector<std::string> reports;
  std::chrono::steady_clock::duration took;
};

Outcome runJob(Accident accident) {
  int pipe[2];
  EXPECT_EQ(::pipe(pipe), 0);
  LocalLaunchOptions options;
  options.grace = 2s;
  auto begin = std::chrono::steady_clock::now();
  auto result = launchLocalRanks(
      kRanks,
      [&](const LaunchContext &context) {
        ::_exit(runRank(context, accident, pipe[1]));
        return 0;
      },
      options);
  Outcome outcome;
  outcome.took = std::chrono::steady_clock::now() - begin;
  EXPECT_TRUE(result.ok()) << result.message();
  outcome.result = *result;
  ::close(pipe[1]);
  char text[8192] = {};
  ssize_t count = 0;
  std::string all;
  while ((count = ::read(pipe[0], text, sizeof text)) > 0) {
    all.append(text, count);
  }
  ::close(pipe[0]);
  for (size_t end = 0; (end = all.find('\n')) != std::string::npos;) {
    outcome.reports.push_back(all.substr(0, end));
    all.erase(0, end + 1);
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no process is left";
  return outcome;
}

void expectReports(const Outcome &outcome, const std::string &start) {
  EXPECT_EQ(outcome.reports.size(), 3u);
  for (const std::string &report : outcome.reports) {
    EXPECT_EQ(report.find(start), 0u) << report;
  }
  EXPECT_LT(outcome.took, 10s);
}

} // namespace

TEST(Job, EndsInGoodOrder) {
  Outcome outcome = runJob({});
  EXPECT_EQ(outcome.result.exitCode, 0);
  EXPECT_TRUE(outcome.reports.empty());
}

TEST(Job, F55_ARankKilledBeforeTheFirstCollective) {
  Outcome outcome = runJob({1, SIGKILL});
  EXPECT_EQ(outcome.result.exitCode, 128 + SIGKILL);
  EXPECT_EQ(outcome.result.message, "rank 2 was killed by signal 9 (Killed)");
  expectReports(outcome, "rank 2 died at step 1, op 4 (all_reduce of "
                         "layers.0): ");
}

TEST(Job, F55_ARankKilledInTheMiddle) {
  Outcome outcome = runJob({17, SIGKILL});
  EXPECT_EQ(outcome.result.exitCode, 128 + SIGKILL);
  expectReports(outcome, "rank 2 died at step 17, op 4 (all_reduce of "
                         "layers.0): ");
}

TEST(Job, AStoppedRankEndsTheJob) {
  Outcome outcome = runJob({17, SIGSTOP});
  EXPECT_EQ(outcome.result.exitCode, 1);
  expectReports(outcome, "rank 2 is stopped or unreachable at step 17, op 4 "
                         "(all_reduce of layers.0): ");
}
