//===- AttentionTest.cpp - Pairs of attention kernels match -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pairs of captured models are found, through renamings; a backward of anything
// else is refused.
//
//===----------------------------------------------------------------------===//

#include "passes/AttentionKernels.h"
#include "test/unit/passes/import/Resolve.h"

#include <algorithm>

namespace sfsdp::test {
namespace {

using namespace sfsdp::exported;

constexpr int64_t kBatch = 1, kHeads = 2, kLength = 4, kWidth = 8;

/// One attention of q, k, v and its backward; the sum of the output is the
/// loss. `forward` and `backward` are what both get besides.
ProgramText
attentionStep(std::vector<std::pair<std::string, Json>> forward = {},
              std::vector<std::pair<std::string, Json>> backward = {}) {
  const std::vector<int64_t> kSizes = {kBatch, kHeads, kLength, kWidth};
  // Gradients are computed in [batch, length, heads, width].
  const std::vector<int64_t> kStrides = {kLength * kHeads * kWidth, kWidth,
                                         kHeads * kWidth, 1};
  ProgramText program;
  for (std::string name : {"q", "k", "v"}) {
    program.addInput("parameter", name, name, kSizes);
  }
  NodeText attention{"attention",
                     std::string(rules::kAttentionForward),
                     {{"query", tensorArgument("q")},
                      {"key", tensorArgument("k")},
                      {"value", tensorArgument("v")}},
                     {tensorArgument("out"), tensorArgument("lse")}};
  attention.arguments.insert(attention.arguments.end(), forward.begin(),
                             forward.end());
  program.addTensor("out", kSizes);
  program.addTensor("lse", {kBatch, kHeads, kLength},
                    {kLength * kHeads, 1, kHeads});
  program.nodes.push_back(attention);
  program.addNode("detach", "detach.default", {{"self", tensorArgument("out")}},
                  kSizes);
  program.addNode("loss", "sum.default", {{"self", tensorArgument("out")}}, {});
  program.addNode("seed", "ones_like.default",
                  {{"self", tensorArgument("loss")}}, {});
  program.addNode("grad", "expand.default",
                  {{"self", tensorArgument("seed")},
                   {"size", tagged("as_ints", Json::listOf<int64_t>(kSizes))}},
                  kSizes, {0, 0, 0, 0});
  NodeText gradients{"gradients",
                     std::string(rules::kAttentionBackward),
                     {{"grad_out", tensorArgument("grad")},
                      {"query", tensorArgument("q")},
                      {"key", tensorArgument("k")},
                      {"value", tensorArgument("v")},
                      {"out", tensorArgument("detach")},
                      {"logsumexp", tensorArgument("lse")},
                      {"dropout_p", tagged("as_float", 0.0)},
                      {"is_causal", tagged("as_bool", false)}},
                     {}};
  for (auto &[name, argument] : backward) {
    auto known = std::ranges::find(gradients.arguments, name,
                                   &std::pair<std::string, Json>::first);
    if (known == gradients.arguments.end()) {
      gradients.arguments.emplace_back(name, argument);
    } else {
      known->second = argument;
    }
  }
  program.addOutput("loss_output", "loss");
  for (std::string name : {"q", "k", "v"}) {
    program.addTensor("g" + name, kSizes, kStrides);
    gradients.outputs.push_back(tensorArgument("g" + name));
    program.addOutput("gradient_to_parameter", "g" + name, name);
  }
  program.nodes.push_back(gradients);
  return program;
}

size_t countPart(const CapturedStep &step, AttentionPart part) {
  return std::ranges::count(step.calls, part, &CapturedCall::attention);
}

TEST(AttentionTest, PairIsFoundThroughRenamings) {
  Resolved result = resolve(attentionStep());
  ASSERT_TRUE(result.step) << result.errors();
  const CapturedCall &forward = result.step->calls.front();
  const CapturedCall &backward = result.step->calls.back();
  EXPECT_EQ(forward.attention, AttentionPart::Forward);
  ASSERT_EQ(backward.attention, AttentionPart::Backward);
  EXPECT_EQ(backward.attentionForward, 0u);
  // `out`, not what detach made of it.
  EXPECT_EQ(backward.operands[4], *forward.results[0]);
  EXPECT_EQ(backward.operands[5], *forward.results[1]);
}

TEST(AttentionTest, PairsOfCapturedModelsAreFound) {
  for (const char *name : {"llama_tied", "llama_autocast", "raw_no_manifest",
                           "hf_llama", "hf_gpt2_tied", "vit"}) {
    Resolved result = resolveArchive(name);
    ASSERT_TRUE(result.step) << name << ": " << result.errors();
    EXPECT_EQ(countPart(*result.step, AttentionPart::Forward), 2u) << name;
    EXPECT_EQ(countPart(*result.step, AttentionPart::Backward), 2u) << name;
  }
}

TEST(AttentionTest, CoreTableIsRefused) {
  Resolved result = resolveArchive("core_table_wrong_flash");
  EXPECT_FALSE(result.step);
  ASSERT_EQ(result.report.errors.size(), 1u);
  EXPECT_NE(result.report.errors[0].find(
                "expected logsumexp to come from the matching "
                "_scaled_dot_product_flash_attention_for_cpu.default, got it "
                "from node \"where_3\": operator where.self; the gradients "
                "would be wrong"),
            std::string::npos)
      << result.errors();
}

TEST(AttentionTest, OutputOfSomethingElseIsRefused) {
  Resolved result = resolve(attentionStep({}, {{"out", tensorArgument("q")}}));
  EXPECT_NE(result.errors().find("expected out to come from the matching "
                                 "_scaled_dot_product_flash_attention_for_cpu."
                                 "default, got it from graph input \"q\""),
            std::string::npos)
      << result.errors();
}

TEST(AttentionTest, OtherOperandsAndOptionsAreRefused) {
  std::vector<std::pair<std::string, Json>> kCases = {
      {"key", tensorArgument("v")},
      {"is_causal", tagged("as_bool", true)},
      {"scale", tagged("as_float", 0.5)},
  };
  for (const auto &argument : kCases) {
    Resolved result = resolve(attentionStep({}, {argument}));
    EXPECT_NE(result.errors().find(
                  "expected query, key, value, is_causal, attn_mask and scale "
                  "of node \"attention\", whose results it reads"),
              std::string::npos)
        << argument.first << ": " << result.errors();
  }
}

TEST(AttentionTest, OptionsOfBothAreKept) {
  std::vector<std::pair<std::string, Json>> options = {
      {"is_causal", tagged("as_bool", true)},
      {"scale", tagged("as_float", 0.5)}};
  Resolved result = resolve(attentionStep(options, options));
  ASSERT_TRUE(result.step) << result.errors();
  EXPECT_EQ(countPart(*result.step, AttentionPart::Backward), 1u);
}

TEST(AttentionTest, DropoutIsRefusedByName) {
  std::vector<std::pair<std::string, Json>> dropout = {
      {"dropout_p", tagged("as_float", 0.1)}};
  expectErrors(
      resolve(attentionStep(dropout, dropout)),
      "graph: node \"attention\": operator "
      "_scaled_dot_product_flash_attention_for_cpu.default: expected dropout_p "
      "0: dropout inside of attention is not supported; set it to 0\n");
}

} // namespace
} // namespace sfsdp::test
