//===- ScopesTest.cpp - Where nodes come from ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The phase that follows from the graph alone is the one that was captured,
// wherever both are known.
//
//===----------------------------------------------------------------------===//

#include "passes/import/Scopes.h"

#include "test/support/ProgramText.h"

#include <gtest/gtest.h>

namespace sfsdp::test {
namespace {

using namespace sfsdp::exported;

/// A program of one node with this metadata.
Program programOf(Node node) {
  Program program;
  program.nodes.push_back(std::move(node));
  return program;
}

TEST(ScopesTest, ReadsWhatTheCapturerNoted) {
  Node node;
  node.name = "mm";
  node.custom = R"({"fqn": "layers.0.wq", "seq": 3, "phase": "bwd",
                    "src": "model.py:42"})";
  Scope scope = scopesOf(programOf(node)).at(0);
  EXPECT_EQ(scope.module, "layers.0.wq");
  EXPECT_EQ(scope.source, "model.py:42");
  EXPECT_TRUE(scope.isBackward);
  EXPECT_EQ(describe(node, scope), "node \"mm\" at model.py:42");
}

TEST(ScopesTest, FallsBackToStacks) {
  Node node;
  node.moduleStack = "L__self__,,model.Llama;L__self__layers.1,layers.1,"
                     "model.Block;L__self__layers.1.mlp,layers.1.mlp,model.MLP";
  node.stackTrace = "  File \"src/model.py\", line 12, in forward\n"
                    "    x = self.block(x)\n"
                    "  File \"src/block.py\", line 7, in forward\n"
                    "    return torch.relu(x)\n"
                    "  File \"lib/torch/nn/functional.py\", line 9, in f\n";
  Scope scope = scopesOf(programOf(node)).at(0);
  EXPECT_EQ(scope.module, "layers.1.mlp");
  EXPECT_EQ(scope.source, "block.py:7");
  EXPECT_FALSE(scope.isBackward);
}

TEST(ScopesTest, NotesOfOthersAreIgnored) {
  for (const char *custom : {"not JSON", "[1]", R"({"fqn": 3})", "{}"}) {
    Node node;
    node.custom = custom;
    Scope scope = scopesOf(programOf(node)).at(0);
    EXPECT_EQ(scope.module, "") << custom;
    EXPECT_EQ(scope.source, "") << custom;
  }
}

TEST(ScopesTest, BackwardIsWhatFollowsTheLoss) {
  runtime::Expected<runtime::JsonDocument> document =
      runtime::parseJson(smallStep().text(), "graph");
  ASSERT_TRUE(document.ok());
  runtime::Expected<Program> program = readProgram(document->root());
  ASSERT_TRUE(program.ok()) << program.message();
  // mul, loss | seed, grad, mul_1
  EXPECT_EQ(guessBackward(*program),
            (std::vector<bool>{false, false, true, true, true}));
}

class CapturedPhases : public testing::TestWithParam<const char *> {};

TEST_P(CapturedPhases, AreThoseOfTheGraph) {
  Expected<GraphFile> file = readGraphFile(std::string(SFSDP_TEST_INPUTS) +
                                           "/archives/" + GetParam() + ".pt2");
  ASSERT_TRUE(file.ok()) << file.message();
  std::vector<Scope> captured = scopesOf(file->program);
  std::vector<bool> guessed = guessBackward(file->program);
  size_t backward = 0;
  for (size_t i = 0; i < captured.size(); ++i) {
    EXPECT_EQ(captured[i].isBackward, guessed[i])
        << file->program.nodes[i].name;
    backward += guessed[i] ? 1 : 0;
  }
  EXPECT_GT(backward, captured.size() / 3);
  EXPECT_LT(backward, captured.size());
}

INSTANTIATE_TEST_SUITE_P(, CapturedPhases,
                         testing::Values("llama_tied", "llama_autocast",
                                         "hf_llama", "hf_gpt2_tied", "vit",
                                         "mlp_frozen", "mlp_unused",
                                         "mlp_batchnorm", "mlp_dropout"));

} // namespace
} // namespace sfsdp::test
