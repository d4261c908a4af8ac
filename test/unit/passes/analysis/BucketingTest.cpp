//===- BucketingTest.cpp - Tests of bucketing -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests passes/analysis/Bucketing.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/Bucketing.h"

#include "test/support/RandomNodes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace sfsdp;
using namespace sfsdp::analysis;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

const Node kFree{};

Node needs(std::vector<NodeId> after) { return {std::move(after)}; }

Node collective(std::vector<NodeId> after = {}) {
  return {std::move(after), /*isBarrier=*/false, /*isCommunication=*/true};
}

const Node kBarrier{{}, /*isBarrier=*/true};

/// Members of group 0, ranked in program order.
BucketingProblem oneGroup(std::vector<Node> nodes, bool isReduction) {
  BucketingProblem problem{std::move(nodes), {}};
  for (NodeId node = 0; node < problem.nodes.size(); ++node) {
    if (problem.nodes[node].isCommunication) {
      auto rank = static_cast<uint32_t>(problem.members.size());
      problem.members.push_back({node, 0, rank, isReduction});
    }
  }
  return problem;
}

BucketingSolution solve(const BucketingProblem &problem) {
  EXPECT_TRUE(problem.check().ok()) << problem.check().message();
  BucketingSolution solution = mergeGroups(problem);
  runtime::Status verified = problem.verify(solution);
  EXPECT_TRUE(verified.ok()) << verified.message();
  return solution;
}

} // namespace

//===----------------------------------------------------------------------===//
// Solver
//===----------------------------------------------------------------------===//

