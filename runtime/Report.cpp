//===- Report.cpp - A run on one page -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Drawings are SVG in fixed coordinates; the browser scales them.
//
// Tested by test/unit/runtime/ReportTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

using namespace sfsdp::runtime;

namespace {

constexpr double kWidth = 1000;
constexpr double kCurveHeight = 200;
constexpr double kTrackHeight = 22;
constexpr double kMiB = 1 << 20;

std::string escaped(std::string_view text) {
  std::string result;
  for (char each : text) {
    switch (each) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += each;
    }
  }
  return result;
}

template <typename... Values>
std::string format(const char *pattern, Values... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, pattern, values...);
  return buffer;
}

std::string_view colorOf(SpanKind kind) {
  constexpr std::string_view kColors[] = {"#4c78a8", "#72b7b2", "#b279a2",
                                          "#e45756", "#f58518"};
  return kColors[static_cast<size_t>(kind)];
}

/// A line through `values` with its extremes written beside it.
std::string curve(const std::vector<double> &values, const char *unit) {
  if (values.empty()) {
    return "<p>nothing recorded</p>\n";
  }
  double least = values[0], most = values[0];
  for (double value : values) {
    least = std::min(least, std::isfinite(value) ? value : least);
    most = std::max(most, std::isfinite(value) ? value : most);
  }
  double range = most > least ? most - least : 1;
  double step =
      kWidth / static_cast<double>(std::max<size_t>(values.size() - 1, 1));
  std::string points;
  for (size_t index = 0; index < values.size(); ++index) {
    if (std::isfinite(values[index])) {
      points += format("%.1f,%.1f ", static_cast<double>(index) * step,
                       kCurveHeight * (most - values[index]) / range);
    }
  }
  return format("<svg viewBox=\"-5 -20 %.0f %.0f\">", kWidth + 10,
                kCurveHeight + 40) +
         "<polyline fill=\"none\" stroke=\"#4c78a8\" stroke-width=\"2\" "
         "points=\"" +
         points + "\"/>" +
         format(R"(<text x="0" y="-6">%.6g %s</text>)", most, unit) +
         format("<text x=\"0\" y=\"%.0f\">%.6g %s</text></svg>\n",
                kCurveHeight + 16, least, unit);
}

/// The spans of the last recorded step, one row per rank and track.
std::string timeline(const std::vector<Span> &spans) {
  int64_t last = 0;
  for (const Span &span : spans) {
    last = std::max(last, span.step);
  }
  std::map<std::pair<int64_t, std::string>, size_t> rows;
  int64_t begin = INT64_MAX, end = INT64_MIN;
  for (const Span &span : spans) {
    if (span.step == last) {
      rows.try_emplace({span.rank, span.track}, 0);
      begin = std::min(begin, span.beginNs);
      end = std::max(end, span.endNs);
    }
  }
  if (rows.empty()) {
    return "<p>nothing recorded</p>\n";
  }
  std::string text;
  size_t row = 0;
  for (auto &[track, number] : rows) {
    number = row++;
    text +=
        format(R"(<text x="0" y="%.0f">rank %lld %s</text>)",
               static_cast<double>(number) * kTrackHeight + 14,
               static_cast<long long>(track.first),
               escaped(std::string_view(track.second).substr(0, 40)).c_str());
  }
  constexpr double kLabels = 110;
  double scale = (kWidth - kLabels) / static_cast<double>(end - begin + 1);
  for (const Span &span : spans) {
    if (span.step != last) {
      continue;
    }
    double x = kLabels + static_cast<double>(span.beginNs - begin) * scale;
    double y =
        static_cast<double>(rows[{span.rank, span.track}]) * kTrackHeight;
    double width = static_cast<double>(span.endNs - span.beginNs) * scale;
    text += format("<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%.0f\" "
                   "fill=\"%s\">",
                   x, y, std::max(width, 0.05), kTrackHeight - 4,
                   std::string(colorOf(span.kind)).c_str()) +
            "<title>" + escaped(span.name) + " " + escaped(span.module) +
            format(" [%lld] %.1f us</title></rect>\n",
                   static_cast<long long>(span.instruction),
                   static_cast<double>(span.endNs - span.beginNs) / 1e3);
  }
  std::string legend;
  for (SpanKind kind :
       {SpanKind::Forward, SpanKind::Backward, SpanKind::Optimizer,
        SpanKind::Wait, SpanKind::Collective}) {
    legend += "<span style=\"color:" + std::string(colorOf(kind)) +
              "\">&#9632; " + std::string(nameOf(kind)) + "</span> ";
  }
  return "<p>" + legend +
         format("step %lld, %.3f ms</p>\n<svg viewBox=\"0 0 %.0f %.0f\">",
                static_cast<long long>(last),
                static_cast<double>(end - begin) / 1e6, kWidth,
                static_cast<double>(rows.size()) * kTrackHeight + 4) +
         text + "</svg>\n";
}

