//===- SignatureTest.cpp - Roles of arguments and results ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/unit/passes/import/Resolve.h"

#include <algorithm>

namespace sfsdp::test {
namespace {

using namespace sfsdp::exported;
using runtime::Role;

std::vector<std::string> namesOf(const CapturedStep &step, Role role) {
  std::vector<std::string> names;
  for (const CapturedResult &result : step.results) {
    if (result.role == role) {
      names.push_back(result.name);
    }
  }
  return names;
}

std::vector<std::string> frozenOf(const CapturedStep &step) {
  std::vector<std::string> names;
  for (const CapturedArgument &argument : step.arguments) {
    if (argument.frozen) {
      names.push_back(argument.name);
    }
  }
  return names;
}

Manifest smallManifest() {
  Manifest manifest;
  manifest.inputs = {{"batch.x", "x"}};
  manifest.parameters = {{"w", "p_w", {"head.w"}}};
  manifest.loss = "loss";
  return manifest;
}

TEST(SignatureTest, WithoutManifestNamesAreThoseOfTheGraph) {
  Resolved result = resolve(smallStep());
  ASSERT_TRUE(result.step) << result.errors();
  const CapturedStep &step = *result.step;
  EXPECT_TRUE(step.isTraining);
  ASSERT_EQ(step.arguments.size(), 2u);
  EXPECT_EQ(step.arguments[0].role, Role::Parameter);
  EXPECT_EQ(step.arguments[0].name, "w");
  EXPECT_EQ(step.arguments[1].role, Role::Input);
  EXPECT_EQ(step.arguments[1].name, "x");
  EXPECT_EQ(namesOf(step, Role::Loss), std::vector<std::string>{"loss"});
  EXPECT_EQ(namesOf(step, Role::Gradient), std::vector<std::string>{"w"});
}

TEST(SignatureTest, ManifestGivesPythonsNamesAndTies) {
  Resolved result = prepare(smallStep());
  result.file.manifest = smallManifest();
  result.run();
  ASSERT_TRUE(result.step) << result.errors();
  EXPECT_EQ(result.step->arguments[0].aliases,
            std::vector<std::string>{"head.w"});
  EXPECT_EQ(result.step->arguments[1].name, "batch.x");
}

TEST(SignatureTest, ManifestOfAnotherGraphIsRefused) {
  Resolved result = prepare(smallStep());
  result.file.manifest = smallManifest();
  result.file.manifest->parameters[0].fqn = "other";
  result.run();
  expectErrors(result,
               "graph: expected the parameters of the graph in "
               "extra/simplefsdp.json, got \"other\", which the graph does not "
               "have; it is of another graph\n");
}

TEST(SignatureTest, GraphWithoutGradientsIsRefused) {
  Resolved result = resolveArchive("makefx_user_io");
  expectErrors(
      result,
      "models/model.json: the signature has no gradients: expected one "
      "loss_output and a gradient_to_parameter output per trained parameter, "
      "got 22 user outputs; capture the model with simplefsdp_capture, which "
      "saves forward and backward (or forward alone, with train=False)\n");
}

TEST(SignatureTest, EvaluationHasNoGradients) {
  ProgramText program = smallStep();
  program.nodes.resize(2);
  program.outputs.clear();
  program.outputSpecs.clear();
  program.addOutput("user_output", "loss");
  program.addOutput("user_output", "mul");
  Resolved result = prepare(program);
  result.file.manifest = smallManifest();
  result.file.manifest->train = false;
  result.file.manifest->outputs = {{"logits", "mul"}};
  result.run();
  ASSERT_TRUE(result.step) << result.errors();
  EXPECT_FALSE(result.step->isTraining);
  EXPECT_EQ(frozenOf(*result.step), std::vector<std::string>{"w"});
  EXPECT_EQ(namesOf(*result.step, Role::Loss),
            std::vector<std::string>{"loss"});
  EXPECT_EQ(namesOf(*result.step, Role::Output),
            std::vector<std::string>{"logits"});
}

TEST(SignatureTest, ParametersWithoutGradientAreFrozen) {
  Resolved frozen = resolveArchive("mlp_frozen");
  ASSERT_TRUE(frozen.step) << frozen.errors();
  EXPECT_EQ(frozenOf(*frozen.step).size(), 1u);
  EXPECT_EQ(namesOf(*frozen.step, Role::Gradient).size(), 3u);
  Resolved unused = resolveArchive("mlp_unused");
  ASSERT_TRUE(unused.step) << unused.errors();
  EXPECT_EQ(frozenOf(*unused.step).size(), 1u);
}

TEST(SignatureTest, UpdatedBuffersFollowGradients) {
  Resolved result = resolveArchive("mlp_batchnorm");
  ASSERT_TRUE(result.step) << result.errors();
  EXPECT_EQ(namesOf(*result.step, Role::Buffer),
            (std::vector<std::string>{"bn.running_mean", "bn.running_var",
                                      "bn.num_batches_tracked"}));
  EXPECT_EQ(result.step->results.front().role, Role::Loss);
  EXPECT_EQ(result.step->results.back().role, Role::Buffer);
}

TEST(SignatureTest, TiedParameterIsOneArgument) {
  Resolved result = resolveArchive("llama_tied");
  ASSERT_TRUE(result.step) << result.errors();
  const CapturedStep &step = *result.step;
  auto embedding = std::ranges::find_if(
      step.arguments, [](const CapturedArgument &argument) {
        return argument.role == Role::Parameter;
      });
  size_t forwardUses = 0;
  for (const CapturedCall &call : step.calls) {
    forwardUses += call.scope.isBackward
                       ? 0
                       : std::ranges::count(call.operands, embedding->value);
  }
  EXPECT_EQ(embedding->name, "tok.weight");
  EXPECT_EQ(forwardUses, 2u);
}

TEST(SignatureTest, F06TiesThatOnlyTheArchiveKnowsAreRefused) {
  ProgramText program = smallStep();
  program.addInput("parameter", "p_v", "v", {4});
  Resolved result = prepare(program);
  result.file.sharedWeights = {"v", "w"};
  result.run();
  expectErrors(result, "graph: parameters \"v\" and \"w\" are one tensor of "
                       "the archive: expected a tied parameter to be one "
                       "input; capture with simplefsdp_capture\n");
}

TEST(SignatureTest, AutocastHasFifteenParameterCasts) {
  Resolved result = resolveArchive("llama_autocast");
  ASSERT_TRUE(result.step) << result.errors();
  const CapturedStep &step = *result.step;
  size_t casts = 0;
  for (const CapturedCall &call : step.calls) {
    bool readsParameter = std::ranges::any_of(
        step.arguments, [&](const CapturedArgument &argument) {
          return argument.role == Role::Parameter && !call.operands.empty() &&
                 argument.value == call.operands.front();
        });
    casts += call.rule && call.rule->isCast && readsParameter ? 1 : 0;
  }
  EXPECT_EQ(casts, 15u);
}

TEST(SignatureTest, RawExportNeedsNoManifest) {
  Resolved result = resolveArchive("raw_no_manifest");
  ASSERT_TRUE(result.step) << result.errors();
  EXPECT_EQ(namesOf(*result.step, Role::Gradient).size(), 21u);
  EXPECT_TRUE(frozenOf(*result.step).empty());
}

TEST(SignatureTest, F52SymbolicSizesNameInputSymbolAndRange) {
  ProgramText program = smallStep();
  Json size = Json::object();
  size.add("expr_str", "s0");
  Json metadata = Json::object();
  metadata.add("dtype", 7);
  metadata.add("sizes", Json::Array{tagged("as_expr", size)});
  metadata.add("strides", Json::Array{tagged("as_int", 1)});
  metadata.add("storage_offset", tagged("as_int", 0));
  program.tensors[1].second = metadata;
  Json range = Json::object();
  range.add("min_val", 2);
  range.add("max_val", 10);
  program.ranges.add("s0", range);
  expectErrors(resolve(program),
               "graph: input \"x\": tensor \"x\" has the symbolic size s0 (2 "
               "to 10) in dimension 0: expected static shapes; capture without "
               "dynamic shapes, once per length\n");
}

TEST(SignatureTest, F52SymbolicNumberIsRefused) {
  ProgramText program = smallStep();
  Json symbol = tagged("as_sym_int", tagged("as_name", "s0"));
  program.inputs.push_back(symbol);
  program.inputSpecs.push_back(tagged("user_input", tagged("arg", symbol)));
  expectErrors(resolve(program),
               "graph: graph input 2 is the symbolic number s0: expected "
               "static shapes; capture without dynamic shapes\n");
}

TEST(SignatureTest, F52LiteralTensorIsAConstant) {
  ProgramText program = smallStep();
  program.addInput("tensor_constant", "c_lifted", "lifted", {});
  program.tensors.pop_back();
  program.addTensor("c_lifted", {}, {}, /*dtype=*/13);
  Resolved result = resolve(program);
  ASSERT_TRUE(result.step) << result.errors();
  EXPECT_EQ(result.step->arguments.back().role, Role::Constant);
  EXPECT_EQ(result.step->arguments.back().name, "lifted");
  EXPECT_EQ(result.step->values[2].layout.dtype, runtime::DType::BFloat16);
}

TEST(SignatureTest, ConstantWithoutBytesIsRefused) {
  ProgramText program = smallStep();
  program.addInput("tensor_constant", "c_table", "table", {4});
  program.addInput("buffer", "b_cos", "cos", {4});
  Resolved result = prepare(program);
  result.file.withoutBytes = {"table", "cos"};
  result.run();
  expectErrors(result, "graph: constant \"table\" has no bytes in the archive: "
                       "expected its value; capture it for real, not with fake "
                       "weights\n");
}

TEST(SignatureTest, InputsThatAreNoTensorsAreLeftOutOrRefused) {
  ProgramText program = smallStep();
  program.inputs.push_back(tagged("as_int", 3));
  Json constant = Json::object();
  constant.add("name", "scale");
  constant.add("value", tagged("as_int", 3));
  program.inputSpecs.push_back(tagged("constant_input", constant));
  Resolved plain = resolve(program);
  ASSERT_TRUE(plain.step) << plain.errors();
  EXPECT_EQ(plain.step->arguments.size(), 2u);

  Json object = Json::object();
  object.add("arg", tagged("name", "queue"));
  object.add("custom_obj_name", "queue");
  program.inputs.push_back(tagged("as_custom_obj", tagged("name", "queue")));
  program.inputSpecs.push_back(tagged("custom_obj", object));
  expectErrors(resolve(program),
               "graph: graph input 3 \"queue\" is an object: expected tensors; "
               "keep its state in parameters and buffers\n");
}

TEST(SignatureTest, F50OutputsMayAliasAndRepeat) {
  ProgramText program = smallStep();
  program.addOutput("user_output", "x");
  program.addOutput("user_output", "mul");
  program.addOutput("user_output", "mul");
  program.addOutput("user_output", "p_w");
  Resolved result = resolve(program);
  ASSERT_TRUE(result.step) << result.errors();
  EXPECT_EQ(namesOf(*result.step, Role::Output),
            (std::vector<std::string>{"x", "mul", "mul", "p_w"}));
}

TEST(SignatureTest, OutputsThatCantBeKeptAreRefused) {
  struct {
    const char *tag, *target, *error;
  } kCases[] = {
      {"gradient_to_parameter", "w",
       "graph: expected one gradient of parameter \"w\", got a second one\n"},
      {"gradient_to_parameter", "v",
       "graph: got a gradient of \"v\", which is no parameter of the graph\n"},
      {"gradient_to_user_input", "x",
       "graph: expected gradients of parameters only, got that of input "
       "\"x\"; detach it in forward\n"},
      {"user_input_mutation", "x",
       "graph: expected inputs that forward only reads, got a new value of "
       "input \"x\"; copy it in forward\n"},
      {"buffer_mutation", "b",
       "graph: got a new value of \"b\", which is no input of the graph\n"},
  };
  for (const auto &[tag, target, error] : kCases) {
    ProgramText program = smallStep();
    program.addOutput(tag, "mul", target);
    expectErrors(resolve(program), error);
  }
}

TEST(SignatureTest, LossIsOneNumber) {
  ProgramText program = smallStep();
  program.outputs[0] = tensorArgument("mul");
  program.outputSpecs[0] =
      tagged("loss_output", tagged("arg", tagged("name", "mul")));
  expectErrors(resolve(program),
               "graph: expected the loss \"mul\" to be one floating-point "
               "number, got f32 [4] strides [1]\n");
}

TEST(SignatureTest, NamesOfInputsAreDistinct) {
  ProgramText program = smallStep();
  program.addInput("parameter", "p_w_1", "w", {4});
  expectErrors(resolve(program), "graph: expected distinct names of graph "
                                 "inputs, got \"w\" twice\n");
}

} // namespace
} // namespace sfsdp::test
