//===- TensorBytesTest.cpp - Sizes of tensors -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/TensorBytes.h"

#include <gtest/gtest.h>
#include <vector>

using namespace sfsdp::runtime;

namespace {

using List = std::vector<int64_t>;

constexpr int64_t kLarge = int64_t{1} << 32;

std::optional<int64_t> f32Bytes(const List &sizes) {
  return contiguousBytes(sizes, DType::Float32);
}

std::optional<int64_t> f32Storage(const List &sizes, const List &strides,
                                  int64_t offset = 0) {
  return storageBytes(sizes, strides, offset, DType::Float32);
}

} // namespace

TEST(TensorBytes, CountsElements) {
  EXPECT_EQ(elementCount(List{}), 1);
  EXPECT_EQ(elementCount(List{2, 3}), 6);
  EXPECT_EQ(elementCount(List{2, 0, 3}), 0);
}

TEST(TensorBytes, ContiguousIsRowMajorWithoutGaps) {
  EXPECT_TRUE(isContiguous(List{}, List{}));
  EXPECT_TRUE(isContiguous(List{2, 3}, List{3, 1}));
  EXPECT_FALSE(isContiguous(List{2, 3}, List{1, 2}));
  EXPECT_FALSE(isContiguous(List{2, 3}, List{4, 1}));
  // Strides that no element is reached by do not matter.
  EXPECT_TRUE(isContiguous(List{2, 1, 3}, List{3, 99, 1}));
  EXPECT_TRUE(isContiguous(List{0, 3}, List{7, 7}));
}

TEST(TensorBytes, OfContiguousTensors) {
  EXPECT_EQ(f32Bytes({2, 3}), 24);
  EXPECT_EQ(f32Bytes({}), 4);
  EXPECT_EQ(f32Bytes({2, 0, 3}), 0);
}

TEST(TensorBytes, OfStridedTensorsWithOffset) {
  // Last element: 5 + 1 * 1 + 2 * 10 = 26, so 27 elements.
  EXPECT_EQ(f32Storage({2, 3}, {1, 10}, 5), 27 * 4);
  EXPECT_EQ(f32Storage({}, {}, 3), 16);
  EXPECT_EQ(f32Storage({4}, {0}), 4);
  EXPECT_EQ(f32Storage({4, 0}, {7, 7}, 100), 0);
}

TEST(TensorBytes, OverflowIsNoSize) {
  EXPECT_EQ(f32Bytes({kLarge, kLarge}), std::nullopt);
  // 2^64 elements would wrap to 0.
  EXPECT_EQ(f32Bytes({kLarge, kLarge, 1}), std::nullopt);
  EXPECT_EQ(f32Bytes({kLarge, kLarge, 0}), 0);
  EXPECT_EQ(f32Storage({kLarge}, {kLarge}), std::nullopt);
  EXPECT_EQ(f32Storage({1}, {1}, INT64_MAX), std::nullopt);
}

TEST(TensorBytes, NegativeOrUnequalListsAreNoSize) {
  EXPECT_EQ(f32Bytes({-1, 0}), std::nullopt);
  EXPECT_EQ(f32Storage({2}, {-1}), std::nullopt);
  EXPECT_EQ(f32Storage({2}, {1}, -1), std::nullopt);
  EXPECT_EQ(f32Storage({2, 2}, {1}), std::nullopt);
}

TEST(TensorBytes, ShapesInMessages) {
  EXPECT_EQ(describeShape(List{}), "[]");
  EXPECT_EQ(describeShape(List{2, 3}), "[2, 3]");
}
