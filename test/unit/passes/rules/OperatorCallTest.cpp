//===- OperatorCallTest.cpp - Calls, their checks and defaults ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/rules/Rules.h"

#include <gtest/gtest.h>

#include <limits>

namespace sfsdp::rules {
namespace {

class OperatorCallTest : public testing::Test {
protected:
  OperatorCall callOf(std::string_view name, std::vector<Argument> arguments) {
    OperatorCall call;
    call.schema = schemas.find(name);
    call.arguments = std::move(arguments);
    return call;
  }

  SchemaTable schemas;
  TensorLayout matrix = contiguousLayout(DType::Float32, {2, 3});
};

TEST_F(OperatorCallTest, FillsDefaults) {
  OperatorCall call = callOf("slice.Tensor", {matrix});
  ASSERT_TRUE(fillDefaults(call).ok());
  std::vector<Argument> expected = {matrix, int64_t{0}, std::monostate(),
                                    std::monostate(), int64_t{1}};
  EXPECT_EQ(call.arguments, expected);
}

TEST_F(OperatorCallTest, FillsDefaultsOfEveryKind) {
  ASSERT_TRUE(schemas
                  .allow("my::f(Tensor a, Scalar b=1, Scalar c=2.5, Scalar d="
                         "True, float e=1e-05, bool f=False, str g=\"m\\\"n\", "
                         "int[2] h=3, int[] i=[1, -2], float[] j=[0.5], "
                         "bool[2] k=[True, False], ScalarType l=long, "
                         "MemoryFormat m=channels_last, Tensor[] n=[], "
                         "ScalarType o=6) -> Tensor")
                  .ok());
  OperatorCall call = callOf("my::f.default", {matrix});
  ASSERT_TRUE(fillDefaults(call).ok());
  std::vector<Argument> expected = {matrix,
                                    int64_t{1},
                                    2.5,
                                    true,
                                    1e-05,
                                    false,
                                    std::string("m\"n"),
                                    std::vector<int64_t>{3, 3},
                                    std::vector<int64_t>{1, -2},
                                    std::vector<double>{0.5},
                                    std::vector<bool>{true, false},
                                    DType::Int64,
                                    MemoryFormat::ChannelsLast,
                                    TensorList(),
                                    DType::Float32};
  EXPECT_EQ(call.arguments, expected);
  EXPECT_TRUE(checkArguments(call).ok());
}

TEST_F(OperatorCallTest, SpreadsANumberOverAListOfFixedLength) {
  OperatorCall call =
      callOf("max_pool2d_with_indices.default",
             {contiguousLayout(DType::Float32, {1, 1, 4, 4}), int64_t{2}});
  ASSERT_TRUE(fillDefaults(call).ok());
  EXPECT_EQ(call.integers(1), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(call.integers(2), (std::vector<int64_t>()));
  EXPECT_EQ(call.integers(3), (std::vector<int64_t>{0, 0}));
}

TEST_F(OperatorCallTest, NegativeMissingArgument) {
  OperatorCall call = callOf("mm.default", {matrix});
  EXPECT_EQ(fillDefaults(call).message(),
            "mm.default: argument 'mat2': is missing and has no default");
}

TEST_F(OperatorCallTest, NegativeUnreadableDefault) {
  ASSERT_TRUE(schemas.allow("my::f(Tensor a, int b=x) -> Tensor").ok());
  OperatorCall call = callOf("my::f.default", {matrix});
  EXPECT_EQ(fillDefaults(call).message(),
            "my::f.default: argument 'b': its default 'x' is not understood");
}

TEST_F(OperatorCallTest, ChecksKinds) {
  EXPECT_TRUE(checkArguments(callOf("mm.default", {matrix, matrix})).ok());
  EXPECT_EQ(checkArguments(callOf("mm.default", {matrix})).message(),
            "mm.default: expected 2 arguments, got 1");
  EXPECT_EQ(checkArguments(callOf("mm.default", {matrix, std::monostate()}))
                .message(),
            "mm.default: argument 'mat2': expected Tensor, got None");
  EXPECT_EQ(checkArguments(callOf("sum.dim_IntList",
                                  {matrix, 1.5, false, std::monostate()}))
                .message(),
            "sum.dim_IntList: argument 'dim': expected int[], got a float");
}

TEST_F(OperatorCallTest, NumbersStandForTensorsOnlyWhereTheRuleSaysSo) {
  EXPECT_TRUE(checkArguments(callOf("mul.Tensor", {matrix, 2.0})).ok());
  EXPECT_TRUE(
      checkArguments(callOf("mul.Tensor", {matrix, RuntimeScalar()})).ok());
  EXPECT_EQ(checkArguments(callOf("mm.default", {matrix, 2.0})).message(),
            "mm.default: argument 'mat2': expected Tensor, got a float");
}

TEST_F(OperatorCallTest, OptionalElementsOfLists) {
  TensorList some = {std::nullopt, contiguousLayout(DType::Int64, {2})};
  EXPECT_TRUE(checkArguments(callOf("index.Tensor", {matrix, some})).ok());
  EXPECT_FALSE(checkArguments(callOf("cat.default", {some, int64_t{0}})).ok());
}

TEST_F(OperatorCallTest, NegativeLayoutsThatNoTensorHas) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max() / 2;
  std::vector<TensorLayout> layouts = {
      {DType::Float32, {2, 3}, {1}},
      {DType::Float32, {-1}, {1}},
      {DType::Float32, {2}, {-1}},
      {DType::Float32, {kHuge, 4}, {1, 1}},
      {DType::Float32, {3, 3}, {kHuge, kHuge}},
  };
  for (const TensorLayout &layout : layouts) {
    EXPECT_FALSE(checkArguments(callOf("t.default", {layout})).ok());
  }
}

TEST_F(OperatorCallTest, TypedReads) {
  OperatorCall call =
      callOf("native_dropout.default", {matrix, int64_t{1}, std::monostate()});
  EXPECT_EQ(call.tensor(0), matrix);
  EXPECT_EQ(call.number(1), 1.0);
  EXPECT_TRUE(call.isNone(2));
  EXPECT_FALSE(call.booleanOrFalse(2));
  EXPECT_EQ(call.optionalTensor(2), nullptr);
  EXPECT_EQ(call.optionalInteger(2), std::nullopt);
  EXPECT_EQ(call.dtype(2), std::nullopt);
  EXPECT_TRUE(call.integers(2).empty());
}

TEST(TensorLayout, CountsWithoutOverflow) {
  TensorLayout huge =
      contiguousLayout(DType::Float32, {int64_t{1} << 40, int64_t{1} << 40});
  EXPECT_EQ(huge.elementCount(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(huge.bytes(), std::numeric_limits<int64_t>::max());
  huge.sizes.push_back(0);
  EXPECT_EQ(huge.elementCount(), 0);
  EXPECT_EQ(contiguousLayout(DType::BFloat16, {2, 3}).bytes(), 12);
  EXPECT_EQ(contiguousLayout(DType::Float32, {}).elementCount(), 1);
}

TEST(TensorLayout, ContiguityIgnoresUnusedStrides) {
  EXPECT_TRUE(
      (TensorLayout{DType::Float32, {2, 1, 3}, {3, 99, 1}}).isContiguous());
  EXPECT_TRUE((TensorLayout{DType::Float32, {0, 3}, {7, 7}}).isContiguous());
  EXPECT_FALSE((TensorLayout{DType::Float32, {3, 2}, {1, 3}}).isContiguous());
}

TEST(TensorLayout, SameLayoutIgnoresUnusedStrides) {
  TensorLayout left = {DType::Float32, {2, 1, 3}, {3, 99, 1}};
  TensorLayout right = contiguousLayout(DType::Float32, {2, 1, 3});
  EXPECT_TRUE(isSameLayout(left, right));
  right.strides = {1, 1, 2};
  EXPECT_FALSE(isSameLayout(left, right));
  EXPECT_FALSE(isSameLayout(left, contiguousLayout(DType::Float16, {2, 1, 3})));
  EXPECT_FALSE(isSameLayout(left, contiguousLayout(DType::Float32, {2, 3})));
}

} // namespace
} // namespace sfsdp::rules
