//===- LifetimesTest.cpp - When memory is born and freed ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/analysis/Lifetimes.h"

#include <gtest/gtest.h>
#include <random>

using namespace sfsdp::analysis;
using namespace sfsdp::runtime;

namespace {

/// Adds a storage of `elements` f32 and a value that fills it.
ValueId addTensor(Plan &plan, int64_t elements, Region region) {
  Storage storage;
  storage.bytes = elements * 4;
  storage.region = region;
  plan.storages.push_back(storage);
  Value value;
  value.storage = plan.storages.size() - 1;
  value.sizes = {elements};
  value.strides = {1};
  plan.values.push_back(value);
  return plan.values.size() - 1;
}

Instruction kernel(std::vector<ValueId> operands, ValueId result,
                   int64_t workspaceBytes = 0) {
  KernelCall call;
  call.name = "aten::any";
  for (ValueId operand : operands) {
    call.arguments.push_back(ValueRef{operand});
  }
  call.results = {result};
  call.cost.workspaceBytes = workspaceBytes;
  return {call, 0};
}

Instruction gather(ValueId input, ValueId output) {
  CollectiveStart start;
  start.kind = CollectiveKind::AllGather;
  start.members = {{input, output, "w"}};
  start.needed = 2;
  return {start, 0};
}

/// x → gather → y → kernel → z, z is the result; bytes 40, 80, 20.
Plan gatherAndUse() {
  Plan plan;
  ValueId x = addTensor(plan, 10, Region::Argument);
  ValueId y = addTensor(plan, 20, Region::Arena);
  ValueId z = addTensor(plan, 5, Region::Private);
  Argument argument;
  argument.value = x;
  plan.arguments = {argument};
  Result result;
  result.value = z;
  plan.results = {result};
  plan.programs.push_back({"train_step",
                           {gather(x, y),
                            {CollectiveWait{0}, 0},
                            kernel({y}, z, /*workspaceBytes=*/7)}});
  return plan;
}

/// Chains of kernels over random earlier values.
Plan randomPlan(unsigned seed) {
  std::mt19937 random(seed);
  Plan plan;
  Argument argument;
  argument.value = addTensor(plan, 4, Region::Argument);
  plan.arguments = {argument};
  Program program{"train_step", {}};
  for (int i = 0; i < 30; ++i) {
    ValueId operand = random() % plan.values.size();
    ValueId result = addTensor(plan, 1 + random() % 50, Region::Private);
    program.instructions.push_back(kernel({operand}, result, random() % 9));
  }
  plan.programs = {program};
  Result result;
  result.value = plan.values.size() - 1;
  plan.results = {result};
  return plan;
}

/// The peak by simulation over explicit sets of live storages.
int64_t naivePeak(const Plan &plan) {
  int64_t peak = 0;
  const auto &instructions = plan.programs.front().instructions;
  for (size_t at = 0; at < instructions.size(); ++at) {
    int64_t live = 0;
    for (const Storage &storage : plan.storages) {
      bool alive = storage.first <= static_cast<int64_t>(at) &&
                   static_cast<int64_t>(at) <= storage.last;
      live += alive ? storage.bytes : 0;
    }
    auto *call = std::get_if<KernelCall>(&instructions[at].action);
    peak = std::max(peak, live + (call ? call->cost.workspaceBytes : 0));
  }
  return peak;
}

} // namespace

TEST(Lifetimes, FreesAfterTheLastUseAndKeepsResults) {
  Plan plan = gatherAndUse();
  assignLifetimes(plan);
  const auto &instructions = plan.programs.front().instructions;
  ASSERT_EQ(instructions.size(), 4u);
  EXPECT_EQ(std::get<Free>(instructions[3].action).storage, 1);
  EXPECT_EQ(plan.storages[1].first, 0);
  EXPECT_EQ(plan.storages[1].last, 3);
  EXPECT_EQ(plan.storages[2].last, 3);
  // 40 of the argument, 80 gathered, 20 of the result, 7 of workspace.
  EXPECT_EQ(plan.predictedPeakBytes, 40 + 80 + 20 + 7);
  EXPECT_TRUE(proveLifetimes(plan).ok()) << proveLifetimes(plan).message();
}

