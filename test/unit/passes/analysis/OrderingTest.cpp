//===- OrderingTest.cpp - Tests of start and wait positions ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests passes/analysis/Ordering.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/Ordering.h"

#include "test/support/RandomNodes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace sfsdp;
using namespace sfsdp::analysis;
using testing::HasSubstr;

namespace {

const Node kFree{};

Node needs(std::vector<NodeId> after) { return {std::move(after)}; }

Node collective(std::vector<NodeId> after = {}) {
  return {std::move(after), /*isBarrier=*/false, /*isCommunication=*/true};
}

const Node kBarrier{{}, /*isBarrier=*/true};

/// "0 1s 1w": node 0 whole, start and wait of node 1.
std::string print(const OrderingSolution &solution) {
  std::string text;
  for (const Step &step : solution.steps) {
    text += (text.empty() ? "" : " ") + std::to_string(step.node);
    text += step.part == Part::Start ? "s" : step.part == Part::Wait ? "w" : "";
  }
  return text;
}

std::string prefetched(const OrderingProblem &problem) {
  EXPECT_TRUE(problem.check().ok()) << problem.check().message();
  OrderingSolution solution = prefetchByOne(problem);
  EXPECT_TRUE(problem.verify(solution).ok())
      << problem.verify(solution).message();
  return print(solution);
}

constexpr bool kGather = false, kReduction = true, kMayMove = true;

} // namespace

//===----------------------------------------------------------------------===//
// Solvers
//===----------------------------------------------------------------------===//

TEST(Ordering, WaitAtOnceKeepsTheOrder) {
  OrderingProblem problem{{kFree, collective({0}), needs({1})},
                          {{1, kReduction}}};
  OrderingSolution solution = waitAtOnce(problem);
  EXPECT_EQ(print(solution), "0 1s 1w 2");
  EXPECT_TRUE(problem.verify(solution).ok());
}

TEST(Ordering, GathersStartOneAhead) {
  // gather, compute, gather, compute, gather, compute
  OrderingProblem problem{
      {collective(), needs({0}), collective(), needs({1, 2}), collective(),
       needs({3, 4})},
      {{0, kGather, kMayMove}, {2, kGather, kMayMove}, {4, kGather, kMayMove}}};
  EXPECT_EQ(prefetched(problem), "0s 2s 0w 1 4s 2w 3 4w 5");
}

TEST(Ordering, AStartTakesItsCastAlong) {
  OrderingProblem problem{
      {collective(), needs({0}), kFree, collective({2}), needs({1, 3})},
      {{0, kGather, kMayMove}, {3, kGather, kMayMove}}};
  EXPECT_EQ(prefetched(problem), "0s 2 3s 0w 1 3w 4");
}

TEST(Ordering, ReductionsAreAwaitedOneBehind) {
  // Thrice: gradient, reduction, update.
  OrderingProblem problem{{kFree, collective({0}), needs({1}), kFree,
                           collective({3}), needs({4}), kFree, collective({6}),
                           needs({7})},
                          {{1, kReduction, kMayMove},
                           {4, kReduction, kMayMove},
                           {7, kReduction, kMayMove}}};
  EXPECT_EQ(prefetched(problem), "0 1s 3 4s 1w 2 6 7s 4w 5 7w 8");
}

TEST(Ordering, F45AReductionIsAwaitedBeforeItsFirstUse) {
  OrderingProblem problem{{collective(), kFree, kFree, needs({0})},
                          {{0, kReduction}}};
  EXPECT_EQ(prefetched(problem), "0s 1 2 0w 3");
  problem.transfers[0].mayMove = true;
  EXPECT_EQ(prefetched(problem), "0s 1 2 0w 3");
}

TEST(Ordering, AReductionThatACollectiveNeedsIsNotDelayedPastIt) {
  // reduction, norm of it, all-reduce of the norm, other compute, update
  OrderingProblem problem{
      {collective(), needs({0}), collective({1}), kFree, needs({0, 2})},
      {{0, kReduction, kMayMove}, {2, kReduction}}};
  EXPECT_EQ(prefetched(problem), "0s 0w 1 2s 3 2w 4");
}

TEST(Ordering, AGatherThatMayNotMoveStays) {
  // gather and reader; then a norm, a gather of it that stays, and its reader
  OrderingProblem problem{
      {collective(), needs({0}), needs({1}), collective({2}), needs({3})},
      {{0, kGather, kMayMove}, {3, kGather}}};
  EXPECT_EQ(prefetched(problem), "0s 0w 1 2 3s 3w 4");
  problem.transfers[1].mayMove = true;
  problem.nodes[2].after = {};
  problem.nodes[3].after = {};
  EXPECT_EQ(prefetched(problem), "0s 3s 0w 1 2 3w 4");
  problem.transfers[1].mayMove = false;
  EXPECT_EQ(prefetched(problem), "0s 0w 1 2 3s 3w 4");
}

