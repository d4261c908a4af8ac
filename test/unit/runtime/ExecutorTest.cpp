//===- ExecutorTest.cpp - Runs the program of a plan ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Executor.h"
#include "runtime/Chunk.h"
#include "runtime/PlanVerifier.h"
#include "test/support/LocalRanks.h"
#include "test/support/PlanBuilder.h"

#include <gtest/gtest.h>
#include <mutex>
#include <random>

using namespace sfsdp::runtime;
using namespace sfsdp::test;

namespace {

std::vector<float> randomFloats(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values) {
    value = normal(random);
  }
  return values;
}

/// Index of the argument called `name` (and `slot`).
size_t argumentOf(const Plan &plan, const std::string &name,
                  const std::string &slot = "") {
  for (size_t index = 0; index < plan.arguments.size(); ++index) {
    if (plan.arguments[index].name == name &&
        plan.arguments[index].slot == slot) {
      return index;
    }
  }
  ADD_FAILURE() << "no argument " << name;
  return 0;
}

/// What a run of linearStep leaves: losses by step and rank, and the weight.
struct Outcome {
  std::vector<std::vector<float>> losses;
  std::vector<float> weight;
};

/// Trains linearStep for `steps`; every rank has its own batch.
Outcome train(const LinearStep &options, int steps = 5,
              ExecutorOptions executorOptions = {}) {
  Plan plan = linearStep(options);
  EXPECT_EQ(checkPlan(plan).message(), "");
  Outcome outcome;
  outcome.losses.resize(options.ranks);
  outcome.weight.resize(options.rows * options.columns);
  std::vector<float> whole =
      randomFloats(options.rows * options.columns, /*seed=*/1);
  int64_t chunk = chunkRows(options.rows, options.shard ? options.ranks : 1);
  Status status = onEachRank(
      plan,
      [&](LocalRank self) {
        Executor &executor = *self.executor;
        RowRange rows = options.shard
                            ? ownedRows(options.rows, options.ranks, self.rank)
                            : RowRange{0, options.rows};
        std::vector<float> shard(whole.begin() + rows.begin * options.columns,
                                 whole.begin() + rows.end * options.columns);
        TensorView weight = executor.argument(0);
        EXPECT_EQ(weight.sizes[0], chunk);
        setFloats(weight, shard);
        for (int step = 1; step <= steps; ++step) {
          uint32_t seed = 100 * step + self.rank;
          TensorView x = executor.argument(argumentOf(plan, "x"));
          TensorView target = executor.argument(argumentOf(plan, "target"));
          setFloats(x, randomFloats(x.elements(), seed));
          setFloats(target, randomFloats(target.elements(), seed + 50));
          if (Status run = executor.runStep(step, 0.01); !run.ok()) {
            return run;
          }
          outcome.losses[self.rank].push_back(
              floatsOf(executor.result(0)).front());
          // LibTorch makes 0-dim tensors of scalar arguments, 12 bytes each.
          EXPECT_LE(executor.memory().peakBytes, plan.predictedPeakBytes + 12);
          EXPECT_GE(executor.memory().peakBytes, plan.predictedPeakBytes);
        }
        std::vector<float> local = floatsOf(weight);
        for (size_t pad = rows.size() * options.columns; pad < local.size();
             ++pad) {
          EXPECT_EQ(local[pad], 0.0f);
        }
        std::copy_n(local.begin(), rows.size() * options.columns,
                    outcome.weight.begin() + rows.begin * options.columns);
        return Status();
      },
      executorOptions);
  EXPECT_EQ(status.message(), "");
  return outcome;
}

/// The error of preparing or running a plan of one kernel call on x [4, 2].
std::string errorOf(const std::string &name, const std::string &overload,
                    std::vector<KernelArgument> arguments,
                    NewTensor result = {{4, 2}}) {
  PlanBuilder builder;
  builder.argument(Role::Input, "x", {4, 2});
  builder.call(name, overload, std::move(arguments), {result});
  Plan plan = builder.finish();
  return onEachRank(plan,
                    [](LocalRank self) { return self.executor->runStep(1, 0); })
      .message();
}

} // namespace

TEST(Executor, ShardedAndReplicatedRanksTrainAlike) {
  for (int64_t ranks : {1, 2, 3, 8}) {
    for (const char *optimizer : {"adamw", "sgd"}) {
      Outcome shard = train({.ranks = ranks, .optimizer = optimizer});
      Outcome whole =
          train({.ranks = ranks, .shard = false, .optimizer = optimizer});
      EXPECT_EQ(shard.weight, whole.weight) << ranks << " " << optimizer;
      EXPECT_EQ(shard.losses, whole.losses) << ranks << " " << optimizer;
    }
  }
}

