//===- TypePromotionTest.cpp - Element types of mixed operands ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/rules/TypePromotion.h"

#include <gtest/gtest.h>

namespace sfsdp::rules {
namespace {

DType resultOf(std::vector<Argument> arguments) {
  OperatorCall call;
  call.arguments = std::move(arguments);
  std::vector<size_t> indices;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    indices.push_back(i);
  }
  return resultType(call, indices);
}

TensorLayout vectorOf(DType dtype) { return contiguousLayout(dtype, {2}); }
TensorLayout ranklessOf(DType dtype) { return contiguousLayout(dtype, {}); }

// torch.promote_types of every pair, rows and columns in this order.
constexpr DType kTypes[] = {
    DType::Bool,    DType::UInt8,   DType::Int8,      DType::Int16,
    DType::Int32,   DType::Int64,   DType::Float16,   DType::BFloat16,
    DType::Float32, DType::Float64, DType::Complex64, DType::Complex128};

TEST(TypePromotion, PairsAsPyTorch) {
  using T = DType;
  EXPECT_EQ(promoteTypes(T::UInt8, T::Int8), T::Int16);
  EXPECT_EQ(promoteTypes(T::UInt8, T::Int64), T::Int64);
  EXPECT_EQ(promoteTypes(T::Bool, T::UInt8), T::UInt8);
  EXPECT_EQ(promoteTypes(T::Int64, T::Float16), T::Float16);
  EXPECT_EQ(promoteTypes(T::Float16, T::BFloat16), T::Float32);
  EXPECT_EQ(promoteTypes(T::BFloat16, T::Float32), T::Float32);
  EXPECT_EQ(promoteTypes(T::Float64, T::Float16), T::Float64);
  EXPECT_EQ(promoteTypes(T::Complex64, T::Float64), T::Complex128);
  EXPECT_EQ(promoteTypes(T::Complex64, T::Int64), T::Complex64);
}

TEST(TypePromotion, IsSymmetricAndIdempotent) {
  for (DType left : kTypes) {
    EXPECT_EQ(promoteTypes(left, left), left);
    for (DType right : kTypes) {
      DType both = promoteTypes(left, right);
      EXPECT_EQ(promoteTypes(right, left), both);
      EXPECT_EQ(promoteTypes(left, both), both);
    }
  }
}

TEST(TypePromotion, TensorsOfRankZeroWeighLess) {
  EXPECT_EQ(resultOf({vectorOf(DType::BFloat16), ranklessOf(DType::Float32)}),
            DType::BFloat16);
  EXPECT_EQ(resultOf({vectorOf(DType::Int32), ranklessOf(DType::Int64)}),
            DType::Int32);
  EXPECT_EQ(resultOf({vectorOf(DType::Int32), ranklessOf(DType::Float64)}),
            DType::Float64);
  EXPECT_EQ(resultOf({vectorOf(DType::Bool), ranklessOf(DType::UInt8)}),
            DType::UInt8);
}

TEST(TypePromotion, NumbersWeighLeast) {
  EXPECT_EQ(resultOf({vectorOf(DType::BFloat16), 0.5}), DType::BFloat16);
  EXPECT_EQ(resultOf({vectorOf(DType::Int64), 0.5}), DType::Float32);
  EXPECT_EQ(resultOf({vectorOf(DType::Int8), int64_t{1000}}), DType::Int8);
  EXPECT_EQ(resultOf({vectorOf(DType::Bool), int64_t{1}}), DType::Int64);
  EXPECT_EQ(resultOf({ranklessOf(DType::Float64), 0.5}), DType::Float64);
  EXPECT_EQ(resultOf({ranklessOf(DType::Float16), int64_t{1}}), DType::Float16);
  EXPECT_EQ(resultOf({vectorOf(DType::Bool), true}), DType::Bool);
  EXPECT_EQ(resultOf({vectorOf(DType::Float16), RuntimeScalar()}),
            DType::Float16);
}

TEST(TypePromotion, NoneDoesNotCount) {
  EXPECT_EQ(resultOf({vectorOf(DType::Int8), std::monostate()}), DType::Int8);
}

} // namespace
} // namespace sfsdp::rules
