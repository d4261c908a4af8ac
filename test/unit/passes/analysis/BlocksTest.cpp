//===- BlocksTest.cpp - Tests of block numbers ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests passes/analysis/Blocks.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/Blocks.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace sfsdp::analysis;
using testing::ElementsAre;

static std::vector<uint32_t> numbers(std::vector<std::string> names) {
  return numberBlocks(names);
}

TEST(Blocks, EndsAtTheFirstNumericSegment) {
  EXPECT_EQ(blockOf("layers.3.attention.wq.weight"), "layers.3");
  EXPECT_EQ(blockOf("stages.1.blocks.12.w"), "stages.1");
  EXPECT_EQ(blockOf("0.weight"), "0");
  EXPECT_EQ(blockOf("layers.7"), "layers.7");
  EXPECT_EQ(blockOf("norm.weight"), "");
  EXPECT_EQ(blockOf("conv1.weight"), "");
  EXPECT_EQ(blockOf(""), "");
}

TEST(Blocks, LlamaHasEmbeddingBlocksAndHead) {
  EXPECT_THAT(numbers({"tok_embeddings.weight", "layers.0.wq", "layers.0.wk",
                       "layers.1.wq", "norm.weight", "output.weight"}),
              ElementsAre(0, 1, 1, 2, 3, 3));
}

TEST(Blocks, NoNumbersAreOneBlock) {
  EXPECT_THAT(numbers({"a.weight", "a.bias", "b.weight"}),
              ElementsAre(0, 0, 0));
}

TEST(Blocks, ANameBetweenBlocksBelongsToTheOneBefore) {
  EXPECT_THAT(numbers({"encoder.0.w", "encoder.norm.w", "decoder.0.w"}),
              ElementsAre(0, 0, 1));
}

TEST(Blocks, ABlockThatComesAgainKeepsItsNumber) {
  EXPECT_THAT(numbers({"a.0.w", "a.1.w", "a.0.b"}), ElementsAre(0, 1, 0));
}

TEST(Blocks, OnlyBlocks) {
  EXPECT_THAT(numbers({"0.weight", "0.bias", "2.weight", "2.bias"}),
              ElementsAre(0, 0, 1, 1));
}

TEST(Blocks, NoNames) { EXPECT_TRUE(numbers({}).empty()); }
