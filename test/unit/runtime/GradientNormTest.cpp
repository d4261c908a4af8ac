//===- GradientNormTest.cpp - What a step says of its gradients -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step whose chunk norms are inputs: parameter "a" is sharded over two ranks,
// parameter "b" is whole.

#include "runtime/GradientNorm.h"
#include "test/support/PlanBuilder.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace sfsdp::runtime;
using namespace sfsdp::test;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

class NormStep {
public:
  NormStep() : plan(makePlan()), position(plan.header.mesh, 0) {
    auto made = Executor::make(plan, position, [](auto &) { return nullptr; });
    EXPECT_TRUE(made) << made.message();
    executor = std::move(*made);
  }

  /// Runs a step with these norms of the chunks of "a" and "b".
  GradientNorm run(int64_t step, std::array<float, 2> a,
                   std::array<float, 2> b) {
    set(kInputA, a);
    set(kInputB, b);
    Status status = executor->runStep(step, /*lr=*/0.1);
    EXPECT_TRUE(status.ok()) << status.message();
    auto norm = gradientNormOf(plan, position, *executor);
    EXPECT_TRUE(norm);
    return norm.value_or(GradientNorm());
  }

  /// What the last step took for its number.
  float stepSeen() {
    return *static_cast<float *>(executor->result(kStepResult).data);
  }

private:
  static constexpr size_t kInputA = 2, kInputB = 3, kStepResult = 4;

  static Plan makePlan() {
    PlanBuilder builder(/*ranks=*/2);
    builder.argument(Role::Parameter, "a", {4}, {{"dp", 0}});
    builder.argument(Role::Parameter, "b", {4});
    ValueId a = builder.argument(Role::Input, "norms a", {2});
    ValueId b = builder.argument(Role::Input, "norms b", {2});
    ValueId one = builder.argument(Role::Input, "one", {});
    ScalarId step = builder.scalar(ScalarOp::Step);
    auto copy = [&](ValueId value) {
      return builder.call("aten::clone", "", {ValueRef{value}},
                          {NewTensor{{2}}})[0];
    };
    ValueId ofA = copy(a), ofB = copy(b);
    ValueId total = builder.call("sfsdp::total_norm", "",
                                 {ValueRefs{{ofA, ofB}}}, {NewTensor{}})[0];
    ValueId applied = builder.call("sfsdp::is_finite", "", {ValueRef{total}},
                                   {NewTensor{{}, DType::Bool}})[0];
    ValueId seen =
        builder.call("aten::add", "Scalar", {ValueRef{one}, ScalarRef{step}},
                     {NewTensor{}})[0];
    builder.result(Role::GradientNorm, "grad_norm", total, {});
    builder.result(Role::Applied, "applied", applied, {});
    builder.result(Role::ChunkNorms, "a", ofA, {2});
    builder.result(Role::ChunkNorms, "b", ofB, {2});
    builder.result(Role::Output, "step", seen, {});
    return builder.finish();
  }

  void set(size_t index, const std::array<float, 2> &norms) {
    std::copy(norms.begin(), norms.end(),
              static_cast<float *>(executor->argument(index).data));
  }

  Plan plan;
  MeshPosition position;
  std::unique_ptr<Executor> executor;
};

} // namespace

TEST(GradientNorm, AFiniteNormHasNoOrigin) {
  NormStep step;
  GradientNorm norm = step.run(1, {3, 4}, {12, 0});
  EXPECT_EQ(norm.value, 13);
  EXPECT_TRUE(norm.applied);
  EXPECT_EQ(norm.origin, "");
}

TEST(GradientNorm, TheFirstLostParameterAndItsRankAreNamed) {
  NormStep step;
  GradientNorm norm = step.run(1, {3, kNaN}, {kNaN, 0});
  EXPECT_TRUE(std::isnan(norm.value));
  EXPECT_FALSE(norm.applied);
  EXPECT_EQ(norm.origin, "'a' on rank 1");
}

TEST(GradientNorm, AWholeParameterHasNoRank) {
  NormStep step;
  float infinity = std::numeric_limits<float>::infinity();
  GradientNorm norm = step.run(1, {3, 4}, {0, infinity});
  EXPECT_EQ(norm.value, infinity);
  EXPECT_EQ(norm.origin, "'b'");
}

TEST(GradientNorm, ANormBeyondItsTypeComesFromNoParameter) {
  NormStep step;
  GradientNorm norm = step.run(1, {3e38f, 0}, {3e38f, 0});
  EXPECT_TRUE(std::isinf(norm.value));
  EXPECT_EQ(norm.origin, "");
}

TEST(GradientNorm, StepsThatWereLeftOutDoNotCount) {
  NormStep step;
  auto seen = [&](int64_t number, float norm) {
    step.run(number, {norm, 0}, {0, 0});
    return step.stepSeen();
  };
  EXPECT_EQ(seen(1, 1), 1);
  EXPECT_EQ(seen(2, kNaN), 2);
  EXPECT_EQ(seen(3, kNaN), 2);
  EXPECT_EQ(seen(4, 1), 2);
  EXPECT_EQ(seen(5, 1), 3);
}

TEST(GradientNorm, APlanWithoutNormHasNone) {
  PlanBuilder builder;
  Plan empty = builder.finish();
  MeshPosition position(empty.header.mesh, 0);
  auto executor =
      Executor::make(empty, position, [](auto &) { return nullptr; });
  ASSERT_TRUE(executor) << executor.message();
  ASSERT_TRUE((*executor)->runStep(1, 0.1).ok());
  EXPECT_TRUE((*executor)->applied());
  EXPECT_FALSE(gradientNormOf(empty, position, **executor));
}
