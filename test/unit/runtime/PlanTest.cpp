//===- PlanTest.cpp - The file between compiler and runtime ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Plan.h"
#include "runtime/PlanNames.h"
#include "runtime/PlanVerifier.h"
#include "test/support/Mutate.h"
#include "test/support/PlanBuilder.h"
#include "test/support/TemporaryFolder.h"

#include <gtest/gtest.h>
#include <limits>

using namespace sfsdp::runtime;
using namespace sfsdp::test;

namespace {

/// A plan that uses every kind of row, argument and instruction.
Plan variedPlan() {
  PlanBuilder builder(2);
  ValueId x = builder.argument(Role::Input, "x", {4, 2});
  builder.call("aten::odd", "overload",
               {std::monostate(), ValueRef{x}, ValueRefs{{x, std::nullopt}},
                true, int64_t{-7}, 0.1, std::string("%no reference"),
                std::vector<bool>{true, false}, std::vector<int64_t>{},
                std::vector<int64_t>{3, -1}, std::vector<double>{0.5},
                DType::BFloat16, MemoryFormat::ChannelsLast,
                TensorLayoutKind::Strided, DeviceArgument(),
                std::numeric_limits<double>::infinity()},
               {{{4, 2}}});
  builder.collective(CollectiveKind::AllReduce, x, 4, 3);
  builder.scalar(ScalarOp::Constant, {}, 0.1);
  Plan plan = builder.finish();
  plan.header.inputs = {{"step.pt2", "00ff"}};
  plan.header.options = "mesh=dp:2 mode=\"replicate\"";
  plan.header.mesh.ranks = {1, 0};
  plan.header.proved = {{"order", "abc"}, {"memory", "abc"}};
  plan.arguments[0].aliases = {"y"};
  plan.scalars.push_back({ScalarOp::MeshCoordinate, {}, 0, "dp", 0});
  plan.scalars.push_back({ScalarOp::ValidRows, {}, 0, "dp", 7});
  plan.scalars.push_back({ScalarOp::Add, {0, 1}, 0, "", 0});
  plan.provenance = {{"layers.0", Phase::Backward, "model.py:42", "bucket"}};
  return plan;
}

std::string readError(const std::string &text) {
  return readPlan(text, "a.plan.json").message();
}

/// The text of the plan with the first `from` replaced by `to`.
std::string edited(const Plan &plan, const std::string &from,
                   const std::string &to) {
  std::string text = writePlan(plan);
  size_t position = text.find(from);
  EXPECT_NE(position, std::string::npos) << from;
  return position == std::string::npos
             ? text
             : text.replace(position, from.size(), to);
}

} // namespace

TEST(Plan, PrintParsePrintIsAFixedPoint) {
  for (const Plan &plan : {variedPlan(), linearStep(), Plan()}) {
    std::string text = writePlan(plan);
    Expected<Plan> read = readPlan(text, "a.plan.json");
    ASSERT_TRUE(read) << read.message();
    EXPECT_EQ(writePlan(*read), text);
  }
}

TEST(Plan, ArgumentsKeepTheirKind) {
  Plan plan = variedPlan();
  Expected<Plan> read = readPlan(writePlan(plan), "a.plan.json");
  ASSERT_TRUE(read) << read.message();
  const auto &written =
      std::get<KernelCall>(plan.programs[0].instructions[0].action);
  const auto &kernel =
      std::get<KernelCall>(read->programs[0].instructions[0].action);
  EXPECT_EQ(kernel.arguments, written.arguments);
}

TEST(Plan, HasALinePerRow) {
  std::string text = writePlan(linearStep());
  EXPECT_NE(text.find("\n        {\"id\": 1, \"wait\": 0, \"from\": 0},\n"),
            std::string::npos)
      << text;
}

TEST(Plan, F07CountsBeyondTwoToThe31) {
  // [262144, 8960] bf16 on 8 ranks: 2 348 810 240 elements.
  PlanBuilder builder(8);
  ValueId table = builder.argument(Role::Parameter, "table", {262144, 8960},
                                   {{"dp", 0}}, DType::BFloat16);
  builder.collective(CollectiveKind::AllGather, table, 262144);
  Plan plan = builder.finish();
  Expected<Plan> read = readPlan(writePlan(plan), "a.plan.json");
  ASSERT_TRUE(read) << read.message();
  EXPECT_EQ(spanBytes(read->values[0]), 293601280 * 2);
  EXPECT_EQ(spanBytes(read->values[1]), 4697620480);
  EXPECT_EQ(read->storages[1].bytes, 4697620480);
  EXPECT_EQ(read->predictedPeakBytes, 4697620480 + 293601280 * 2);
}

TEST(Plan, DigestIgnoresProofsOnly) {
  Plan plan = variedPlan();
  std::string digest = digestOf(plan);
  plan.header.proved.clear();
  EXPECT_EQ(digestOf(plan), digest);
  plan.header.options += " ";
  EXPECT_NE(digestOf(plan), digest);
}

TEST(Plan, SpanOfViewsAndEmptyTensors) {
  EXPECT_EQ(spanBytes({0, DType::Float32, {2, 3}, {1, 2}, 4}), 40);
  EXPECT_EQ(spanBytes({0, DType::Float32, {}, {}, 0}), 4);
  EXPECT_EQ(spanBytes({0, DType::Float64, {0, 3}, {3, 1}, 0}), 0);
  EXPECT_EQ(spanBytes({0, DType::Int64, {5}, {0}, 0}), 8);
}

