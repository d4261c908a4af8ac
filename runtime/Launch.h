//===- Launch.h - Which rank this process is -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A job is started by `-n N`, by torchrun, Slurm or mpirun, or is one process.
// Whoever started it, the rest of the runtime sees a LaunchContext.
//
// Order of precedence: `-n`, torchrun, Slurm, Open MPI, Hydra, one process.
//
// Tested by test/unit/runtime/LaunchTest.cpp and
// test/unit/runtime/LaunchEnvironmentTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_LAUNCH_H
#define SFSDP_RUNTIME_LAUNCH_H

#include "runtime/Status.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sfsdp::runtime {

/// This process's place in the job and where its ranks meet.
struct LaunchContext {
  int rank = 0;
  int worldSize = 1;
  int localRank = 0;      ///< among the ranks of this host
  int localWorldSize = 1; ///< ranks of this host
  std::string masterAddress = "127.0.0.1";
  int masterPort = 0; ///< 0: one process, no rendezvous
  /// The launcher already serves the store; every rank is a client.
  bool useAgentStore = false;
  /// Prefix of every key in the store: "" or "/worker/attempt_<n>".
  std::string storePrefix;
  /// Rank 0 of a local launch: the listening socket to serve the store on,
  /// owned by the context's user; else -1.
  int listenFd = -1;
  /// "-n", "torchrun", "slurm", "open mpi", "hydra" or "one process".
  std::string launcher = "one process";

  bool oneHost() const { return localWorldSize == worldSize; }
};

/// The value of an environment variable, absent when it is not set.
using Environment =
    std::function<std::optional<std::string>(const std::string &name)>;

/// The environment of this process.
Environment processEnvironment();

/// Reads the place of this process from what torchrun, Slurm, Open MPI or Hydra
/// left in the environment. Errors name the variable and its value.
Expected<LaunchContext> contextFromEnvironment(const Environment &environment);

/// Host names of a compressed Slurm node list: "n[01-03,7],gpu1" is n01, n02,
/// n03, n7, gpu1.
Expected<std::vector<std::string>> expandNodeList(const std::string &list);

/// The local address that data should use: loopback when all ranks share this
/// host, else `requested` (an address, a host name or an interface) when not
/// empty, else the address from which the master is reached.
Expected<std::string> dataAddress(const LaunchContext &context,
                                  const std::string &requested);

struct LocalLaunchOptions {
  /// Time for the other ranks to end by themselves after the first failure,
  /// before they are killed.
  std::chrono::milliseconds grace = std::chrono::seconds(5);
  /// Exit code of a rank that stopped early in good order, after a signal: it
  /// becomes the job's code but does not start the grace period.
  int stoppedCode = 3;
};

/// How a local launch ended.
struct LocalLaunchResult {
  /// 0, or the exit code of the first rank that failed, or 128 + its signal.
  int exitCode = 0;
  /// What went wrong, for a rank that could not say so itself: "rank 2 was
  /// killed by signal 9 (Killed)"; else empty.
  std::string message;
};

/// Runs `rankMain` in `count` processes forked from this one, and waits for
/// them. Requires that this process has one thread only. SIGINT and SIGTERM are
/// passed on; a second one starts the grace period. No rank outlives this call
/// or this process.
Expected<LocalLaunchResult>
launchLocalRanks(int count,
                 const std::function<int(const LaunchContext &)> &rankMain,
                 const LocalLaunchOptions &options = {});

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_LAUNCH_H