TEST(Executor, FreshAndFreedMemoryIsNeverRead) {
  ExecutorOptions poisoned;
  poisoned.fill = DebugFill::Nan;
  Outcome plain = train({.ranks = 2});
  Outcome filled = train({.ranks = 2}, 5, poisoned);
  EXPECT_EQ(plain.weight, filled.weight);
  EXPECT_EQ(plain.losses, filled.losses);
}

TEST(Executor, F43ReducedBufferLivesAsLongAsItIsNeeded) {
  PlanBuilder builder(2);
  ValueId a = builder.argument(Role::Input, "a", {2, 2});
  ValueId sum = builder.collective(CollectiveKind::AllReduce, a, 2);
  ValueId c = builder.call("aten::relu", "", {ValueRef{a}}, {{{2, 2}}})[0];
  ValueId product =
      builder.call("aten::mm", "", {ValueRef{c}, ValueRef{c}}, {{{2, 2}}})[0];
  ValueId total = builder.call(
      "aten::add", "Tensor", {ValueRef{product}, ValueRef{sum}}, {{{2, 2}}})[0];
  builder.result(Role::Output, "total", total, {2, 2});
  Plan plan = builder.finish();
  ASSERT_EQ(checkPlan(plan).message(), "");
  Status status = onEachRank(plan, [](LocalRank self) {
    setFloats(self.executor->argument(0), {-1, 2, 3, -4});
    Status run = self.executor->runStep(1, 0);
    EXPECT_EQ(floatsOf(self.executor->result(0)),
              (std::vector<float>{-2 + 6, 4, 6, -8 + 6}));
    return run;
  });
  EXPECT_EQ(status.message(), "");
}

TEST(Executor, F44ResultThatIsAViewOfAGather) {
  PlanBuilder builder(2);
  ValueId x = builder.argument(Role::Input, "x", {4, 4});
  ValueId whole = builder.collective(CollectiveKind::AllGather, x, 8);
  ValueId flat = builder.view("aten::view", "",
                              {ValueRef{whole}, std::vector<int64_t>{32}},
                              whole, {32}, {1});
  builder.result(Role::Output, "flat", flat, {32});
  Plan plan = builder.finish();
  ASSERT_EQ(checkPlan(plan).message(), "");
  Status status = onEachRank(plan, [](LocalRank self) {
    setFloats(self.executor->argument(0),
              std::vector<float>(16, static_cast<float>(self.rank)));
    Status run = self.executor->runStep(1, 0);
    std::vector<float> expected(32, 0.0f);
    std::fill(expected.begin() + 16, expected.end(), 1.0f);
    EXPECT_EQ(floatsOf(self.executor->result(0)), expected);
    return run;
  });
  EXPECT_EQ(status.message(), "");
}

TEST(Executor, F50ResultsMayAliasArgumentsAndEachOther) {
  PlanBuilder builder;
  ValueId x = builder.argument(Role::Input, "x", {2, 2});
  ValueId flat = builder.view(
      "aten::view", "", {ValueRef{x}, std::vector<int64_t>{-1}}, x, {4}, {1});
  builder.result(Role::Output, "flat", flat, {4});
  builder.result(Role::Output, "again", flat, {4});
  builder.result(Role::Output, "x", x, {2, 2});
  Plan plan = builder.finish();
  ASSERT_EQ(checkPlan(plan).message(), "");
  Status status = onEachRank(plan, [](LocalRank self) {
    setFloats(self.executor->argument(0), {1, 2, 3, 4});
    Status run = self.executor->runStep(1, 0);
    for (size_t index : {0, 1, 2}) {
      EXPECT_EQ(floatsOf(self.executor->result(index)),
                (std::vector<float>{1, 2, 3, 4}));
    }
    return run;
  });
  EXPECT_EQ(status.message(), "");
}

