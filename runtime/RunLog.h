//===- RunLog.h - What rank 0 tells while and after it runs -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The progress line, the metrics file, and after the last step trace and
// report. Every rank has one, since timelines are collected from all; only
// rank 0's writes.
//
// Tested by test/unit/runtime/LocalJobTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_RUNLOG_H
#define SFSDP_RUNTIME_RUNLOG_H

#include "runtime/Profile.h"
#include "runtime/RankRun.h"
#include "runtime/Timeline.h"

#include <cstdio>

namespace sfsdp::runtime {

class RunLog {
public:
  /// On rank 0 opens the metrics file, and tries whether the files of the run's
  /// end can be written.
  static Expected<std::unique_ptr<RunLog>> make(const Job &job, int64_t rank,
                                                std::string backend);
  ~RunLog();

  /// Takes note of a step that `run` has just trained.
  Status add(const StepRecord &record, RankRun &run);

  /// Writes profile, trace and report; a collective call.
  Status finish(RankRun &run);

  /// The last step's mean loss.
  double lastLoss() const { return steps.empty() ? 0 : steps.back().loss; }

private:
  RunLog(const Job &job, int64_t rank, std::string backend)
      : job(job), rank(rank), backend(std::move(backend)) {}

  Status writeMetrics(const StepRecord &record);
  void showProgress(const StepRecord &record);
  void warnOfLoss(const StepRecord &record);
  void warnOfNorm(const StepRecord &record);
  void countLeftOut(const StepRecord &record);

  const Job &job;
  int64_t rank;
  std::string backend;
  std::FILE *metrics = nullptr;
  std::vector<StepRecord> steps;
  std::vector<Span> spans;
  KernelProfile profile;
  bool lossIsLost = false;
  bool normIsLost = false; ///< at the step before
  int64_t leftOut = 0;     ///< steps whose updates were not carried out
  double shownAt = 0;      ///< StepRecord::time of the last progress line
};

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_RUNLOG_H
