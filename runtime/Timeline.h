//===- Timeline.h - Who did what when ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the ranks did in the recorded steps, as spans on tracks: per rank one
// for its kernels and waits, and one per process group for what moved there.
// Spans of a track are disjoint (F61). Ids are instruction numbers, so the
// simulator's timeline of the same plan can be laid beside it.
//
// Tested by test/unit/runtime/TimelineTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_TIMELINE_H
#define SFSDP_RUNTIME_TIMELINE_H

#include "runtime/Executor.h"

namespace sfsdp::runtime {

/// What fills a span, for colours and filters.
enum class SpanKind : uint8_t {
  Forward,
  Backward,
  Optimizer,
  Wait,
  Collective,
};

std::string_view nameOf(SpanKind kind);

struct Span {
  int64_t rank = 0;
  std::string track; ///< "kernels", or "group dp"
  SpanKind kind = SpanKind::Forward;
  std::string name; ///< "aten::mm", "all_gather layers.0"
  std::string module;
  int64_t step = 0;
  int64_t instruction = 0;
  int64_t beginNs = 0; ///< steady clock of the rank's host
  int64_t endNs = 0;
};

/// Appends the spans of one step. Starts and frees take no time and are left
/// out.
void appendSpans(const Plan &plan, int64_t rank, int64_t step,
                 const std::vector<InstructionTime> &times,
                 std::vector<Span> &spans);

/// Spans as text and back, to collect them from all ranks.
std::string writeSpans(const std::vector<Span> &spans);
Expected<std::vector<Span>> readSpans(const std::string &text);

/// The Chrome trace format, which Perfetto reads too: one process per rank, one
/// thread per track, microseconds.
std::string writeTrace(const std::vector<Span> &spans);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_TIMELINE_H
