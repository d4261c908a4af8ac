//===- Timeline.cpp - Who did what when -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Viewers compare begin + duration with the next begin in floating point, so a
// span is written one nanosecond shorter than it was: touching spans would
// otherwise overlap by a rounding.
//
// Tested by test/unit/runtime/TimelineTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Timeline.h"
#include "runtime/Json.h"
#include "runtime/PlanNames.h"

#include <algorithm>
#include <map>

using namespace sfsdp::runtime;

namespace {

constexpr std::string_view kKindNames[] = {"forward", "backward", "optimizer",
                                           "wait", "collective"};

SpanKind kindOf(Phase phase) {
  switch (phase) {
  case Phase::Backward:
    return SpanKind::Backward;
  case Phase::Optimizer:
    return SpanKind::Optimizer;
  case Phase::Forward:
  case Phase::None:
    break;
  }
  return SpanKind::Forward;
}

std::string nameOf(const CollectiveStart &start) {
  std::string name(spell(start.kind));
  const std::string &first = start.members.front().name;
  if (!first.empty()) {
    name += " " + first;
  }
  size_t others = start.members.size() - 1;
  return others > 0 ? name + " and " + std::to_string(others) + " more" : name;
}

std::string trackOf(const CollectiveStart &start) {
  std::string track = "group";
  for (const std::string &axis : start.axes) {
    track += " " + axis;
  }
  return track;
}

/// Makes the spans of one rank and step.
class Recorder {
public:
  Recorder(const Plan &plan, int64_t rank, int64_t step,
           std::vector<Span> &spans)
      : plan(plan), rank(rank), step(step), spans(spans) {}

  void add(int64_t index, const Instruction &instruction,
           const InstructionTime &time) {
    const Provenance &from = plan.provenance[instruction.provenance];
    Span span;
    span.rank = rank;
    span.step = step;
    span.instruction = index;
    span.module = from.module;
    span.track = "kernels";
    span.beginNs = time.beginNs;
    span.endNs = time.endNs;
    if (const auto *kernel = std::get_if<KernelCall>(&instruction.action)) {
      span.kind = kindOf(from.phase);
      span.name = kernel->name;
      push(std::move(span));
    } else if (const auto *wait =
                   std::get_if<CollectiveWait>(&instruction.action)) {
      span.kind = SpanKind::Wait;
      span.name = "wait " + ::nameOf(startAt(wait->start));
      push(std::move(span));
    } else if (const auto *start =
                   std::get_if<CollectiveStart>(&instruction.action)) {
      span.kind = SpanKind::Collective;
      span.name = ::nameOf(*start);
      span.track = trackOf(*start);
      span.beginNs = time.lane.beginNs;
      span.endNs = time.lane.endNs;
      push(std::move(span));
    }
  }

private:
  const CollectiveStart &startAt(int64_t position) const {
    return std::get<CollectiveStart>(
        plan.programs.back().instructions[position].action);
  }

  /// Cuts off what a neighbour on the track already covers.
  void push(Span span) {
    int64_t &covered = coveredUntil[span.track];
    span.beginNs = std::max(span.beginNs, covered);
    span.endNs = std::max(span.endNs, span.beginNs);
    covered = span.endNs;
    spans.push_back(std::move(span));
  }

  const Plan &plan;
  int64_t rank;
  int64_t step;
  std::vector<Span> &spans;
  std::map<std::string, int64_t> coveredUntil;
};

} // namespace

std::string_view sfsdp::runtime::nameOf(SpanKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

void sfsdp::runtime::appendSpans(const Plan &plan, int64_t rank, int64_t step,
                                 const std::vector<InstructionTime> &times,
                                 std::vector<Span> &spans) {
  Recorder recorder(plan, rank, step, spans);
  for (size_t index = 0; index < times.size(); ++index) {
    recorder.add(static_cast<int64_t>(index),
                 plan.programs.back().instructions[index], times[index]);
  }
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

std::string sfsdp::runtime::writeSpans(const std::vector<Span> &spans) {
  Json list = Json::array();
  for (const Span &span : spans) {
    list.push(Json::Array{
        span.rank, span.track, static_cast<int64_t>(span.kind), span.name,
        span.module, span.step, span.instruction, span.beginNs, span.endNs});
  }
  return writeJson(list);
}

namespace sfsdp::runtime {

static Status readJson(JsonPlace place, Span &span) {
  Expected<std::vector<JsonPlace>> items = place.items();
  if (!items) {
    return items.status();
  }
  if (items->size() != 9) {
    return place.error("expected the nine parts of a span");
  }
  int64_t kind = 0;
  Status statuses[] = {readJson((*items)[0], span.rank),
                       readJson((*items)[1], span.track),
                       readJson((*items)[2], kind),
                       readJson((*items)[3], span.name),
                       readJson((*items)[4], span.module),
                       readJson((*items)[5], span.step),
                       readJson((*items)[6], span.instruction),
                       readJson((*items)[7], span.beginNs),
                       readJson((*items)[8], span.endNs)};
  for (const Status &status : statuses) {
    if (!status.ok()) {
      return status;
    }
  }
  span.kind = static_cast<SpanKind>(std::clamp<int64_t>(kind, 0, 4));
  return Status();
}

} // namespace sfsdp::runtime

Expected<std::vector<Span>> sfsdp::runtime::readSpans(const std::string &text) {
  Expected<JsonDocument> document = parseJson(text, "timeline");
  if (!document) {
    return document.status();
  }
  std::vector<Span> spans;
  if (Status status = readJson(document->root(), spans); !status.ok()) {
    return status;
  }
  return spans;
}

namespace {

/// A trace event of `phase` on a track.
Json event(const char *phase, int64_t rank, int64_t track, Json name) {
  Json row = Json::object();
  row.add("ph", phase);
  row.add("pid", rank);
  row.add("tid", track);
  row.add("name", std::move(name));
  return row;
}

Json nameEvent(const char *what, int64_t rank, int64_t track,
               const std::string &name) {
  Json row = event("M", rank, track, what);
  Json arguments = Json::object();
  arguments.add("name", name);
  row.add("args", std::move(arguments));
  return row;
}

Json spanEvent(const Span &span, int64_t track) {
  Json row = event("X", span.rank, track, span.name);
  row.add("cat", sfsdp::runtime::nameOf(span.kind));
  row.add("ts", static_cast<double>(span.beginNs) / 1e3);
  row.add("dur", static_cast<double>(
                     std::max<int64_t>(span.endNs - span.beginNs - 1, 0)) /
                     1e3);
  Json arguments = Json::object();
  arguments.add("id", span.instruction);
  arguments.add("step", span.step);
  arguments.add("module", span.module);
  row.add("args", std::move(arguments));
  return row;
}

} // namespace

std::string sfsdp::runtime::writeTrace(const std::vector<Span> &spans) {
  std::map<std::pair<int64_t, std::string>, int64_t> tracks;
  Json events = Json::array();
  for (const Span &span : spans) {
    auto [track, isNew] = tracks.try_emplace(
        {span.rank, span.track},
        span.track == "kernels" ? 0 : static_cast<int64_t>(tracks.size()) + 1);
    if (isNew) {
      events.push(nameEvent("process_name", span.rank, track->second,
                            "rank " + std::to_string(span.rank)));
      events.push(
          nameEvent("thread_name", span.rank, track->second, span.track));
    }
    events.push(spanEvent(span, track->second));
  }
  Json trace = Json::object();
  trace.add("displayTimeUnit", "ms");
  trace.add("traceEvents", std::move(events));
  return writeJson(trace, {2}) + "\n";
}
