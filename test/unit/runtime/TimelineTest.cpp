//===- TimelineTest.cpp - Who did what when -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Timeline.h"
#include "runtime/Json.h"
#include "test/support/PlanBuilder.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using namespace sfsdp::test;

namespace {

/// Every instruction takes 10 ns; lanes overlap the kernels.
std::vector<Span> spansOf(const Plan &plan) {
  std::vector<InstructionTime> times;
  for (size_t index = 0; index < plan.programs[0].instructions.size();
       ++index) {
    int64_t begin = 1000 + static_cast<int64_t>(index) * 10;
    times.push_back({begin, begin + 10, {begin + 5, begin + 25}});
  }
  std::vector<Span> spans;
  appendSpans(plan, /*rank=*/1, /*step=*/3, times, spans);
  return spans;
}

} // namespace

TEST(Timeline, KernelsWaitsAndCollectives) {
  Plan plan = linearStep({.ranks = 2});
  plan.provenance[0].module = "linear";
  std::vector<Span> spans = spansOf(plan);
  ASSERT_GT(spans.size(), 3u);
  EXPECT_EQ(spans[0].track, "group dp");
  EXPECT_EQ(spans[0].name, "all_gather");
  EXPECT_EQ(spans[0].beginNs, 1005);
  EXPECT_EQ(spans[1].kind, SpanKind::Wait);
  EXPECT_EQ(spans[2].name, "aten::t");
  EXPECT_EQ(spans[2].module, "linear");
  EXPECT_EQ(spans[2].instruction, 2);
}

TEST(Timeline, F61SpansOfATrackAreDisjoint) {
  PlanBuilder builder(2);
  ValueId x = builder.argument(Role::Input, "x", {4, 2});
  std::vector<ValueId> outputs;
  int64_t a = builder.start(CollectiveKind::AllGather, {x}, {8}, outputs);
  int64_t b = builder.start(CollectiveKind::AllGather, {x}, {8}, outputs);
  builder.wait(a);
  builder.wait(b);
  std::vector<Span> spans = spansOf(builder.finish());
  ASSERT_EQ(spans[0].track, spans[1].track);
  EXPECT_EQ(spans[0].endNs, 1025);
  EXPECT_EQ(spans[1].beginNs, 1025); // started at 1015, while the lane was busy
}

TEST(Timeline, TextsKeepSpans) {
  std::vector<Span> spans = spansOf(linearStep({.ranks = 2}));
  spans[0].name = "a \"quoted\" name";
  spans[1].name = "";
  auto read = readSpans(writeSpans(spans));
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(writeSpans(*read), writeSpans(spans));
  EXPECT_FALSE(readSpans("[[1, 2]]"));
}

TEST(Timeline, F61TraceIsValidJsonWithOneThreadPerTrack) {
  std::vector<Span> spans = spansOf(linearStep({.ranks = 2}));
  spans[0].name = "a \"quoted\" name";
  auto trace = parseJson(writeTrace(spans), "trace");
  ASSERT_TRUE(trace) << trace.message();
  const Json *events = trace->value.find("traceEvents");
  ASSERT_TRUE(events);
  std::map<int64_t, double> ends; // by thread
  for (const Json &event : *events->asArray()) {
    if (*event.find("ph")->asString() != "X") {
      continue;
    }
    double begin = *event.find("ts")->asDouble();
    int64_t thread = *event.find("tid")->asInteger();
    EXPECT_GE(begin, ends[thread]);
    ends[thread] = begin + *event.find("dur")->asDouble();
  }
  EXPECT_EQ(ends.size(), 2u);
}
