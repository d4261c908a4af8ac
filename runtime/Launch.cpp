//===- Launch.cpp - Local ranks as child processes ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parent opens the listening socket of the job's store on a free loopback
// port, forks the ranks, and stays as their supervisor. It learns of signals
// and of ended ranks by waiting for signals that it has blocked, so there is no
// handler and no race. A rank dies with its parent, by the kernel's hand.
//
// After the first failure the other ranks have a grace period: the control
// channel tells them to end. What is left then is killed, stopped ranks too.
//
// Tested by test/unit/runtime/LaunchTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Launch.h"

#include "runtime/Socket.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

using namespace sfsdp::runtime;

namespace {

using Clock = std::chrono::steady_clock;

/// Blocks the signals that the supervisor waits for; restores on destruction.
class BlockedSignals {
public:
  BlockedSignals() {
    ::sigemptyset(&awaited);
    for (int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) {
      ::sigaddset(&awaited, signal);
    }
    ::pthread_sigmask(SIG_BLOCK, &awaited, &previous);
  }
  ~BlockedSignals() { restore(); }

  void restore() { ::pthread_sigmask(SIG_SETMASK, &previous, nullptr); }

  /// The next signal, or none within `timeout`.
  std::optional<siginfo_t> next(std::chrono::milliseconds timeout) const {
    timespec limit = {};
    limit.tv_sec = timeout.count() / 1000;
    limit.tv_nsec = timeout.count() % 1000 * 1000000;
    siginfo_t received = {};
    bool any = ::sigtimedwait(&awaited, &received, &limit) > 0;
    return any ? std::optional<siginfo_t>(received) : std::nullopt;
  }

private:
  sigset_t awaited;
  sigset_t previous;
};

class Supervisor {
public:
  Supervisor(std::vector<pid_t> ranks, const LocalLaunchOptions &options)
      : ranks(std::move(ranks)), options(options) {}

  LocalLaunchResult run(const BlockedSignals &signals);

  /// Ends every rank now.
  void killAll() const { send(SIGKILL); }

  /// Takes note of ranks that have ended.
  void reap();

private:
  bool anyAlive() const;
  void send(int signal) const;
  void passOn(const siginfo_t &received);
  void record(int rank, int status);
  void startGrace();

  std::vector<pid_t> ranks; ///< 0: has ended
  const LocalLaunchOptions &options;
  LocalLaunchResult result;
  int interruptions = 0;
  std::optional<Clock::time_point> deadline;
};

bool Supervisor::anyAlive() const {
  return std::ranges::any_of(ranks, [](pid_t rank) { return rank != 0; });
}

void Supervisor::send(int signal) const {
  for (pid_t rank : ranks) {
    if (rank != 0) {
      ::kill(rank, signal);
    }
  }
}

void Supervisor::startGrace() {
  if (!deadline) {
    deadline = Clock::now() + options.grace;
  }
}

/// A signal typed at the terminal has reached the ranks already: the kernel
/// sends it to the whole foreground group.
void Supervisor::passOn(const siginfo_t &received) {
  if (received.si_signo == SIGCHLD) {
    return;
  }
  if (received.si_code <= 0) { // sent by a process
    send(received.si_signo);
  }
  if (++interruptions > 1) {
    startGrace();
  }
}

void Supervisor::record(int rank, int status) {
  bool killed = WIFSIGNALED(status);
  int code = killed ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (code == 0) {
    return;
  }
  if (code != options.stoppedCode) {
    startGrace();
  }
  bool isFirstFailure =
      result.exitCode == 0 || result.exitCode == options.stoppedCode;
  if (!isFirstFailure) {
    return;
  }
  result.exitCode = code;
  result.message.clear();
  if (killed) {
    int signal = WTERMSIG(status);
    result.message = "rank " + std::to_string(rank) + " was killed by signal " +
                     std::to_string(signal) + " (" + ::strsignal(signal) + ")";
  }
}

void Supervisor::reap() {
  std::vector<std::pair<int, int>> ended; // rank, status
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    int status = 0;
    if (ranks[rank] != 0 &&
        ::waitpid(ranks[rank], &status, WNOHANG) == ranks[rank]) {
      ranks[rank] = 0;
      ended.emplace_back(static_cast<int>(rank), status);
    }
  }
  // Of ranks that are found together, one that a signal killed is the cause:
  // the others have ended because they were told of it.
  std::stable_partition(ended.begin(), ended.end(), [](const auto &entry) {
    return WIFSIGNALED(entry.second);
  });
  for (auto [rank, status] : ended) {
    record(rank, status);
  }
}

LocalLaunchResult Supervisor::run(const BlockedSignals &signals) {
  constexpr auto kPoll = std::chrono::milliseconds(200);
  while (anyAlive()) {
    if (std::optional<siginfo_t> received = signals.next(kPoll)) {
      passOn(*received);
    }
    reap();
    if (deadline && Clock::now() >= *deadline) {
      killAll();
    }
  }
  return result;
}

LaunchContext contextOf(int rank, int count, int port) {
  LaunchContext context;
  context.rank = context.localRank = rank;
  context.worldSize = context.localWorldSize = count;
  context.masterPort = port;
  context.launcher = "-n";
  return context;
}

/// Starts one rank, which never returns from here; gives its process id.
Expected<pid_t>
startRank(LaunchContext context, Listener &listener, BlockedSignals &signals,
          const std::function<int(const LaunchContext &)> &rankMain) {
  pid_t parent = ::getpid();
  std::fflush(nullptr); // or the child would print it again
  pid_t child = ::fork();
  if (child > 0) {
    return child;
  }
  if (child < 0) {
    return Status::error("cannot start rank " + std::to_string(context.rank) +
                         " of " + std::to_string(context.worldSize) + ": " +
                         std::strerror(errno));
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) { // the parent died before the line above
    ::_exit(1);
  }
  if (context.rank == 0) {
    context.listenFd = listener.socket.release();
  } else {
    listener.socket = FileDescriptor();
  }
  signals.restore();
  std::exit(rankMain(context));
}

} // namespace

Expected<LocalLaunchResult> sfsdp::runtime::launchLocalRanks(
    int count, const std::function<int(const LaunchContext &)> &rankMain,
    const LocalLaunchOptions &options) {
  Expected<Listener> listener = listenOn("127.0.0.1", /*port=*/0);
  if (!listener.ok()) {
    return listener.status();
  }
  BlockedSignals signals;
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < count; ++rank) {
    Expected<pid_t> child = startRank(contextOf(rank, count, listener->port),
                                      *listener, signals, rankMain);
    if (!child.ok()) {
      Supervisor started(std::move(ranks), options);
      started.killAll();
      (void)started.run(signals);
      return child.status();
    }
    ranks.push_back(*child);
  }
  listener->socket = FileDescriptor();
  return Supervisor(std::move(ranks), options).run(signals);
}