TEST(Ordering, NothingCrossesABarrier) {
  OrderingProblem gathers{
      {collective(), needs({0}), kBarrier, collective(), needs({3})},
      {{0, kGather, kMayMove}, {3, kGather, kMayMove}}};
  EXPECT_EQ(prefetched(gathers), "0s 0w 1 2 3s 3w 4");
  OrderingProblem reductions{{collective(), needs({0}), kBarrier, kFree},
                             {{0, kReduction, kMayMove}}};
  EXPECT_EQ(prefetched(reductions), "0s 0w 1 2 3");
}

TEST(Ordering, AnUpdateStaysBehindTheGatherThatReadsTheOldValue) {
  // gather of w, its reader, update of w (after the gather)
  OrderingProblem problem{{collective(), kFree, needs({0}), needs({0, 1})},
                          {{0, kGather, kMayMove}}};
  EXPECT_EQ(prefetched(problem), "0s 1 0w 2 3");
}

TEST(Ordering, RandomProgramsGiveValidSolutions) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 3000; ++trial) {
    OrderingProblem problem{test::randomNodes(random, 2 + random() % 40), {}};
    for (NodeId node = 0; node < problem.nodes.size(); ++node) {
      if (problem.nodes[node].isCommunication && random() % 5 != 0) {
        problem.transfers.push_back(
            {node, random() % 2 == 0, random() % 2 == 0});
      }
    }
    prefetched(problem);
    ASSERT_TRUE(problem.verify(waitAtOnce(problem)).ok());
    ASSERT_FALSE(HasFailure()) << "trial " << trial;
  }
}

//===----------------------------------------------------------------------===//
// Check and verify
//===----------------------------------------------------------------------===//

TEST(Ordering, CheckRefusesMalformedProblems) {
  auto message = [](OrderingProblem problem) {
    return problem.check().message();
  };
  EXPECT_THAT(message({{needs({0})}, {}}), HasSubstr("after earlier nodes"));
  EXPECT_THAT(message({{kFree}, {{0}}}), HasSubstr("expected collectives"));
  EXPECT_THAT(message({{collective()}, {{0}, {0}}}), HasSubstr("ascending"));
  EXPECT_THAT(message({{collective()}, {{1}}}), HasSubstr("got node 1"));
}

TEST(Ordering, VerifyRefusesWrongSolutions) {
  // collective, its reader, barrier, free node
  OrderingProblem problem{{collective(), needs({0}), kBarrier, kFree},
                          {{0, kGather, kMayMove}}};
  constexpr Part whole = Part::Whole, start = Part::Start, wait = Part::Wait;
  auto message = [&](std::vector<Step> steps) {
    return problem.verify({std::move(steps)}).message();
  };
  EXPECT_EQ(message({{0, start}, {0, wait}, {1}, {2}, {3}}), "");
  EXPECT_THAT(message({{0, whole}, {1}, {2}, {3}}), HasSubstr("its own form"));
  EXPECT_THAT(message({{0, start}, {0, wait}, {1, start}, {1, wait}, {2}, {3}}),
              HasSubstr("its own form"));
  EXPECT_THAT(message({{0, start}, {1}, {2}, {3}}), HasSubstr("to the end"));
  EXPECT_THAT(message({{0, wait}, {0, start}, {1}, {2}, {3}}),
              HasSubstr("out of turn"));
  EXPECT_THAT(message({{0, start}, {0, wait}, {0, wait}, {1}, {2}, {3}}),
              HasSubstr("again"));
  EXPECT_THAT(message({{0, start}, {1}, {0, wait}, {2}, {3}}),
              HasSubstr("to end before node 1"));
  EXPECT_THAT(message({{0, start}, {0, wait}, {1}, {3}, {2}}),
              HasSubstr("moved before it"));
  EXPECT_THAT(message({{0, start}, {0, wait}, {2}, {1}, {3}}),
              HasSubstr("moved behind it"));
  EXPECT_THAT(message({{0, start}, {0, wait}, {1}, {2}}),
              HasSubstr("to the end"));
}

TEST(Ordering, VerifyRefusesACollectiveInFlightOverABarrier) {
  OrderingProblem problem{{collective(), kBarrier}, {{0, kGather, kMayMove}}};
  EXPECT_THAT(
      problem.verify({{{0, Part::Start}, {1}, {0, Part::Wait}}}).message(),
      HasSubstr("cross barrier 1"));
}
