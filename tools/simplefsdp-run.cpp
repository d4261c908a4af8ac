//===- simplefsdp-run.cpp - Trains a plan ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses how ranks are started, and nothing else. Exit codes: 0 success, 1 bad
// input or a failed check, 2 wrong usage.
//
// Tested by test/e2e/bad-input.py and test/e2e/job-failures.py.
//
//===----------------------------------------------------------------------===//

#include "runtime/LocalJob.h"
#include "runtime/ProcessJob.h"

#include <cstdio>

using namespace sfsdp::runtime;

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

void printError(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
}

void printNote(const std::string &note) {
  std::fprintf(stderr, "note: %s\n", note.c_str());
}

void printProgress(const std::string &line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

int runThreads(const Job &job) {
  Status status = runLocalJob(job);
  if (!status.ok()) {
    printError(status.message());
  }
  return status.ok() ? 0 : kFailed;
}

/// Runs the rank that a launcher started as this process.
int runLaunchedRank(const Job &job, const LaunchContext &context) {
  if (context.worldSize != job.rankCount()) {
    printError("the job has " + std::to_string(context.worldSize) + " ranks (" +
               context.launcher + "), the plan's mesh has " +
               std::to_string(job.rankCount()) +
               "; start as many, for example with -n " +
               std::to_string(job.rankCount()));
    return kFailed;
  }
  JobError error(printError);
  return runRankProcess(job, context, error);
}

int runJob(const Job &job) {
  const RunOptions &options = job.options;
  if (options.backend == Backend::Local || !options.checkAgainst.empty()) {
    return runThreads(job);
  }
  bool mayBeThread = job.rankCount() == 1 && options.backend == Backend::Auto;
  if (options.localRanks > 0) {
    JobError error(printError);
    return mayBeThread ? runThreads(job) : runLocalProcesses(job, error);
  }
  Expected<LaunchContext> context =
      contextFromEnvironment(processEnvironment());
  if (!context) {
    printError(context.message());
    return kFailed;
  }
  return mayBeThread && context->worldSize == 1
             ? runThreads(job)
             : runLaunchedRank(job, *context);
}

} // namespace

int main(int argc, char **argv) {
  Expected<RunOptions> options =
      parseRunOptions(std::vector<std::string>(argv + 1, argv + argc));
  if (!options) {
    printError(options.message());
    return kWrongUsage;
  }
  if (options->help) {
    std::fputs(runHelp().c_str(), stdout);
    return 0;
  }
  Expected<Job> job = prepareJob(std::move(*options), printNote);
  if (!job) {
    printError(job.message());
    return kFailed;
  }
  job->show = printProgress;
  return runJob(*job);
}
