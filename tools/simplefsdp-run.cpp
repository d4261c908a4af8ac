//===- simplefsdp-run.cpp - Trains a plan
//----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses how ranks are started, and nothing else. Exit codes: 0 success, 1 bad
// input or a failed check, 2 wrong usage.
//
//===----------------------------------------------------------------------===//

#include "runtime/LocalJob.h"
#include "runtime/ProcessJob.h"

#include <cstdio>

using namespace sfsdp::runtime;

static int runJob(const Job &job, JobError &error) {
  const RunOptions &options = job.options;
  bool single = job.rankCount() == 1;
  bool asThreads =
      options.backend == Backend::Local || !options.checkAgainst.empty();
  if (options.localRanks > 0 || asThreads) {
    if (asThreads || (single && options.backend == Backend::Auto)) {
      Status status = runLocalJob(job);
      if (!status.ok()) {
        error.print(status.message());
      }
      return status.ok() ? 0 : 1;
    }
    return runLocalProcesses(job, error);
  }
  Expected<LaunchContext> context =
      contextFromEnvironment(processEnvironment());
  if (!context) {
    error.print(context.message());
    return 1;
  }
  if (context->worldSize != job.rankCount()) {
    error.print("the job has " + std::to_string(context->worldSize) +
                " ranks (" + context->launcher + "), the plan's mesh has " +
                std::to_string(job.rankCount()) +
                "; start as many, for example with -n " +
                std::to_string(job.rankCount()));
    return 1;
  }
  if (context->worldSize == 1 && options.backend == Backend::Auto) {
    Status status = runLocalJob(job);
    if (!status.ok()) {
      error.print(status.message());
    }
    return status.ok() ? 0 : 1;
  }
  return runRankProcess(job, *context, error);
}

int main(int argc, char **argv) {
  Expected<RunOptions> options =
      parseRunOptions(std::vector<std::string>(argv + 1, argv + argc));
  if (!options) {
    std::fprintf(stderr, "error: %s\n", options.message().c_str());
    return 2;
  }
  if (options->help) {
    std::fputs(runHelp().c_str(), stdout);
    return 0;
  }
  Expected<Job> job =
      prepareJob(std::move(*options), [](const std::string &note) {
        std::fprintf(stderr, "note: %s\n", note.c_str());
      });
  if (!job) {
    std::fprintf(stderr, "error: %s\n", job.message().c_str());
    return 1;
  }
  JobError error;
  return runJob(*job, error);
}
