//===- ProcessJob.h - Ranks as processes ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rank's life beside other processes: it meets them in the store, compares
// options, opens the control channel, and ends when any of them fails.
//
// Tested by test/e2e/job-failures.py.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_PROCESSJOB_H
#define SFSDP_RUNTIME_PROCESSJOB_H

#include "runtime/Job.h"
#include "runtime/Launch.h"

#include <functional>

namespace sfsdp::runtime {

/// Reports a job's error once, whichever of its processes comes first. Made
/// before they are forked.
class JobError {
public:
  /// `print` is called in the process that comes first.
  explicit JobError(std::function<void(const std::string &message)> print);
  ~JobError();
  JobError(const JobError &) = delete;
  JobError &operator=(const JobError &) = delete;

  /// Prints `message`, unless a process of the job has printed one.
  void report(const std::string &message);

private:
  struct Shared;
  std::function<void(const std::string &message)> print;
  Shared *shared; ///< in memory that forked processes share
};

/// Runs one rank of `job` in this process and returns its exit code. After a
/// failure it does not return but leaves the process at once, since Gloo may
/// hold on to its threads.
int runRankProcess(const Job &job, const LaunchContext &context,
                   JobError &error);

/// Forks the ranks of `job` and returns the job's exit code. Requires that this
/// process has one thread.
int runLocalProcesses(const Job &job, JobError &error);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_PROCESSJOB_H