std::string row(const std::string &name, const std::string &value) {
  return "<tr><th>" + escaped(name) + "</th><td>" + escaped(value) +
         "</td></tr>\n";
}

std::string summary(const ReportContent &content) {
  const Job &job = content.job;
  std::string mesh;
  for (const MeshAxis &axis : job.plan.header.mesh.axes) {
    mesh += (mesh.empty() ? "" : ", ") + axis.name + ":" +
            std::to_string(axis.size);
  }
  std::string text =
      "<table>\n" + row("plan", job.planDigest.substr(0, 16)) +
      row("compiled by", job.plan.header.compiler) +
      row("options", job.plan.header.options) + row("mesh", mesh) +
      row("backend", content.backend) +
      row("threads per rank", std::to_string(job.options.threads)) +
      row("seed", std::to_string(job.options.seed));
  if (!content.steps.empty()) {
    const StepRecord &last = content.steps.back();
    double time = 0, exposed = 0, tokens = 0;
    for (const StepRecord &step : content.steps) {
      time += step.milliseconds;
      exposed += step.exposedMilliseconds;
      tokens += static_cast<double>(step.tokens);
    }
    text +=
        row("steps", std::to_string(content.steps.size())) +
        row("loss", format("%.6g to %.6g", content.steps[0].loss, last.loss)) +
        row("tokens/s", format("%.0f", 1e3 * tokens / time)) +
        row("exposed communication",
            format("%.1f %% of the time", 100 * exposed / time)) +
        row("peak memory of rank 0",
            format("%.2f MiB, predicted %.2f MiB",
                   static_cast<double>(last.peakBytes) / kMiB,
                   static_cast<double>(job.plan.predictedPeakBytes) / kMiB));
  }
  return text + "</table>\n";
}

/// The values that a kernel or a collective makes.
std::vector<ValueId> writtenBy(const Instruction &instruction) {
  std::vector<ValueId> values;
  if (const auto *kernel = std::get_if<KernelCall>(&instruction.action)) {
    for (std::optional<ValueId> id : kernel->results) {
      values.insert(values.end(), id ? 1 : 0, id.value_or(0));
    }
  }
  if (const auto *start = std::get_if<CollectiveStart>(&instruction.action)) {
    for (const CollectiveMemberRef &member : start->members) {
      values.push_back(member.output);
    }
  }
  return values;
}

/// Whether each storage is an argument's or begins in the last program.
std::vector<bool> storagesOfLastProgram(const Plan &plan) {
  std::vector<bool> found(plan.storages.size());
  for (size_t id = 0; id < plan.storages.size(); ++id) {
    found[id] = plan.storages[id].region == Region::Argument;
  }
  for (const Instruction &instruction : plan.programs.back().instructions) {
    for (ValueId id : writtenBy(instruction)) {
      found[plan.values[id].storage] = true;
    }
  }
  return found;
}

} // namespace

std::vector<int64_t> sfsdp::runtime::liveBytes(const Plan &plan) {
  size_t count = plan.programs.back().instructions.size();
  std::vector<bool> isOwn = storagesOfLastProgram(plan);
  std::vector<int64_t> change(count + 1, 0);
  for (size_t id = 0; id < plan.storages.size(); ++id) {
    const Storage &storage = plan.storages[id];
    if (!isOwn[id]) {
      continue;
    }
    change[storage.first] += storage.bytes;
    change[std::min<size_t>(storage.last + 1, count)] -= storage.bytes;
  }
  std::vector<int64_t> live(count, 0);
  int64_t now = 0;
  for (size_t index = 0; index < count; ++index) {
    live[index] = now += change[index];
  }
  return live;
}

std::string sfsdp::runtime::writeReport(const ReportContent &content) {
  std::vector<double> losses, memory;
  for (const StepRecord &step : content.steps) {
    losses.push_back(step.loss);
  }
  for (int64_t bytes : liveBytes(content.job.plan)) {
    memory.push_back(static_cast<double>(bytes) / kMiB);
  }
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<title>training run</title>\n<style>body{font:14px sans-serif;"
         "max-width:1100px;margin:2em auto}svg{width:100%;"
         "background:#fafafa}text{font-size:12px}th{text-align:left;"
         "padding-right:2em}</style></head><body>\n<h1>Training run</h1>\n" +
         summary(content) + "<h2>Loss by step</h2>\n" + curve(losses, "") +
         "<h2>Timeline of one step</h2>\n" + timeline(content.spans) +
         "<h2>Planned memory by instruction</h2>\n" + curve(memory, "MiB") +
         "</body></html>\n";
}