TEST(Bucketing, GathersMeetAtTheFirstWithWhatTheyRead) {
  // gather, use, cast, gather of the cast, use
  BucketingSolution solution = solve(oneGroup(
      {collective(), needs({0}), kFree, collective({2}), needs({3})}, false));
  EXPECT_THAT(solution.buckets, ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(solution.order, ElementsAre(2, 0, 3, 1, 4));
}

TEST(Bucketing, ReductionsMeetAtTheLastAndPushTheirReadersDown) {
  // gradient, reduce, cast of it, gradient, reduce
  BucketingSolution solution = solve(oneGroup(
      {kFree, collective({0}), needs({1}), kFree, collective({3})}, true));
  EXPECT_THAT(solution.buckets, ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(solution.order, ElementsAre(0, 3, 1, 4, 2));
}

TEST(Bucketing, MembersStandInRegistrationOrder) {
  BucketingProblem problem =
      oneGroup({collective(), collective(), collective()}, true);
  problem.members[0].rank = 2;
  problem.members[2].rank = 0;
  BucketingSolution solution = solve(problem);
  EXPECT_THAT(solution.buckets, ElementsAre(ElementsAre(2, 1, 0)));
  EXPECT_THAT(solution.order, ElementsAre(2, 1, 0));
}

TEST(Bucketing, F33DependentGathersStayApart) {
  BucketingSolution solution =
      solve(oneGroup({collective(), needs({0}), collective({1})}, false));
  EXPECT_EQ(solution.buckets.size(), 2u);
  EXPECT_THAT(solution.order, ElementsAre(0, 1, 2));
}

TEST(Bucketing, F33DependentReductionsStayApart) {
  BucketingSolution solution =
      solve(oneGroup({collective(), needs({0}), collective({1})}, true));
  EXPECT_EQ(solution.buckets.size(), 2u);
}

TEST(Bucketing, F33ACastThatOnlyTheSecondGatherReadsIsNoCircle) {
  // The cast that feeds gather 2 is also the compute between the gathers.
  BucketingSolution solution = solve(oneGroup(
      {collective(), kFree, collective({1}), needs({0, 1, 2})}, false));
  EXPECT_EQ(solution.buckets.size(), 1u);
}

TEST(Bucketing, NothingCrossesABarrier) {
  for (bool isReduction : {false, true}) {
    BucketingSolution solution = solve(oneGroup(
        {collective(), collective(), kBarrier, collective()}, isReduction));
    EXPECT_THAT(solution.buckets,
                ElementsAre(ElementsAre(0, 1), ElementsAre(2)));
  }
}

TEST(Bucketing, ACollectiveThatNeedsAReductionEndsItsBucket) {
  // reduce 0, a norm of it that is reduced too (another kind), reduce 3
  BucketingProblem problem =
      oneGroup({collective(), needs({0}), collective({1}), collective()}, true);
  problem.members.erase(problem.members.begin() + 1);
  BucketingSolution solution = solve(problem);
  EXPECT_EQ(solution.buckets.size(), 2u);
  EXPECT_THAT(solution.order, ElementsAre(0, 1, 2, 3));
}

TEST(Bucketing, ReductionsInTwoStepsMeetInEachStep) {
  // hybrid_shard: a chunk is reduced within a replica, then over the replicas.
  BucketingProblem problem{
      {collective(), collective({0}), kFree, collective({2}), collective({3})},
      {{0, 0, 0, true}, {1, 1, 0, true}, {3, 0, 1, true}, {4, 1, 1, true}}};
  BucketingSolution solution = solve(problem);
  EXPECT_THAT(solution.buckets,
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EXPECT_THAT(solution.order, ElementsAre(2, 0, 3, 1, 4));
}

TEST(Bucketing, BucketsThatNeedEachOtherFallApart) {
  // a1; r1; r2 needs a1; a2 needs r1: the program of the header.
  BucketingProblem problem{
      {collective(), collective(), collective({0}), collective({1})},
      {{0, 0, 0, false}, {1, 1, 1, true}, {2, 1, 2, true}, {3, 0, 3, false}}};
  BucketingSolution solution = solve(problem);
  EXPECT_EQ(solution.buckets.size(), 3u);
}

TEST(Bucketing, RandomProgramsGiveValidSolutions) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 3000; ++trial) {
    BucketingProblem problem{test::randomNodes(random, 2 + random() % 40), {}};
    for (NodeId node = 0; node < problem.nodes.size(); ++node) {
      if (problem.nodes[node].isCommunication && random() % 5 != 0) {
        uint32_t group = random() % 4;
        problem.members.push_back({node, group, node, group % 2 == 1});
      }
    }
    BucketingSolution solution = solve(problem);
    ASSERT_FALSE(HasFailure()) << "trial " << trial;
    EXPECT_LE(solution.buckets.size(), problem.members.size());
  }
}

//===----------------------------------------------------------------------===//
// Check and verify
//===----------------------------------------------------------------------===//

TEST(Bucketing, CheckRefusesMalformedProblems) {
  auto message = [](BucketingProblem problem) {
    return problem.check().message();
  };
  EXPECT_THAT(message({{needs({0})}, {}}), HasSubstr("after earlier nodes"));
  EXPECT_THAT(message({{kFree}, {{0}}}), HasSubstr("expected a collective"));
  EXPECT_THAT(message({{collective()}, {{1}}}), HasSubstr("ascending"));
  EXPECT_THAT(message({{collective()}, {{0}, {0}}}), HasSubstr("ascending"));
  EXPECT_THAT(message({{collective(), collective()},
                       {{0, 0, 0, false}, {1, 0, 1, true}}}),
              HasSubstr("one direction"));
}

TEST(Bucketing, VerifyRefusesWrongSolutions) {
  // gather 0, use of it, gather 2, gather 3 of another group, barrier
  BucketingProblem problem{
      {collective(), needs({0}), collective(), collective(), kBarrier, kFree},
      {{0, 0, 0, false}, {2, 0, 1, false}, {3, 1, 2, false}}};
  auto message = [&](std::vector<std::vector<uint32_t>> buckets,
                     std::vector<NodeId> order) {
    return problem.verify({std::move(buckets), std::move(order)}).message();
  };
  EXPECT_EQ(message({{0, 1}, {2}}, {0, 2, 1, 3, 4, 5}), "");
  EXPECT_THAT(message({{0, 1}}, {0, 2, 1, 3, 4, 5}),
              HasSubstr("every member in a bucket"));
  EXPECT_THAT(message({{0, 1}, {2}, {}}, {0, 2, 1, 3, 4, 5}),
              HasSubstr("expected members, got none"));
  EXPECT_THAT(message({{0, 1}, {2, 1}}, {0, 2, 1, 3, 4, 5}),
              HasSubstr("each member once"));
  EXPECT_THAT(message({{0, 7}}, {0, 2, 1, 3, 4, 5}),
              HasSubstr("expected a member"));
  EXPECT_THAT(message({{0, 2}, {1}}, {0, 3, 1, 2, 4, 5}),
              HasSubstr("one group"));
  EXPECT_THAT(message({{1, 0}, {2}}, {2, 0, 1, 3, 4, 5}),
              HasSubstr("registration order"));
  EXPECT_THAT(message({{0, 1}, {2}}, {0, 1, 2, 3, 4, 5}),
              HasSubstr("side by side"));
  EXPECT_THAT(message({{0}, {1}, {2}}, {1, 0, 2, 3, 4, 5}),
              HasSubstr("node 0 before node 1"));
  EXPECT_THAT(message({{0}, {1}, {2}}, {0, 1, 2, 4, 3, 5}),
              HasSubstr("cross barrier 4"));
  EXPECT_THAT(message({{0}, {1}, {2}}, {0, 1, 2, 3, 5, 4}),
              HasSubstr("cross barrier 4"));
  EXPECT_THAT(message({{0}, {1}, {2}}, {0, 1, 2, 3, 4}),
              HasSubstr("every node in the order"));
  EXPECT_THAT(message({{0}, {1}, {2}}, {0, 1, 2, 3, 4, 4}),
              HasSubstr("each node once"));
}

TEST(Bucketing, VerifyRefusesMembersThatNeedEachOther) {
  BucketingProblem problem{{collective(), collective({0})},
                           {{0, 0, 0, false}, {1, 0, 1, false}}};
  EXPECT_THAT(problem.verify({{{0, 1}}, {0, 1}}).message(),
              HasSubstr("node 0 before node 1"));
}
