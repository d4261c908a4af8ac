//===- Report.h - A run on one page -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One HTML file that loads nothing: what ran, the loss curve, the timeline of
// the last step on every rank, and memory over the program.
//
// Tested by test/unit/runtime/ReportTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_REPORT_H
#define SFSDP_RUNTIME_REPORT_H

#include "runtime/RankRun.h"
#include "runtime/Timeline.h"

namespace sfsdp::runtime {

struct ReportContent {
  const Job &job;
  std::string backend;
  const std::vector<StepRecord> &steps;
  const std::vector<Span> &spans; ///< of all ranks
};

std::string writeReport(const ReportContent &content);

/// Bytes that live at each instruction of the plan's last program, arguments
/// included.
std::vector<int64_t> liveBytes(const Plan &plan);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_REPORT_H
