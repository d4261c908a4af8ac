//===- PlanVerifierTest.cpp - A plan is safe to execute -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One broken plan per rule. linearStep() on two ranks, sharded, is:
//
//    0 start all_gather    1 wait 0     2 t      3 mm       4 free gathered
//    5 sub   6 free y      7 mul        8 mean   9 free d²  10 mul  11 free d
//   12 t    13 mm         14 free dy   15 start reduce_scatter  16 wait 15
//   17 free dw            18 adamw     19 free gradient
//
//===----------------------------------------------------------------------===//

#include "runtime/PlanVerifier.h"
#include "test/support/PlanBuilder.h"

#include <functional>
#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using namespace sfsdp::test;

namespace {

Plan goodPlan() { return linearStep({.ranks = 2}); }

std::vector<Instruction> &instructionsOf(Plan &plan) {
  return plan.programs[0].instructions;
}

KernelCall &kernelAt(Plan &plan, size_t position) {
  return std::get<KernelCall>(instructionsOf(plan)[position].action);
}

CollectiveStart &startAt(Plan &plan, size_t position) {
  return std::get<CollectiveStart>(instructionsOf(plan)[position].action);
}

/// Position of the only instruction of kind Action that `matches`.
template <typename Action>
size_t find(Plan &plan, const std::function<bool(const Action &)> &matches) {
  for (size_t at = 0; at < instructionsOf(plan).size(); ++at) {
    const auto *action = std::get_if<Action>(&instructionsOf(plan)[at].action);
    if (action && matches(*action)) {
      return at;
    }
  }
  ADD_FAILURE() << "no such instruction";
  return 0;
}

/// Moves an instruction; starts and waits keep their order.
void move(Plan &plan, size_t from, size_t to) {
  auto &list = instructionsOf(plan);
  Instruction moved = list[from];
  list.erase(list.begin() + static_cast<ptrdiff_t>(from));
  list.insert(list.begin() + static_cast<ptrdiff_t>(to), moved);
  for (Instruction &each : list) {
    if (auto *wait = std::get_if<CollectiveWait>(&each.action)) {
      auto start = static_cast<size_t>(wait->start);
      if (start > from && start <= to) {
        --wait->start;
      } else if (start < from && start >= to) {
        ++wait->start;
      }
    }
  }
  fillDerived(plan);
}

/// Expects that checkPlan's message holds `part`.
void expectError(const Plan &plan, const std::string &part) {
  Status status = checkPlan(plan);
  EXPECT_NE(status.message().find(part), std::string::npos)
      << "expected: " << part << "\ngot: " << status.message();
}

} // namespace

