//===- RunLog.cpp - What rank 0 tells while and after it runs -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Metrics are flushed after every step: who watches the file sees the step, and
// a run that dies leaves what it did.
//
// Tested by test/unit/runtime/LocalJobTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/RunLog.h"
#include "runtime/Collect.h"
#include "runtime/File.h"
#include "runtime/Json.h"
#include "runtime/Report.h"

#include <cerrno>
#include <cmath>
#include <cstring>

using namespace sfsdp::runtime;

namespace {

/// Of progress lines, but for the first and last one.
constexpr double kSecondsBetweenLines = 1;

double perSecond(const StepRecord &record) {
  return record.milliseconds > 0
             ? 1e3 * static_cast<double>(record.tokens) / record.milliseconds
             : 0;
}

/// "  norm 1.25" for the progress line, if there is a norm.
std::string normText(const StepRecord &record) {
  char text[40] = "";
  if (record.gradientNorm) {
    std::snprintf(text, sizeof text, "  norm %.3g", record.gradientNorm->value);
  }
  return text;
}

/// Creates each file that is written after the last step, and drops it again:
/// a wrong path is an error before the training and not after it.
Status tryOutputs(const RunOptions &options) {
  for (const std::string *path :
       {&options.dump, &options.saveWeights, &options.trace, &options.profile,
        &options.report}) {
    if (path->empty()) {
      continue;
    }
    if (auto file = AtomicFile::create(*path); !file) {
      return file.status();
    }
  }
  return Status();
}

} // namespace

Expected<std::unique_ptr<RunLog>> RunLog::make(const Job &job, int64_t rank,
                                               std::string backend) {
  std::unique_ptr<RunLog> log(new RunLog(job, rank, std::move(backend)));
  if (rank != 0) {
    return log;
  }
  if (Status status = tryOutputs(job.options); !status.ok()) {
    return status;
  }
  const std::string &path = job.options.metrics;
  if (path.empty()) {
    return log;
  }
  log->metrics = std::fopen(path.c_str(), "w");
  if (!log->metrics) {
    return Status::error("cannot write " + path + ": " + std::strerror(errno));
  }
  return log;
}

RunLog::~RunLog() {
  if (metrics) {
    std::fclose(metrics);
  }
}

Status RunLog::writeMetrics(const StepRecord &record) {
  Json row = Json::object();
  row.add("step", record.step);
  row.add("loss", record.loss);
  row.add("lr", record.lr);
  const std::optional<GradientNorm> &norm = record.gradientNorm;
  row.add("grad_norm", norm ? Json(norm->value) : Json());
  row.add("applied", !norm || norm->applied);
  row.add("tokens", record.tokens);
  row.add("tokens_per_s", perSecond(record));
  row.add("step_ms", record.milliseconds);
  row.add("exposed_ms", record.exposedMilliseconds);
  row.add("peak_bytes", record.peakBytes);
  row.add("time", record.time);
  std::string line = writeJson(row) + "\n";
  bool written =
      std::fwrite(line.data(), 1, line.size(), metrics) == line.size() &&
      std::fflush(metrics) == 0;
  return written ? Status()
                 : Status::error("cannot write " + job.options.metrics + ": " +
                                 std::strerror(errno));
}

void RunLog::showProgress(const StepRecord &record) {
  bool isEnd = record.step == 1 || record.step == job.steps;
  if (!job.show || (!isEnd && record.time - shownAt < kSecondsBetweenLines)) {
    return;
  }
  shownAt = record.time;
  char line[200];
  std::snprintf(
      line, sizeof line,
      "step %lld/%lld  loss %.4f%s  %.0f tokens/s  exposed %.1f %%  "
      "peak %.1f MiB",
      static_cast<long long>(record.step), static_cast<long long>(job.steps),
      record.loss, normText(record).c_str(), perSecond(record),
      100 * record.exposedMilliseconds / std::max(record.milliseconds, 1e-9),
      static_cast<double>(record.peakBytes) / (1 << 20));
  job.show(line);
}

/// A loss that is no number stays none: said once, when it begins.
void RunLog::warnOfLoss(const StepRecord &record) {
  if (!job.show || lossIsLost || std::isfinite(record.loss)) {
    return;
  }
  lossIsLost = true;
  job.show("warning: the loss is " + std::to_string(record.loss) +
           " from step " + std::to_string(record.step) +
           " on; a smaller --lr may help");
}

/// Said when it begins, not again until the norm was finite in between.
void RunLog::warnOfNorm(const StepRecord &record) {
  const std::optional<GradientNorm> &norm = record.gradientNorm;
  bool isLost = norm && !std::isfinite(norm->value);
  if (job.show && isLost && !normIsLost) {
    job.show("warning: step " + std::to_string(record.step) +
             ": the gradient norm is " + std::to_string(norm->value) +
             (norm->origin.empty() ? "" : ", first in " + norm->origin) +
             (norm->applied ? "; compile with skip-nonfinite to leave such "
                              "updates out"
                            : "; its updates are left out"));
  }
  normIsLost = isLost;
}

void RunLog::countLeftOut(const StepRecord &record) {
  leftOut += record.gradientNorm && !record.gradientNorm->applied ? 1 : 0;
  if (job.show && leftOut > 0 && record.step == job.steps) {
    job.show("note: the updates of " + std::to_string(leftOut) + " of " +
             std::to_string(job.steps) +
             " steps were left out, as their gradient norm was not finite");
  }
}

Status RunLog::add(const StepRecord &record, RankRun &run) {
  steps.push_back(record);
  appendSpans(job.plan, rank, record.step, run.executor().times(), spans);
  profile.add(run.executor().times());
  if (rank != 0) {
    return Status();
  }
  warnOfLoss(record);
  warnOfNorm(record);
  showProgress(record);
  countLeftOut(record);
  return metrics ? writeMetrics(record) : Status();
}

Status RunLog::finish(RankRun &run) {
  const RunOptions &options = job.options;
  if (rank == 0 && !options.profile.empty()) {
    if (Status status = writeFile(options.profile, profile.write(job.plan));
        !status.ok()) {
      return status;
    }
  }
  if (options.trace.empty() && options.report.empty()) {
    return Status();
  }
  auto texts = collectTexts(writeSpans(spans), run.groups().world());
  if (!texts) {
    return texts.status();
  }
  if (rank != 0) {
    return Status();
  }
  std::vector<Span> all;
  for (const std::string &text : *texts) {
    auto part = readSpans(text);
    if (!part) {
      return part.status();
    }
    all.insert(all.end(), part->begin(), part->end());
  }
  Status status = options.trace.empty()
                      ? Status()
                      : writeFile(options.trace, writeTrace(all));
  if (!status.ok() || options.report.empty()) {
    return status;
  }
  return writeFile(options.report, writeReport({job, backend, steps, all}));
}