// The result of each program, 20 bytes, lives while the other one runs.
TEST(Lifetimes, ResultsOfOtherProgramsCount) {
  Plan plan = gatherAndUse();
  ValueId y = addTensor(plan, 20, Region::Arena);
  ValueId z = addTensor(plan, 5, Region::Private);
  plan.programs.push_back(
      {"last_micro_step",
       {gather(0, y), {CollectiveWait{0}, 0}, kernel({y}, z, 50)}});
  plan.results.push_back(plan.results.front());
  plan.results.back().value = z;
  plan.results.back().program = 1;
  assignLifetimes(plan);
  EXPECT_EQ(plan.programs[1].instructions.size(), 4u);
  EXPECT_EQ(plan.predictedPeakBytes, 40 + 80 + 20 + 50 + 20);
  EXPECT_TRUE(proveLifetimes(plan).ok()) << proveLifetimes(plan).message();
}

TEST(Lifetimes, HoldsTheOperandsOfACollectiveUntilItsWait) {
  Plan plan = gatherAndUse();
  ValueId shard = addTensor(plan, 10, Region::Arena);
  auto &instructions = plan.programs.front().instructions;
  instructions = {kernel({0}, shard),
                  gather(shard, 1),
                  kernel({0}, 2),
                  {CollectiveWait{1}, 0},
                  kernel({1}, 2)};
  assignLifetimes(plan);
  // Not after the start, at 1, but after the wait, at 3.
  EXPECT_EQ(plan.storages[3].last, 4);
  EXPECT_TRUE(proveLifetimes(plan).ok()) << proveLifetimes(plan).message();
}

TEST(Lifetimes, F43FreeingAnOperandInFlightIsFound) {
  Plan plan = gatherAndUse();
  ValueId shard = addTensor(plan, 10, Region::Arena);
  auto &instructions = plan.programs.front().instructions;
  instructions = {kernel({0}, shard),     gather(shard, 1), {Free{3}, 0},
                  {CollectiveWait{1}, 0}, kernel({1}, 2),   {Free{1}, 0}};
  Status proof = proveLifetimes(plan);
  EXPECT_EQ(proof.message(), "train_step instruction 2: frees storage 3 while "
                             "a collective holds it");
}

TEST(Lifetimes, EveryBrokenPlanIsFound) {
  Plan good = gatherAndUse();
  assignLifetimes(good);
  auto broken = [&](auto change) {
    Plan plan = good;
    change(plan, plan.programs.front().instructions);
    return proveLifetimes(plan).message();
  };
  using Instructions = std::vector<Instruction>;
  EXPECT_EQ(broken([](Plan &, Instructions &i) { i.erase(i.begin() + 1); }),
            "train_step instruction 1: reads value 1 on storage 1 before it is "
            "written");
  EXPECT_EQ(broken([](Plan &, Instructions &i) { std::swap(i[2], i[3]); }),
            "train_step instruction 3: reads value 1 on storage 1 after its "
            "free");
  EXPECT_EQ(broken([](Plan &, Instructions &i) { i.pop_back(); }),
            "train_step instruction 3: storage 1 is never freed");
  EXPECT_EQ(
      broken([](Plan &, Instructions &i) { i.push_back(i.back()); }),
      "train_step instruction 4: frees storage 1, expected it alive once");
  EXPECT_EQ(broken([](Plan &, Instructions &i) { i[3].action = Free{0}; }),
            "train_step instruction 3: frees storage 0 of an argument");
  EXPECT_EQ(
      broken([](Plan &plan, Instructions &) { ++plan.predictedPeakBytes; }),
      "the peak is 147 bytes, expected the predicted 148");
}

TEST(Lifetimes, RandomPlansAreProvedAndHaveTheNaivePeak) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    Plan plan = randomPlan(seed);
    assignLifetimes(plan);
    EXPECT_TRUE(proveLifetimes(plan).ok()) << proveLifetimes(plan).message();
    // The naive walk counts a storage at its Free too, as the definition says.
    EXPECT_EQ(plan.predictedPeakBytes, naivePeak(plan)) << "seed " << seed;
  }
}