TEST(Executor, F60RankEntersAsARunTimeValueOnly) {
  // x + 10 * coordinate, and rows 2, 2, 2, 1 of 7 on 4 ranks.
  PlanBuilder builder(4);
  ValueId x = builder.argument(Role::Input, "x", {2});
  ScalarId coordinate = builder.scalar(ScalarOp::MeshCoordinate);
  ScalarId ten = builder.scalar(ScalarOp::Constant, {}, 10);
  ScalarId offset = builder.scalar(ScalarOp::Mul, {coordinate, ten});
  ScalarId rows = builder.scalar(ScalarOp::ValidRows);
  ValueId moved = builder.call("aten::add", "Scalar",
                               {ValueRef{x}, ScalarRef{offset}}, {{{2}}})[0];
  ValueId counted = builder.call("aten::add", "Scalar",
                                 {ValueRef{x}, ScalarRef{rows}}, {{{2}}})[0];
  builder.result(Role::Output, "moved", moved, {2});
  builder.result(Role::Output, "counted", counted, {2});
  Plan plan = builder.finish();
  plan.scalars[coordinate].axis = plan.scalars[rows].axis = "dp";
  plan.scalars[rows].rows = 7;
  ASSERT_EQ(checkPlan(plan).message(), "");
  Status status = onEachRank(plan, [](LocalRank self) {
    Status run = self.executor->runStep(1, 0);
    EXPECT_EQ(floatsOf(self.executor->result(0))[0], 10.0f * self.rank);
    EXPECT_EQ(floatsOf(self.executor->result(1))[1], self.rank < 3 ? 2.f : 1.f);
    return run;
  });
  EXPECT_EQ(status.message(), "");
}

TEST(Executor, ListsOfTensorsAsArgumentsAndResults) {
  PlanBuilder builder;
  ValueId x = builder.argument(Role::Input, "x", {4, 2});
  ValueId both = builder.call("aten::cat", "", {ValueRefs{{x, x}}, int64_t{1}},
                              {{{4, 4}}})[0];
  builder.result(Role::Output, "both", both, {4, 4});
  Plan plan = builder.finish();
  // split returns views, here of `both`
  plan.values.push_back(
      {plan.values[both].storage, DType::Float32, {2, 4}, {4, 1}, 0});
  plan.values.push_back(
      {plan.values[both].storage, DType::Float32, {2, 4}, {4, 1}, 8});
  plan.programs[0].instructions.push_back(
      {KernelCall{"aten::split",
                  "Tensor",
                  {ValueRef{both}, int64_t{2}},
                  {2, 3},
                  {},
                  {}},
       0});
  plan.results.push_back({Role::Output, "half", "", 3, {}, {2, 4}, {}});
  fillDerived(plan);
  ASSERT_EQ(checkPlan(plan).message(), "");
  Status status = onEachRank(plan, [](LocalRank self) {
    setFloats(self.executor->argument(0), {1, 2, 3, 4, 5, 6, 7, 8});
    Status run = self.executor->runStep(1, 0);
    EXPECT_EQ(floatsOf(self.executor->result(1)),
              (std::vector<float>{5, 6, 5, 6, 7, 8, 7, 8}));
    return run;
  });
  EXPECT_EQ(status.message(), "");
}

TEST(Executor, ANumberMayStandForATensor) {
  PlanBuilder builder;
  ValueId x = builder.argument(Role::Input, "x", {2});
  ValueId y =
      builder.call("aten::mul", "Tensor", {ValueRef{x}, 2.5}, {{{2}}})[0];
  ValueId z = builder.call("aten::add", "Tensor",
                           {ValueRef{y}, ValueRef{x}, 3.0}, {{{2}}})[0];
  builder.result(Role::Output, "z", z, {2});
  Plan plan = builder.finish();
  Status status = onEachRank(plan, [](LocalRank self) {
    setFloats(self.executor->argument(0), {2, 4});
    Status run = self.executor->runStep(1, 0);
    EXPECT_EQ(floatsOf(self.executor->result(0)),
              (std::vector<float>{5 + 6, 10 + 12}));
    return run;
  });
  EXPECT_EQ(status.message(), "");
}

TEST(Executor, RandomOperatorsAreSeededByWhatTheyDrawFor) {
  PlanBuilder builder(2);
  ValueId x = builder.argument(Role::Input, "x", {64});
  ValueId out =
      builder.call("aten::native_dropout", "", {ValueRef{x}, 0.5, true},
                   {{{64}}, {{64}, DType::Bool}})[0];
  builder.result(Role::Output, "out", out, {64});
  Plan plan = builder.finish();
  EXPECT_NE(onEachRank(plan, [](LocalRank) { return Status(); }).message(), "");
  std::get<KernelCall>(plan.programs[0].instructions[0].action).randomId = 7;
  std::mutex mutex;
  std::map<std::pair<int, int64_t>, std::vector<float>> drawn;
  for (int run : {0, 1}) {
    Status status = onEachRank(plan, [&](LocalRank self) {
      setFloats(self.executor->argument(0), std::vector<float>(64, 1));
      for (int64_t step : {2, 1}) {
        if (Status ran = self.executor->runStep(step, 0); !ran.ok()) {
          return ran;
        }
        std::vector<float> now = floatsOf(self.executor->result(0));
        std::lock_guard lock(mutex);
        auto [place, isNew] = drawn.try_emplace({self.rank, step}, now);
        EXPECT_EQ(isNew, run == 0);
        EXPECT_EQ(place->second, now);
      }
      return Status();
    });
    EXPECT_EQ(status.message(), "");
  }
  EXPECT_NE((drawn[{0, 1}]), (drawn[{0, 2}]));
  EXPECT_NE((drawn[{0, 1}]), (drawn[{1, 1}]));
}

