//===- CostTest.cpp - Cost facts ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/rules/Rules.h"

#include <gtest/gtest.h>

namespace sfsdp::rules {
namespace {

using runtime::CostClass;
using runtime::CostFacts;
using runtime::Expected;

class Cost : public testing::Test {
protected:
  CostFacts costOf(std::string_view name, std::vector<Argument> arguments) {
    OperatorCall call;
    call.schema = schemas.find(name);
    call.arguments = std::move(arguments);
    const Rule *rule = findRule(name);
    runtime::Status filled = fillDefaults(call);
    EXPECT_TRUE(filled.ok()) << filled.message();
    runtime::Status checked = checkArguments(call);
    EXPECT_TRUE(checked.ok()) << checked.message();
    Expected<ResultLayouts> results = rule->layout(call);
    EXPECT_TRUE(results.ok()) << results.message();
    return results ? rule->cost(call, *results) : CostFacts();
  }

  SchemaTable schemas;
};

TensorLayout floats(std::vector<int64_t> sizes) {
  return contiguousLayout(DType::Float32, std::move(sizes));
}

TEST_F(Cost, MatrixProduct) {
  CostFacts cost = costOf("mm.default", {floats({4, 8}), floats({8, 16})});
  EXPECT_EQ(cost.costClass, CostClass::Gemm);
  EXPECT_EQ(cost.flops, 2 * 4 * 16 * 8);
  EXPECT_EQ(cost.bytesRead, (4 * 8 + 8 * 16) * 4);
  EXPECT_EQ(cost.bytesWritten, 4 * 16 * 4);
  EXPECT_EQ(cost.batch, 1);
  EXPECT_EQ(cost.m, 4);
  EXPECT_EQ(cost.n, 16);
  EXPECT_EQ(cost.k, 8);
}

TEST_F(Cost, AddedAndBatchedProducts) {
  CostFacts added =
      costOf("addmm.default", {floats({16}), floats({4, 8}), floats({8, 16})});
  EXPECT_EQ(added.flops, 2 * 4 * 16 * 8);
  EXPECT_EQ(added.bytesRead, (16 + 4 * 8 + 8 * 16) * 4);
  CostFacts batched =
      costOf("bmm.default", {floats({3, 4, 8}), floats({3, 8, 16})});
  EXPECT_EQ(batched.batch, 3);
  EXPECT_EQ(batched.flops, 3 * 2 * 4 * 16 * 8);
}

TEST_F(Cost, Attention) {
  TensorLayout query = floats({2, 3, 16, 8});
  CostFacts full = costOf("_scaled_dot_product_flash_attention_for_cpu.default",
                          {query, query, query, 0.0, false});
  // Scores and their product with the values: 4 · B · H · S² · D.
  EXPECT_EQ(full.flops, 4 * 2 * 3 * 16 * 16 * 8);
  EXPECT_EQ(full.costClass, CostClass::Attention);
  CostFacts causal =
      costOf("_scaled_dot_product_flash_attention_for_cpu.default",
             {query, query, query, 0.0, true});
  EXPECT_EQ(causal.flops, 2 * 2 * 3 * 16 * 16 * 8);
  CostFacts backward = costOf(
      "_scaled_dot_product_flash_attention_for_cpu_backward.default",
      {query, query, query, query, query, floats({2, 3, 16}), 0.0, false});
  EXPECT_EQ(backward.flops * 2, full.flops * 5);
  // Workspaces as --profile counts them: 16 queries by 16 keys, heads of 8.
  EXPECT_EQ(full.workspaceBytes, 4 * 16 * (16 + 2 + 8));
  EXPECT_EQ(backward.workspaceBytes, 4 * 16 * (2 * 16 + 1));
}

TEST_F(Cost, Convolution) {
  using Ints = std::vector<int64_t>;
  CostFacts cost = costOf("convolution.default",
                          {floats({2, 3, 8, 8}), floats({4, 3, 3, 3}),
                           std::monostate(), Ints{1, 1}, Ints{0, 0}, Ints{1, 1},
                           false, Ints{0, 0}, int64_t{1}});
  // 2 images of 6 x 6 positions, 4 outputs, 3 x 3 x 3 taps.
  EXPECT_EQ(cost.flops, 2 * (2 * 6 * 6) * 4 * (3 * 3 * 3));
  EXPECT_EQ(cost.m, 2 * 6 * 6);
  EXPECT_EQ(cost.n, 4);
  EXPECT_EQ(cost.k, 27);
  EXPECT_EQ(cost.workspaceBytes, 4 * (4 * 3 * 3 * 3 + 2 * 3 * 8 * 8));
}

TEST_F(Cost, PointwiseReadsExpandedOperandsOnce) {
  TensorLayout row = {DType::Float32, {4, 3}, {0, 1}};
  CostFacts cost = costOf("add.Tensor", {floats({4, 3}), row});
  EXPECT_EQ(cost.costClass, CostClass::Pointwise);
  EXPECT_EQ(cost.flops, 12);
  EXPECT_EQ(cost.bytesRead, (12 + 3) * 4);
  EXPECT_EQ(cost.bytesWritten, 12 * 4);
}

TEST_F(Cost, ReductionCountsWhatItReads) {
  CostFacts cost = costOf("sum.default", {floats({4, 3})});
  EXPECT_EQ(cost.costClass, CostClass::Reduction);
  EXPECT_EQ(cost.flops, 12);
  EXPECT_EQ(cost.bytesRead, 48);
  EXPECT_EQ(cost.bytesWritten, 4);
}

TEST_F(Cost, ViewsAreFree) {
  for (std::string_view name : {"t.default", "alias.default"}) {
    CostFacts cost = costOf(name, {floats({4, 3})});
    EXPECT_EQ(cost.costClass, CostClass::View);
    EXPECT_EQ(cost.flops + cost.bytesRead + cost.bytesWritten, 0);
  }
}

TEST_F(Cost, EmbeddingReadsTheRowsItReturns) {
  TensorLayout indices = contiguousLayout(DType::Int64, {2, 5});
  CostFacts cost = costOf("embedding.default", {floats({1000, 8}), indices});
  EXPECT_EQ(cost.costClass, CostClass::Gather);
  EXPECT_EQ(cost.bytesRead, 10 * 8 * 4 + 10 * 8);
  EXPECT_EQ(cost.bytesWritten, 10 * 8 * 4);
}

TEST_F(Cost, CastMovesBothTypes) {
  CostFacts cost = costOf("_to_copy.default", {floats({10}), DType::BFloat16});
  EXPECT_EQ(cost.costClass, CostClass::Copy);
  EXPECT_EQ(cost.bytesRead, 40);
  EXPECT_EQ(cost.bytesWritten, 20);
}

TEST_F(Cost, CreationReadsNothing) {
  CostFacts cost = costOf("ones_like.default", {floats({10})});
  EXPECT_EQ(cost.costClass, CostClass::Creation);
  EXPECT_EQ(cost.bytesRead, 0);
  EXPECT_EQ(cost.bytesWritten, 40);
}

TEST_F(Cost, LayerNorm) {
  CostFacts cost = costOf("native_layer_norm.default",
                          {floats({4, 8}), std::vector<int64_t>{8}, floats({8}),
                           floats({8}), 1e-5});
  EXPECT_EQ(cost.costClass, CostClass::Normalization);
  EXPECT_EQ(cost.bytesRead, (32 + 8 + 8) * 4);
  EXPECT_EQ(cost.bytesWritten, (32 + 4 + 4) * 4);
}

} // namespace
} // namespace sfsdp::rules