TEST(Plan, EveryEnumeratorHasAName) {
  EXPECT_EQ(nameOf(ScalarOp::ValidRows), "valid_rows");
  EXPECT_EQ(nameOf(CostClass::Other), "other");
  EXPECT_EQ(fromSpelling<Role>("output"), Role::Output);
  EXPECT_EQ(fromSpelling<Role>("outputs"), std::nullopt);
}

TEST(PlanReader, NewerFormatIsRefusedFirst) {
  EXPECT_EQ(readError(R"({"format_version": 2, "new": 0})"),
            "a.plan.json: format_version: plan has format version 2, expected "
            "1; compile the graph again with this release");
}

TEST(PlanReader, FilesOfAnotherKindAreNoPlans) {
  TemporaryFolder folder;
  for (const char *text : {"module {\n}\n", "PK\x03\x04", ""}) {
    std::string path = folder.write("step.mlir", text);
    EXPECT_EQ(readPlanFile(path).message(),
              path + ": no plan: expected the JSON that simplefsdp-opt "
                     "--emit-plan writes");
  }
}

TEST(PlanReader, UnknownKeyIsNamed) {
  std::string message = readError(
      edited(variedPlan(), "\"compiler\"", "\"colour\": 1, \"compiler\""));
  EXPECT_NE(message.find("colour"), std::string::npos) << message;
}

TEST(PlanReader, MissingKeyIsNamed) {
  std::string message = readError(edited(linearStep(), "\"first\": 0, ", ""));
  EXPECT_NE(message.find("storages[0]"), std::string::npos) << message;
  EXPECT_NE(message.find("first"), std::string::npos) << message;
}

TEST(PlanReader, BadMembersAreNamedByTheirPath) {
  struct Case {
    const char *from, *to, *message;
  };
  const Case cases[] = {
      {"\"%0\"", "\"%x\"",
       "a.plan.json: arguments[0].value: expected a reference like \"%0\", "
       "got '%x'"},
      {"\"%0\"", "\"%99\"",
       "a.plan.json: arguments[0].value: there is no value 99, the plan has 3"},
      {"\"role\": \"input\"", "\"role\": \"inputs\"",
       "a.plan.json: arguments[0].role: expected one of parameter, buffer, "
       "constant, input, state, accumulator, loss, gradient, output, "
       "gradient_norm, chunk_norms, applied, got 'inputs'"},
      {"\"dtype\": \"f32\"", "\"dtype\": \"f31\"",
       "a.plan.json: values[0].dtype: unknown element type 'f31'"},
      {"\"storage\": 0", "\"storage\": 9",
       "a.plan.json: values[0].storage: there is no storage 9, the plan has "
       "3"},
      {"\"strides\": [2, 1]", "\"strides\": [2]",
       "a.plan.json: values[0].strides: expected 2 strides, one per size, got "
       "1"},
      {"{\"id\": 1, \"storage\"", "{\"id\": 2, \"storage\"",
       "a.plan.json: values[1]: expected id 1, the row's position, got 2"},
      {"\"operands\": [\"$0\", \"$1\"]", "\"operands\": [\"$0\"]",
       "a.plan.json: scalars[3].operands: expected 2 operands of add, got 1"},
      {"\"operands\": [\"$0\", \"$1\"]", "\"operands\": [\"$0\", \"$3\"]",
       "a.plan.json: scalars[3].operands: there is no earlier scalar 3, the "
       "plan has 3"},
      {"\"from\": 0", "\"from\": 4",
       "a.plan.json: programs[0].instructions[0].from: there is no provenance "
       "4, the plan has 1"},
      {"{\"ints\": []}", "{\"integers\": []}",
       "a.plan.json: programs[0].instructions[0].arguments[8]: unknown kind of "
       "argument 'integers'"},
      {"{\"ints\": []}", "[]",
       "a.plan.json: programs[0].instructions[0].arguments[8]: expected an "
       "argument, got a list; lists are written as {\"ints\": [...]}"},
      {"\"wait\": ", "\"await\": ",
       "a.plan.json: programs[0].instructions[3]: expected an instruction: an "
       "object with one of \"call\", \"start\", \"wait\", \"free\""},
      {"\"sizes\": [4, 2]", "\"sizes\": [4611686018427387904, 4]",
       "a.plan.json: values[0]: the tensor has more bytes than 64 bits count"},
      {"\"size\": 2", "\"size\": 0",
       "a.plan.json: header.mesh.axes[0]: expected an axis size of at least "
       "1"},
      {"\"bytes\": 32", "\"bytes\": -32", nullptr},
      {"\"bytes\": 32", "\"bytes\": 9223372036854775807",
       "a.plan.json: storages[0].bytes: the storages have more bytes than 64 "
       "bits count"},
  };
  for (const Case &each : cases) {
    std::string message = readError(edited(variedPlan(), each.from, each.to));
    if (each.message) {
      EXPECT_EQ(message, each.message);
    } else {
      EXPECT_NE(message, "");
    }
  }
}

TEST(PlanReader, NoMutationBreaksReaderOrVerifier) {
  std::string text = writePlan(linearStep());
  std::mt19937 random(/*seed=*/1);
  for (int round = 0; round < 500; ++round) {
    Expected<Plan> read = readPlan(mutate(text, random), "a.plan.json");
    if (read) {
      (void)checkPlan(*read).ok();
    } else {
      EXPECT_NE(read.message(), "");
    }
  }
}
