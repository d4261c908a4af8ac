//===- RegistryTest.cpp - All rules by name -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/support/LayoutFixtures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace sfsdp::rules {
namespace {

TEST(Registry, NamesAreAscendingAndHaveSchemas) {
  SchemaTable schemas;
  const std::vector<Rule> &rules = allRules();
  EXPECT_TRUE(std::ranges::is_sorted(rules, {}, &Rule::name));
  EXPECT_EQ(std::ranges::adjacent_find(rules, {}, &Rule::name), rules.end());
  for (const Rule &rule : rules) {
    EXPECT_NE(schemas.find(rule.name), nullptr) << rule.name;
    EXPECT_NE(rule.layout, nullptr) << rule.name;
    EXPECT_NE(rule.cost, nullptr) << rule.name;
    EXPECT_EQ(findRule(rule.name), &rule);
  }
}

TEST(Registry, NoOperatorThatWritesItsArgumentsHasARule) {
  SchemaTable schemas;
  for (const Rule &rule : allRules()) {
    EXPECT_FALSE(schemas.find(rule.name)->mutates()) << rule.name;
  }
}

// F52: an unknown operator has a schema but no rule.
TEST(Registry, F52UnknownOperators) {
  SchemaTable schemas;
  EXPECT_NE(schemas.find("fft_fft.default"), nullptr);
  EXPECT_EQ(findRule("fft_fft.default"), nullptr);
  EXPECT_EQ(findRule("add_.Tensor"), nullptr);
  EXPECT_EQ(findRule("native_batch_norm.default"), nullptr);
  EXPECT_EQ(findRule(""), nullptr);
}

TEST(Registry, RandomOperatorsSaySo) {
  std::set<std::string_view> random;
  for (const Rule &rule : allRules()) {
    if (rule.effect == Effect::Random) {
      random.insert(rule.name);
    }
  }
  EXPECT_EQ(
      random,
      (std::set<std::string_view>{
          "bernoulli.default", "bernoulli.p", "native_dropout.default",
          "rand.default", "rand_like.default", "randint.default", "randint.low",
          "randn.default", "randn_like.default", "randperm.default"}));
}

TEST(Registry, Traits) {
  EXPECT_TRUE(findRule("alias.default")->isIdentity);
  EXPECT_TRUE(findRule("detach.default")->isIdentity);
  EXPECT_FALSE(findRule("view.default")->isIdentity);
  EXPECT_TRUE(findRule("_to_copy.default")->isCast);
  EXPECT_FALSE(findRule("clone.default")->isCast);
  EXPECT_TRUE(findRule("_assert_tensor_metadata.default")->isAssertion);
}

// The operators that Llama, GPT-2, ViT and ResNet need.
TEST(Registry, CoversTheOperatorsOfCommonModels) {
  for (std::string_view name :
       {"_assert_tensor_metadata.default",
        "_log_softmax.default",
        "_log_softmax_backward_data.default",
        "_scaled_dot_product_flash_attention_for_cpu.default",
        "_scaled_dot_product_flash_attention_for_cpu_backward.default",
        "_to_copy.default",
        "_unsafe_view.default",
        "add.Tensor",
        "addmm.default",
        "alias.default",
        "arange.default",
        "bitwise_and.Tensor",
        "cat.default",
        "clone.default",
        "constant_pad_nd.default",
        "convolution.default",
        "convolution_backward.default",
        "cos.default",
        "cumsum.default",
        "detach.default",
        "div.Scalar",
        "embedding.default",
        "embedding_dense_backward.default",
        "eq.Tensor",
        "expand.default",
        "gelu.default",
        "gelu_backward.default",
        "index.Tensor",
        "le.Tensor",
        "max_pool2d_with_indices.default",
        "max_pool2d_with_indices_backward.default",
        "mean.dim",
        "mm.default",
        "mul.Scalar",
        "mul.Tensor",
        "_native_batch_norm_legit_functional.default",
        "native_batch_norm_backward.default",
        "native_dropout.default",
        "native_dropout_backward.default",
        "native_layer_norm.default",
        "native_layer_norm_backward.default",
        "ne.Scalar",
        "neg.default",
        "new_ones.default",
        "nll_loss_forward.default",
        "nll_loss_backward.default",
        "ones_like.default",
        "permute.default",
        "pow.Tensor_Scalar",
        "relu.default",
        "rsqrt.default",
        "scalar_tensor.default",
        "select.int",
        "select_backward.default",
        "silu.default",
        "silu_backward.default",
        "sin.default",
        "slice.Tensor",
        "slice_backward.default",
        "split.Tensor",
        "squeeze.dim",
        "sub.Tensor",
        "sum.dim_IntList",
        "t.default",
        "tanh.default",
        "tanh_backward.default",
        "threshold_backward.default",
        "transpose.int",
        "unsqueeze.default",
        "view.default",
        "where.self",
        "bmm.default",
        "_safe_softmax.default",
        "_softmax_backward_data.default",
        "tril.default",
        "ones.default"}) {
    EXPECT_NE(findRule(name), nullptr) << name;
  }
}

// Twenty or more recorded calls of each rule, but for those with few arguments.
TEST(Registry, EveryRuleIsRecorded) {
  SchemaTable schemas;
  std::map<std::string, int> calls;
  for (const auto &entry : std::filesystem::directory_iterator(
           std::string(SFSDP_TEST_INPUTS) + "/rules")) {
    runtime::Expected<std::vector<test::RecordedCall>> recorded =
        test::readRecordedCalls(entry.path().string(), schemas);
    ASSERT_TRUE(recorded.ok()) << recorded.message();
    for (const test::RecordedCall &call : *recorded) {
      ++calls[call.call.schema->name];
    }
  }
  std::set<std::string_view> few = {"_assert_tensor_metadata.default",
                                    "eye.default",
                                    "lift_fresh.default",
                                    "linspace.default",
                                    "pow.Scalar",
                                    "randperm.default",
                                    "scalar_tensor.default",
                                    "arange.default",
                                    "randint.default"};
  for (const Rule &rule : allRules()) {
    int least = few.count(rule.name) != 0 ? 0 : 20;
    EXPECT_GE(calls[std::string(rule.name)], least) << rule.name;
  }
}

} // namespace
} // namespace sfsdp::rules
