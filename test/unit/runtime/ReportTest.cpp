//===- ReportTest.cpp - A run on one page ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Report.h"
#include "test/support/PlanBuilder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>

using namespace sfsdp::runtime;
using namespace sfsdp::test;

TEST(Report, LiveBytesPeakWhereThePlanSays) {
  Plan plan = linearStep({.ranks = 2, .optimizer = "none"});
  std::vector<int64_t> live = liveBytes(plan);
  ASSERT_EQ(live.size(), plan.programs[0].instructions.size());
  EXPECT_EQ(*std::max_element(live.begin(), live.end()),
            plan.predictedPeakBytes);
}

TEST(Report, ShowsWhatItIsGivenAndLoadsNothing) {
  Job job;
  job.plan = linearStep({.ranks = 2});
  job.plan.header.options = "<script>mode=fully_shard";
  std::vector<StepRecord> steps = {{1, 2.5, 0.1, 64, 10, 1, 100, 0},
                                   {2, 1.5, 0.1, 64, 10, 1, 100, 0}};
  std::vector<Span> spans = {{0, "kernels", SpanKind::Forward, "aten::mm",
                              "layers.0", 2, 3, 1000, 2000}};
  std::string page = writeReport({job, "local", steps, spans});
  EXPECT_NE(page.find("<polyline"), std::string::npos);
  EXPECT_NE(page.find("aten::mm layers.0 [3] 1.0 us"), std::string::npos);
  EXPECT_NE(page.find("2.5 to 1.5"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
}

TEST(Report, LongTracksAreCutBetweenCharacters) {
  Job job;
  job.plan = linearStep();
  std::vector<Span> spans = {{0, std::string(50, '&'), SpanKind::Collective,
                              "all_gather", "layers.0", 1, 1, 1000, 2000}};
  std::string page = writeReport({job, "local", {}, spans});
  std::string cut;
  for (int character = 0; character < 40; ++character) {
    cut += "&amp;";
  }
  EXPECT_NE(page.find("rank 0 " + cut + "</text>"), std::string::npos);
}

TEST(Report, LossesThatAreNoNumbersAndRunsWithoutSteps) {
  Job job;
  job.plan = linearStep();
  std::vector<StepRecord> steps = {
      {1, std::numeric_limits<double>::quiet_NaN(), 0, 0, 1, 0, 0, 0}};
  EXPECT_NE(writeReport({job, "local", steps, {}}).find("<svg"),
            std::string::npos);
  EXPECT_NE(writeReport({job, "local", {}, {}}).find("nothing recorded"),
            std::string::npos);
}