TEST(Executor, TimesOfInstructionsAreOrdered) {
  Plan plan = linearStep({.ranks = 2});
  Status status = onEachRank(plan, [&](LocalRank self) {
    self.executor->recordTimes(true);
    Status run = self.executor->runStep(1, 0.01);
    const auto &times = self.executor->times();
    EXPECT_EQ(times.size(), plan.programs[0].instructions.size());
    for (size_t index = 1; index < times.size(); ++index) {
      EXPECT_LE(times[index - 1].endNs, times[index].beginNs);
    }
    EXPECT_LE(times[0].lane.beginNs, times[0].lane.endNs);
    return run;
  });
  EXPECT_EQ(status.message(), "");
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

TEST(Executor, OperatorOutsideTheList) {
  EXPECT_EQ(errorOf("aten::from_file", "", {std::string("/etc/passwd")}),
            "train_step[0]: operator aten::from_file is not among those that a "
            "plan may call; if it is yours, pass its schema with --allow-op");
}

TEST(Executor, OperatorThatDoesNotExist) {
  EXPECT_EQ(errorOf("aten::relu", "twice", {ValueRef{0}}),
            "train_step[0]: this LibTorch has no operator aten::relu.twice");
}

TEST(Executor, ArgumentOfTheWrongKind) {
  EXPECT_EQ(errorOf("aten::relu", "", {true}),
            "train_step[0]: aten::relu: argument 'self': expected Tensor, got "
            "a bool");
  EXPECT_EQ(errorOf("aten::mul", "Scalar", {ValueRef{0}, std::string("two")}),
            "train_step[0]: aten::mul.Scalar: argument 'other': expected "
            "Scalar, got a string");
  EXPECT_EQ(errorOf("aten::mul", "Tensor", {ValueRef{0}}),
            "train_step[0]: aten::mul.Tensor: argument 'other' is missing and "
            "has no default");
  EXPECT_EQ(errorOf("aten::relu", "", {ValueRef{0}, int64_t{1}}),
            "train_step[0]: aten::relu: takes 1 arguments, got 2");
}

TEST(Executor, KernelThatFailsIsNamed) {
  std::string message =
      errorOf("aten::mm", "", {ValueRef{0}, ValueRef{0}}, {{4, 4}});
  EXPECT_EQ(message.find("step 1, train_step[0] (aten::mm): "), 0u) << message;
}

TEST(Executor, ResultOfAnotherShape) {
  std::string message = errorOf("aten::relu", "", {ValueRef{0}}, {{2, 4}});
  EXPECT_EQ(message.find("step 1, train_step[0] (aten::relu): result %1 is "
                         "Float[4, 2] with strides [2, 1] at 0, the plan "
                         "expects f32[2, 4]"),
            0u)
      << message;
}

TEST(Executor, ViewWhereThePlanExpectsACopyAndViceVersa) {
  std::string message = errorOf(
      "aten::view", "", {ValueRef{0}, std::vector<int64_t>{4, 2}}, {{4, 2}});
  EXPECT_NE(message.find("result %1: is a view of storage 0, the plan expects "
                         "memory of its own"),
            std::string::npos)
      << message;
  PlanBuilder builder;
  ValueId x = builder.argument(Role::Input, "x", {4, 2});
  builder.view("aten::clone", "", {ValueRef{x}}, x, {4, 2}, {2, 1});
  Plan plan = builder.finish();
  message = onEachRank(plan, [](LocalRank self) {
              return self.executor->runStep(1, 0);
            }).message();
  EXPECT_NE(message.find("lies in memory of its own, the plan expects a view "
                         "of storage 0"),
            std::string::npos)
      << message;
}

TEST(Executor, OtherDevicesAreRefused) {
  Plan plan = linearStep();
  plan.header.device = "cuda";
  auto executor = Executor::make(plan, MeshPosition(plan.header.mesh, 0),
                                 [](auto &) { return nullptr; });
  EXPECT_EQ(executor.message(), "the plan is for device 'cuda', this build "
                                "runs plans for cpu only");
}
