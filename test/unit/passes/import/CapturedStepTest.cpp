//===- CapturedStepTest.cpp - Graphs are resolved and checked -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments come in schema order, layouts are the computed ones, and what can't
// be imported is named with node and source line.
//
//===----------------------------------------------------------------------===//

#include "runtime/Archive.h"
#include "test/support/Mutate.h"
#include "test/unit/passes/import/Resolve.h"

namespace sfsdp::test {
namespace {

using namespace sfsdp::exported;

/// smallStep() with a further forward node, whose result is an output.
ProgramText stepWith(NodeText node) {
  ProgramText program = smallStep();
  for (const Json &output : node.outputs) {
    if (const Json *tensor = output.find("as_tensor")) {
      program.addOutput("user_output", *tensor->find("name")->asString());
    }
  }
  program.nodes.insert(program.nodes.begin() + 1, std::move(node));
  return program;
}

const CapturedCall &callOf(const Resolved &result, const std::string &node) {
  static const CapturedCall none;
  if (!result.step) {
    ADD_FAILURE() << result.errors();
    return none;
  }
  for (const CapturedCall &call : result.step->calls) {
    if (call.node == node) {
      return call;
    }
  }
  ADD_FAILURE() << "no call " << node;
  return none;
}

TEST(CapturedStepTest, ResolvesASmallStep) {
  Resolved result = resolve(smallStep());
  ASSERT_TRUE(result.step) << result.errors();
  EXPECT_TRUE(result.report.warnings.empty());
  EXPECT_EQ(result.step->calls.size(), 5u);
  const CapturedCall &mul = callOf(result, "mul");
  EXPECT_EQ(mul.operands, (std::vector<ValueId>{0, 1}));
  EXPECT_FALSE(mul.scope.isBackward);
  EXPECT_TRUE(callOf(result, "grad").scope.isBackward);
}

TEST(CapturedStepTest, ArgumentsComeInSchemaOrder) {
  NodeText node{"sum", "sum.dim_IntList", {}, {tensorArgument("sum")}};
  node.arguments = {{"keepdim", tagged("as_bool", true)},
                    {"dim", tagged("as_ints", Json::listOf<int>({0}))},
                    {"self", tensorArgument("mul")}};
  ProgramText program = stepWith(node);
  program.addTensor("sum", {1});
  Resolved result = resolve(program);
  const CapturedCall &call = callOf(result, "sum");
  EXPECT_EQ(call.call.integers(1), std::vector<int64_t>{0});
  EXPECT_TRUE(call.call.boolean(2));
  // dtype, the fourth parameter, has its default.
  EXPECT_EQ(call.writtenArguments, 3u);
}

TEST(CapturedStepTest, TrailingDefaultsAreTrimmed) {
  NodeText node{"add", "add.Tensor", {}, {tensorArgument("add")}};
  node.arguments = {{"self", tensorArgument("mul")},
                    {"other", tensorArgument("x")},
                    {"alpha", tagged("as_int", 1)}};
  ProgramText program = stepWith(node);
  program.addTensor("add", {4});
  Resolved result = resolve(program);
  EXPECT_EQ(callOf(result, "add").writtenArguments, 2u);
}

TEST(CapturedStepTest, FloatsAreNotIntegers) {
  NodeText node{"add", "add.Tensor", {}, {tensorArgument("add")}};
  node.arguments = {{"self", tensorArgument("mul")},
                    {"other", tagged("as_float", 1.0)},
                    {"alpha", tagged("as_float", 1.0)}};
  ProgramText program = stepWith(node);
  program.addTensor("add", {4});
  Resolved result = resolve(program);
  const CapturedCall &call = callOf(result, "add");
  EXPECT_EQ(call.writtenArguments, 3u);
  EXPECT_TRUE(std::holds_alternative<double>(call.call.arguments[1]));
}

TEST(CapturedStepTest, F52OneOfThreeResultsIsAbsent) {
  NodeText node{"conv", "convolution_backward.default", {}, {}};
  auto ints = [](std::vector<int64_t> list) {
    return tagged("as_ints", Json::listOf<int64_t>(list));
  };
  node.arguments = {
      {"grad_output", tensorArgument("image")},
      {"input", tensorArgument("image")},
      {"weight", tensorArgument("kernel")},
      {"bias_sizes", ints({1})},
      {"stride", ints({1, 1})},
      {"padding", ints({0, 0})},
      {"dilation", ints({1, 1})},
      {"transposed", tagged("as_bool", false)},
      {"output_padding", ints({0, 0})},
      {"groups", tagged("as_int", 1)},
      {"output_mask",
       tagged("as_bools", Json::Array{Json(false), Json(true), Json(true)})}};
  node.outputs = {noneArgument(), tensorArgument("gw"), tensorArgument("gb")};
  ProgramText program = stepWith(node);
  program.addInput("user_input", "image", "", {1, 1, 4, 4});
  program.addInput("user_input", "kernel", "", {1, 1, 1, 1});
  program.addTensor("gw", {1, 1, 1, 1});
  program.addTensor("gb", {1});
  Resolved result = resolve(program);
  const CapturedCall &call = callOf(result, "conv");
  ASSERT_EQ(call.results.size(), 3u);
  EXPECT_FALSE(call.results[0]);
  EXPECT_TRUE(call.results[1] && call.results[2]);
}

// Tracing gives batch normalization all gradients, whatever the mask.
TEST(CapturedStepTest, F52ResultThatOnlyTracingHasIsAbsent) {
  NodeText node{"bn", "native_batch_norm_backward.default", {}, {}};
  node.arguments = {
      {"grad_out", tensorArgument("rows")},
      {"input", tensorArgument("rows")},
      {"weight", noneArgument()},
      {"running_mean", noneArgument()},
      {"running_var", noneArgument()},
      {"save_mean", tensorArgument("channel")},
      {"save_invstd", tensorArgument("channel")},
      {"train", tagged("as_bool", true)},
      {"eps", tagged("as_float", 1e-5)},
      {"output_mask",
       tagged("as_bools", Json::Array{Json(true), Json(false), Json(true)})}};
  node.outputs = {tensorArgument("gx"), tensorArgument("gb")};
  ProgramText program = stepWith(node);
  program.nodes[1].outputs.insert(program.nodes[1].outputs.begin() + 1,
                                  tensorArgument("gw"));
  program.addInput("user_input", "rows", "", {2, 3});
  program.addInput("user_input", "channel", "", {3});
  program.addTensor("gx", {2, 3});
  program.addTensor("gw", {3});
  program.addTensor("gb", {3});
  Resolved result = resolve(program);
  const CapturedCall &call = callOf(result, "bn");
  ASSERT_EQ(call.results.size(), 3u);
  EXPECT_FALSE(call.results[1]);
  EXPECT_TRUE(call.results[0] && call.results[2]);
  program.addOutput("user_output", "gw");
  expectErrors(resolve(program),
               "graph: tensor \"gw\" is used before it is defined\n");
}

// bf16 rows with f32 parameters have f32 statistics, which tracing reports as
// bf16.
TEST(CapturedStepTest, TypeThatOnlyTracingReportsIsCorrected) {
  constexpr int64_t kBFloat16 = 13;
  NodeText node{"norm", "native_layer_norm.default", {}, {}};
  node.arguments = {
      {"input", tensorArgument("rows")},
      {"normalized_shape", tagged("as_ints", Json::Array{Json(int64_t(3))})},
      {"weight", tensorArgument("scale")},
      {"bias", noneArgument()},
      {"eps", tagged("as_float", 1e-5)}};
  node.outputs = {tensorArgument("y"), tensorArgument("mean"),
                  tensorArgument("rstd")};
  ProgramText program = stepWith(node);
  program.addInput("user_input", "rows", "", {2, 3}, kBFloat16);
  program.addInput("user_input", "scale", "", {3});
  program.addTensor("y", {2, 3}, {3, 1}, kBFloat16);
  program.addTensor("mean", {2, 1}, {1, 1}, kBFloat16);
  ProgramText wrong = program;
  program.addTensor("rstd", {2, 1}, {1, 1});
  Resolved result = resolve(program);
  ASSERT_TRUE(result.step) << result.errors();
  for (const auto &value : result.step->values) {
    if (value.name == "mean" || value.name == "rstd") {
      EXPECT_EQ(value.layout.dtype, runtime::DType::Float32) << value.name;
    }
  }
  wrong.addTensor("rstd", {2, 1}, {1, 1}, /*dtype=*/8);
  expectErrors(resolve(wrong),
               "graph: node \"norm\": operator native_layer_norm.default: "
               "result 2: expected the layout f32 [2, 1] strides [1, 1], "
               "captured f64 [2, 1] strides [1, 1]\n");
}

TEST(CapturedStepTest, ListsOfTensorsAreFlat) {
  NodeText node{"split", "split.Tensor", {}, {}};
  node.arguments = {{"self", tensorArgument("mul")},
                    {"split_size", tagged("as_int", 2)}};
  node.outputs = {tagged("as_tensors", Json::Array{tagged("name", "low"),
                                                   tagged("name", "high")})};
  ProgramText program = stepWith(node);
  program.addTensor("low", {2});
  program.addTensor("high", {2}, {1}, /*dtype=*/7, /*offset=*/2);
  Resolved result = resolve(program);
  EXPECT_EQ(callOf(result, "split").results.size(), 2u);
}

TEST(CapturedStepTest, AssertionsAreDropped) {
  NodeText node{"check", "_assert_tensor_metadata.default", {}, {}};
  node.arguments = {{"a", tensorArgument("mul")},
                    {"dtype", tagged("as_scalar_type", 7)}};
  Resolved result = resolve(stepWith(node));
  ASSERT_TRUE(result.step) << result.errors();
  EXPECT_EQ(result.step->calls.size(), 5u);
}

TEST(CapturedStepTest, RandomOperatorsAreNumbered) {
  Resolved result = resolveArchive("mlp_dropout");
  ASSERT_TRUE(result.step) << result.errors();
  std::vector<int64_t> ids;
  for (const CapturedCall &call : result.step->calls) {
    if (call.randomId) {
      ids.push_back(*call.randomId);
      EXPECT_EQ(call.call.schema->name, "native_dropout.default");
    }
  }
  EXPECT_EQ(ids, std::vector<int64_t>{0});
}

TEST(CapturedStepTest, F52OperatorsWithoutSchemaComeTogether) {
  ProgramText program = smallStep();
  auto add = [&](const std::string &name, const std::string &target, int line) {
    NodeText node{name, target, {}, {tensorArgument(name)}};
    node.custom = R"({"fqn": "", "phase": "fwd", "src": "model.py:)" +
                  std::to_string(line) + "\"}";
    program.nodes.insert(program.nodes.begin(), node);
    program.addTensor(name, {4});
  };
  add("scale_1", "torch.ops.mylib.scale.default", 9);
  add("scale", "torch.ops.mylib.scale.default", 8);
  add("cond", "torch.ops.higher_order.cond", 7);
  add("fancy", "fancy_new.out", 5);
  expectErrors(
      resolve(program),
      "graph: operator fancy_new.out is in no schema table (1 node, first node "
      "\"fancy\" at model.py:5): give its schema by --allow-op, or capture "
      "with a supported torch\n"
      "graph: operator higher_order::cond can't be imported (1 node, first "
      "node \"cond\" at model.py:7): expected a graph without control flow and "
      "without regions; remove them from forward and capture again\n"
      "graph: operator mylib::scale.default is in no schema table (2 nodes, "
      "first node \"scale\" at model.py:8): give its schema by --allow-op, or "
      "capture with a supported torch\n");
}

TEST(CapturedStepTest, AllowedOperatorIsUnknownWithOneWarning) {
  NodeText node{"scale", "torch.ops.mylib.scale.default", {}, {}};
  node.arguments = {{"x", tensorArgument("mul")},
                    {"factor", tagged("as_float", 2.0)}};
  node.outputs = {tensorArgument("scale")};
  ProgramText program = stepWith(node);
  program.addTensor("scale", {4}, {3});
  Resolved result = prepare(program);
  ASSERT_TRUE(
      result.schemas->allow("mylib::scale(Tensor x, float factor) -> Tensor")
          .ok());
  result.run();
  const CapturedCall &call = callOf(result, "scale");
  EXPECT_EQ(call.rule, nullptr);
  EXPECT_EQ(result.step->values[*call.results[0]].layout.strides,
            std::vector<int64_t>{3});
  ASSERT_EQ(result.report.warnings.size(), 1u);
  EXPECT_EQ(result.report.warnings[0],
            "graph: operator mylib::scale.default has no rule (1 node, first "
            "node \"scale\"): it keeps its captured layout, and nothing that "
            "it touches is sharded or reordered");
}

TEST(CapturedStepTest, OperatorsThatWriteAreRefused) {
  NodeText node{"add_", "add_.Tensor", {}, {tensorArgument("add_")}};
  node.arguments = {{"self", tensorArgument("mul")},
                    {"other", tensorArgument("x")}};
  ProgramText program = stepWith(node);
  program.addTensor("add_", {4});
  expectErrors(resolve(program),
               "graph: operator add_.Tensor writes its arguments (1 node, "
               "first node \"add_\"): expected a functional graph; capture "
               "with simplefsdp_capture, or call run_decompositions({}) "
               "before saving\n");
}

TEST(CapturedStepTest, OtherLayoutIsAnError) {
  NodeText node{"neg",
                "neg.default",
                {{"self", tensorArgument("mul")}},
                {tensorArgument("neg")}};
  node.custom = R"({"src": "model.py:3"})";
  ProgramText program = stepWith(node);
  program.addTensor("neg", {4}, {2});
  expectErrors(resolve(program),
               "graph: node \"neg\" at model.py:3: operator neg.default: "
               "result 0: expected the layout f32 [4] strides [1], captured "
               "f32 [4] strides [2]\n");
}

TEST(CapturedStepTest, OtherStorageOffsetIsAnError) {
  NodeText node{"slice", "slice.Tensor", {}, {tensorArgument("slice")}};
  node.arguments = {{"self", tensorArgument("mul")},
                    {"dim", tagged("as_int", 0)},
                    {"start", tagged("as_int", 1)},
                    {"end", tagged("as_int", 3)}};
  ProgramText program = stepWith(node);
  program.addTensor("slice", {2}, {1}, /*dtype=*/7, /*offset=*/2);
  expectErrors(resolve(program),
               "graph: node \"slice\": operator slice.Tensor: result 0: "
               "expected the storage offset 1, captured 2\n");
}

TEST(CapturedStepTest, ArgumentsThatDoNotFitAreNamed) {
  NodeText node{"neg", "neg.default", {}, {tensorArgument("neg")}};
  ProgramText missing = stepWith(node);
  missing.addTensor("neg", {4});
  expectErrors(resolve(missing),
               "graph: node \"neg\": operator neg.default: argument 'self': is "
               "missing and has no default\n");
  node.arguments = {{"self", tensorArgument("mul")},
                    {"speed", tagged("as_int", 3)}};
  ProgramText unknown = stepWith(node);
  unknown.addTensor("neg", {4});
  expectErrors(resolve(unknown), "graph: node \"neg\": operator neg.default: "
                                 "has no parameter 'speed'\n");
  node.arguments = {{"self", tagged("as_scalar_type", 29)}};
  ProgramText unsupported = stepWith(node);
  unsupported.addTensor("neg", {4});
  expectErrors(resolve(unsupported),
               "graph: node \"neg\": operator neg.default: argument 'self': "
               "expected what a plan can hold, got a dtype of code 29\n");
}

TEST(CapturedStepTest, NamesMustBeDefinedOnceAndBefore) {
  ProgramText later = smallStep();
  std::swap(later.nodes[0], later.nodes[1]);
  expectErrors(resolve(later),
               "graph: node \"loss\": operator sum.default: argument 'self': "
               "tensor \"mul\" is used before it is defined\n");
  ProgramText twice = smallStep();
  twice.nodes[1].outputs = {tensorArgument("mul")};
  expectErrors(resolve(twice),
               "graph: node \"loss\": tensor \"mul\" is defined twice\n");
}

TEST(CapturedStepTest, ImpossibleTensorsAreRefused) {
  for (std::vector<int64_t> sizes : {std::vector<int64_t>{-1},
                                     {int64_t{1} << 62, int64_t{1} << 62},
                                     {0, int64_t{1} << 62, 8}}) {
    ProgramText program = smallStep();
    program.addInput("user_input", "y", "", {1});
    program.tensors.pop_back();
    program.addTensor("y", sizes, std::vector<int64_t>(sizes.size(), 1));
    EXPECT_NE(resolve(program).errors().find("impossible sizes"),
              std::string::npos);
  }
}

/// Imports `text`, whatever it is; true when it is a program that imports.
bool importsQuietly(const std::string &text) {
  runtime::Expected<runtime::JsonDocument> document =
      runtime::parseJson(text, "graph");
  if (!document) {
    return false;
  }
  runtime::Expected<Program> program = readProgram(document->root());
  if (!program) {
    EXPECT_NE(program.message(), "");
    return false;
  }
  Resolved result;
  result.file.program = std::move(*program);
  result.run();
  EXPECT_EQ(result.step.has_value(), result.report.errors.empty());
  return result.step.has_value();
}

TEST(CapturedStepTest, DamagedProgramsAreRefusedQuietly) {
  constexpr int kRounds = 2000;
  std::string good = smallStep().text();
  std::mt19937 random(1);
  int imported = 0;
  for (int round = 0; round < kRounds; ++round) {
    imported += importsQuietly(mutate(good, random)) ? 1 : 0;
  }
  EXPECT_LT(imported, kRounds);
}

TEST(CapturedStepTest, OddNumbersAreRefusedQuietly) {
  constexpr int kRounds = 300;
  const std::string kOdd[] = {"-1",
                              "0",
                              "1",
                              "3",
                              "-9223372036854775808",
                              "4611686018427387904",
                              "9223372036854775807"};
  runtime::Expected<runtime::Archive> archive = runtime::Archive::open(
      std::string(SFSDP_TEST_INPUTS) + "/archives/mlp_batchnorm.pt2");
  ASSERT_TRUE(archive.ok()) << archive.message();
  runtime::Expected<std::string> good = archive->read("models/model.json");
  ASSERT_TRUE(good.ok()) << good.message();
  constexpr std::string_view kNumber = "\"as_int\": ";
  std::vector<size_t> places;
  for (size_t at = good->find(kNumber); at != std::string::npos;
       at = good->find(kNumber, at + 1)) {
    places.push_back(at + kNumber.size());
  }
  ASSERT_GT(places.size(), 100u);
  std::mt19937 random(1);
  int imported = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::string text = *good;
    size_t at = places[random() % places.size()];
    size_t end = text.find_first_not_of("-0123456789", at);
    text.replace(at, end - at, kOdd[random() % std::size(kOdd)]);
    imported += importsQuietly(text) ? 1 : 0;
  }
  EXPECT_LT(imported, kRounds / 2);
}

} // namespace
} // namespace sfsdp::test