TEST(PlanVerifier, AcceptsWhatTheBuilderMakes) {
  for (int64_t ranks : {1, 2, 3, 8}) {
    for (bool shard : {true, false}) {
      for (const char *optimizer : {"adamw", "sgd", "none"}) {
        Plan plan = linearStep({.ranks = ranks,
                                .shard = shard,
                                .optimizer = optimizer,
                                .gradients = true});
        EXPECT_EQ(checkPlan(plan).message(), "");
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

TEST(PlanVerifier, ReadBeforeDefinition) {
  Plan plan = goodPlan();
  move(plan, 5, 3);
  expectError(plan, "train_step[3] (aten::sub): reads %7 before it is defined");
}

TEST(PlanVerifier, ReadBeforeWait) {
  Plan plan = goodPlan();
  move(plan, 1, 2);
  expectError(plan, "train_step[1] (aten::t): reads %5 while the collective "
                    "of instruction 0 writes it, expected its wait before");
}

TEST(PlanVerifier, WaitWithoutStart) {
  Plan plan = goodPlan();
  std::get<CollectiveWait>(instructionsOf(plan)[1].action).start = 3;
  expectError(plan, "train_step[1]: waits for instruction 3, which starts no "
                    "collective before");
}

TEST(PlanVerifier, WaitTwice) {
  Plan plan = goodPlan();
  instructionsOf(plan).push_back({CollectiveWait{0}, 0});
  expectError(plan, "waits for instruction 0 a second time");
}

TEST(PlanVerifier, StartWithoutWait) {
  Plan plan = goodPlan();
  instructionsOf(plan).erase(instructionsOf(plan).begin() + 16);
  instructionsOf(plan).resize(16);
  plan.results.clear();
  fillDerived(plan);
  expectError(plan, "the collective of instruction 15 is never waited for");
}

TEST(PlanVerifier, SecondDefinition) {
  Plan plan = goodPlan();
  kernelAt(plan, 7).results[0] = kernelAt(plan, 5).results[0];
  expectError(plan, "defines %8 a second time");
}

TEST(PlanVerifier, SchedulePositions) {
  Plan plan = goodPlan();
  startAt(plan, 15).ready = 3;
  expectError(plan, "the collective of instruction 15 says ready 3 and needed "
                    "18, expected 13 and 18");
}

//===----------------------------------------------------------------------===//
// Lifetimes
//===----------------------------------------------------------------------===//

TEST(PlanVerifier, ReadAfterFree) {
  Plan plan = goodPlan();
  move(plan, 4, 3);
  expectError(plan, "train_step[4] (aten::mm): reads %6 after instruction 3 "
                    "freed storage 5");
}

TEST(PlanVerifier, F43FreeWhileInFlight) {
  Plan plan = goodPlan();
  move(plan, 17, 16);
  expectError(plan, "train_step[16]: frees storage 11 while the collective of "
                    "instruction 15 is in flight on it");
}

TEST(PlanVerifier, F20StagingBufferRefilledInFlight) {
  PlanBuilder builder(2);
  ValueId x = builder.argument(Role::Input, "x", {4, 2});
  ValueId staged = builder.call("aten::relu", "", {ValueRef{x}}, {{{4, 2}}})[0];
  std::vector<ValueId> outputs;
  int64_t start =
      builder.start(CollectiveKind::ReduceScatter, {staged}, {2}, outputs);
  builder.update("aten::mul_", {ValueRef{staged}, ValueRef{x}}, {staged});
  builder.wait(start);
  expectError(builder.finish(),
              "train_step[2] (aten::mul_): writes storage 1 while the "
              "collective of instruction 1 is in flight on it");
}

TEST(PlanVerifier, F20TwoBucketsInOneOutput) {
  PlanBuilder builder(2);
  ValueId x = builder.argument(Role::Input, "x", {4, 2});
  std::vector<ValueId> outputs;
  int64_t first =
      builder.start(CollectiveKind::ReduceScatter, {x}, {2}, outputs);
  int64_t second =
      builder.start(CollectiveKind::ReduceScatter, {x}, {2}, outputs);
  builder.wait(first);
  builder.wait(second);
  Plan plan = builder.finish();
  plan.values[outputs[1]].storage = plan.values[outputs[0]].storage;
  expectError(plan, "train_step[1] (reduce_scatter): output %2 lies on storage "
                    "1, which lives already");
}

TEST(PlanVerifier, FreeTwice) {
  Plan plan = goodPlan();
  instructionsOf(plan).push_back({Free{5}, 0});
  expectError(plan, "train_step[20]: frees storage 5 a second time");
}

TEST(PlanVerifier, FreeOfAnArgument) {
  Plan plan = goodPlan();
  instructionsOf(plan).push_back({Free{0}, 0});
  expectError(plan, "train_step[20]: frees storage 0, which holds an argument");
}

TEST(PlanVerifier, StorageThatIsNeverFreed) {
  Plan plan = goodPlan();
  instructionsOf(plan).pop_back();
  fillDerived(plan);
  expectError(plan, "is never freed and holds no result");
}

TEST(PlanVerifier, F44ResultThatIsAViewIsNotFreed) {
  // return flatten(wait(all_gather(x))), x [4, 4] on 2 ranks
  PlanBuilder builder(2);
  ValueId x = builder.argument(Role::Input, "x", {4, 4});
  ValueId whole = builder.collective(CollectiveKind::AllGather, x, 8);
  ValueId flat = builder.view("aten::view", "",
                              {ValueRef{whole}, std::vector<int64_t>{32}},
                              whole, {32}, {1});
  builder.result(Role::Output, "flat", flat, {32});
  Plan plan = builder.finish();
  EXPECT_EQ(checkPlan(plan).message(), "");
  instructionsOf(plan).push_back({Free{plan.values[flat].storage}, 0});
  fillDerived(plan);
  expectError(plan, "result 0 ('flat', %2) was freed by instruction 3");
}

TEST(PlanVerifier, LifetimeRows) {
  Plan plan = goodPlan();
  ++plan.storages[6].first;
  expectError(plan, "storage 6 begins here, its table row says instruction 4");
  plan = goodPlan();
  ++plan.storages[6].last;
  expectError(plan, "storage 6 ends here, its table row says instruction 7");
}

//===----------------------------------------------------------------------===//
// Aliasing
//===----------------------------------------------------------------------===//

TEST(PlanVerifier, OldParameterAfterItsUpdate) {
  Plan plan = goodPlan();
  auto &list = instructionsOf(plan);
  KernelCall late{"aten::t", "", {ValueRef{0}}, {}, {}, {}};
  list.insert(list.begin() + 19, Instruction{late, 0});
  fillDerived(plan);
  expectError(plan, "train_step[19] (aten::t): reads %0 after instruction 18 "
                    "overwrote storage 0");
}

TEST(PlanVerifier, UpdateThatNoResultNames) {
  Plan plan = goodPlan();
  plan.results.pop_back();
  expectError(plan, "argument 'linear.weight' is written, but no result "
                    "updates it");
}

TEST(PlanVerifier, UpdateInAnotherPlace) {
  Plan plan = goodPlan();
  plan.results.back().value = kernelAt(plan, 18).results[1].value();
  expectError(plan, "results[3] updates argument 'linear.weight' and must lie "
                    "where it lies");
}

TEST(PlanVerifier, ResultOnAStrangersStorage) {
  Plan plan = goodPlan();
  plan.values[kernelAt(plan, 7).results[0].value()].storage = 0;
  plan.storages[0].bytes = 1024;
  expectError(plan, "train_step[7] (aten::mul): result %9 lies on storage 0, "
                    "where no argument of the kernel lies");
}

TEST(PlanVerifier, ValueOutsideItsStorage) {
  Plan plan = goodPlan();
  plan.values[8].offset = 1;
  expectError(plan, "value %8 ends at byte 116 of storage 7, which has 112");
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

TEST(PlanVerifier, F19ElementTypesDiffer) {
  Plan plan = goodPlan();
  plan.values[5].dtype = DType::Int32;
  expectError(plan, "train_step[0] (all_gather): member 0: takes elements of "
                    "f32 to i32, expected one element type");
}

TEST(PlanVerifier, F19RowsOfAGather) {
  Plan plan = goodPlan();
  plan.values[5].sizes[0] = 6; // ceil(6 / 2) is 3, the chunk has 4 rows
  expectError(plan, "member 0: takes [4, 3] to [6, 3], expected rows split "
                    "over 2 ranks by the chunk rule");
}

TEST(PlanVerifier, F08TransposedInput) {
  Plan plan = goodPlan();
  plan.values[startAt(plan, 15).members[0].input].strides = {1, 7};
  expectError(plan, "train_step[15] (reduce_scatter): member 0: input of shape "
                    "[7, 3] has strides [1, 7], expected a contiguous tensor");
}

TEST(PlanVerifier, GatherNeedsRoomForItsPadding) {
  Plan plan = goodPlan();
  plan.storages[5].bytes = 84; // 7 true rows of 3 f32, 8 are written
  fillDerived(plan);
  expectError(plan, "padding included, into storage 5 of 84 bytes, expected "
                    "96");
}

TEST(PlanVerifier, TrafficOfACollective) {
  Plan plan = goodPlan();
  startAt(plan, 0).bytesReceived = 96;
  expectError(plan, "says that a rank receives 96 bytes, the members make 48");
}

TEST(PlanVerifier, AxesOfACollective) {
  Plan plan = goodPlan();
  startAt(plan, 0).axes = {"tp"};
  expectError(plan, "expected axes of the mesh, outermost first, got 'tp'");
}

TEST(PlanVerifier, DivisorOfAGather) {
  Plan plan = goodPlan();
  startAt(plan, 0).divisor = 2;
  expectError(plan, "only reductions of floating-point tensors divide");
  startAt(plan, 0).divisor = 0;
  expectError(plan, "expected a positive divisor");
}

//===----------------------------------------------------------------------===//
// Memory, shapes, tables
//===----------------------------------------------------------------------===//

TEST(PlanVerifier, PeakIsRecomputed) {
  Plan plan = goodPlan();
  plan.predictedPeakBytes -= 4;
  expectError(plan, "the plan predicts a peak of ");
  plan = goodPlan();
  kernelAt(plan, 3).cost.workspaceBytes = 1 << 20;
  expectError(plan, "its instructions make ");
}

TEST(PlanVerifier, LocalShapesFollowThePlacement) {
  Plan plan = goodPlan();
  plan.arguments[0].globalShape = {9, 3};
  expectError(plan, "arguments[0] 'linear.weight' of global shape [9, 3] has "
                    "local shape [4, 3], expected [5, 3] by its placement");
}

TEST(PlanVerifier, ArgumentsHaveTheirOwnStorage) {
  Plan plan = goodPlan();
  plan.values[plan.arguments[1].value].storage = 0;
  expectError(plan, "arguments[1]: expected a storage of region argument for "
                    "'linear.weight' alone, got storage 0");
}

TEST(PlanVerifier, RolesOfArguments) {
  Plan plan = goodPlan();
  plan.arguments[3].role = Role::Loss;
  expectError(plan, "arguments[3]: role loss belongs to results");
  plan = goodPlan();
  plan.arguments[4].name = "x";
  expectError(plan, "arguments[4]: 'x' occurs twice");
}

TEST(PlanVerifier, TwoLosses) {
  Plan plan = goodPlan();
  plan.results.push_back(plan.results[0]);
  expectError(plan, "results[4]: expected one loss");
}

TEST(PlanVerifier, ResultsOfClipping) {
  auto expectRefused = [](Role role, const std::string &message) {
    Plan plan = goodPlan();
    plan.results[0].role = role; // a loss, 0-dim f32
    plan.results[0].name = "clipping";
    if (message.empty()) {
      EXPECT_EQ(checkPlan(plan).message(), "");
    } else {
      expectError(plan, message);
    }
    plan.results.push_back(plan.results[0]);
    expectError(plan, message.empty() ? "results[4]: role gradient_norm occurs "
                                        "twice"
                                      : message);
  };
  expectRefused(Role::GradientNorm, "");
  expectRefused(Role::Applied, "results[0]: expected a result of role applied "
                               "to be a 0-dim tensor of bool, got [] of f32");
  expectRefused(Role::ChunkNorms,
                "results[0]: expected a result of role chunk_norms to be a "
                "1-dim tensor of floats, got [] of f32");
}

TEST(PlanVerifier, F58RankListIsAPermutation) {
  Plan plan = goodPlan();
  plan.header.mesh.ranks = {1, 0};
  EXPECT_EQ(checkPlan(plan).message(), "");
  plan.header.mesh.ranks = {0, 0};
  expectError(plan, "the mesh's rank list must hold each of 0 to 1 once");
}

TEST(PlanVerifier, ProgramsFollowFromMicroBatches) {
  Plan plan = goodPlan();
  plan.programs.push_back({"update", {}});
  expectError(plan, "the plan has 2 programs, expected 1 for 1 micro-batches");
  plan = goodPlan();
  plan.header.microBatches = 2;
  expectError(plan, "the plan has 1 programs, expected 2 for 2 micro-batches");
  plan.header.microBatches = 0;
  expectError(plan, "header.micro_batches: expected 1 to 1000000, got 0");
  plan.header.microBatches = INT64_MAX;
  expectError(plan, "header.micro_batches: expected 1 to 1000000, got "
                    "9223372036854775807");
}

TEST(PlanVerifier, AStorageBelongsToOneProgram) {
  Plan plan = goodPlan();
  plan.header.microBatches = 2;
  plan.programs.push_back(plan.programs.front());
  plan.programs.front().name = "micro_step";
  for (Result &result : plan.results) {
    result.program = 1;
  }
  std::string message = checkPlan(plan).message();
  EXPECT_NE(message, "");
  EXPECT_EQ(message.rfind("micro_step", 0), 0u) << message;
}

//===----------------------------------------------------------------------===//
// Proofs
//===----------------------------------------------------------------------===//

TEST(PlanProofs, RequiredOnesAreThereAndFitThePlan) {
  Plan plan = goodPlan();
  EXPECT_EQ(checkProofs(plan).message(),
            "the plan holds no proof of order; compile it with sfsdp-verify, "
            "or run it with --unproved");
  std::string digest = digestOf(plan);
  plan.header.proved = {{"order", digest}, {"memory", digest}};
  EXPECT_TRUE(checkProofs(plan).ok());
  plan.predictedPeakBytes += 4;
  EXPECT_NE(checkProofs(plan).message().find("it was changed after it was "
                                             "verified"),
            std::string::npos);
}
