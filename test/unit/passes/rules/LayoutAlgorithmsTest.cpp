//===- LayoutAlgorithmsTest.cpp - PyTorch's layout arithmetic -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expected values are PyTorch's; LayoutFixtureTest.cpp has them in bulk.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/LayoutAlgorithms.h"

#include <gtest/gtest.h>

#include <limits>

namespace sfsdp::rules {
namespace {

using Sizes = std::vector<int64_t>;

TensorLayout floats(Sizes sizes, Sizes strides) {
  return {DType::Float32, std::move(sizes), std::move(strides)};
}

TensorLayout floats(Sizes sizes) {
  return contiguousLayout(DType::Float32, std::move(sizes));
}

TEST(LayoutAlgorithms, ElementwiseKeepsTheOrderOfPermutedOperands) {
  TensorLayout turned = floats({2, 3}, {1, 2});
  std::optional<TensorLayout> layout =
      elementwiseLayout(DType::Float32, {turned, turned});
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->strides, (Sizes{1, 2}));
}

TEST(LayoutAlgorithms, ElementwiseFollowsTheFirstOperandThatTells) {
  TensorLayout turned = floats({2, 3}, {1, 2});
  EXPECT_EQ(
      elementwiseLayout(DType::Float32, {turned, floats({2, 3})})->strides,
      (Sizes{1, 2}));
  EXPECT_EQ(
      elementwiseLayout(DType::Float32, {floats({2, 3}), turned})->strides,
      (Sizes{3, 1}));
  // An expanded operand does not tell.
  TensorLayout expanded = floats({2, 3}, {0, 1});
  EXPECT_EQ(elementwiseLayout(DType::Float32, {expanded, turned})->strides,
            (Sizes{1, 2}));
}

TEST(LayoutAlgorithms, ElementwiseBroadcasts) {
  std::optional<TensorLayout> layout =
      elementwiseLayout(DType::Bool, {floats({2, 1, 4}), floats({3, 1})});
  ASSERT_TRUE(layout);
  EXPECT_EQ(*layout, contiguousLayout(DType::Bool, {2, 3, 4}));
  EXPECT_FALSE(elementwiseLayout(DType::Bool, {floats({2}), floats({3})}));
  EXPECT_EQ(broadcastSizes({0, 1}, {3}), (Sizes{0, 3}));
  EXPECT_EQ(broadcastSizes({1}, {0}), (Sizes{0}));
}

TEST(LayoutAlgorithms, ChannelsLastStaysChannelsLast) {
  TensorLayout images = floats({2, 3, 4, 5}, {60, 1, 15, 3});
  EXPECT_TRUE(isContiguousIn(images, MemoryFormat::ChannelsLast));
  EXPECT_TRUE(isNonOverlappingAndDense(images));
  EXPECT_EQ(suggestedFormat(images), MemoryFormat::ChannelsLast);
  EXPECT_EQ(elementwiseLayout(DType::Float32, {images})->strides,
            images.strides);
  EXPECT_EQ(stridesIn(MemoryFormat::ChannelsLast, images.sizes),
            images.strides);
  EXPECT_FALSE(stridesIn(MemoryFormat::ChannelsLast, {2, 3}));
  // 1 x 1 images with one channel could be either: Contiguous.
  EXPECT_EQ(suggestedFormat(floats({2, 1, 1, 1})), MemoryFormat::Contiguous);
}

TEST(LayoutAlgorithms, PreservedStridesCloseHoles) {
  EXPECT_EQ(preservedStrides(floats({2, 3}, {1, 2})), (Sizes{1, 2}));
  EXPECT_EQ(preservedStrides(floats({2, 3}, {2, 8})), (Sizes{1, 2}));
  EXPECT_EQ(preservedStrides(floats({2, 3}, {0, 1})), (Sizes{3, 1}));
}

TEST(LayoutAlgorithms, ViewsNeedDimensionsThatLieAsOne) {
  TensorLayout turned = floats({3, 2}, {1, 3});
  EXPECT_FALSE(viewStrides(turned, {6}));
  EXPECT_EQ(viewStrides(turned, {3, 1, 2}), (Sizes{1, 6, 3}));
  EXPECT_EQ(viewStrides(floats({4, 6}), {2, 2, 3, 2}), (Sizes{12, 6, 2, 1}));
  // A split of rows of a wider tensor.
  EXPECT_EQ(viewStrides(floats({4, 6}, {8, 1}), {4, 2, 3}), (Sizes{8, 3, 1}));
  EXPECT_FALSE(viewStrides(floats({4, 6}, {8, 1}), {24}));
  EXPECT_EQ(viewStrides(floats({}), {1, 1}), (Sizes{1, 1}));
}

TEST(LayoutAlgorithms, WrapsDimensions) {
  EXPECT_EQ(wrapDim(-1, 3), 2u);
  EXPECT_EQ(wrapDim(0, 0), 0u);
  EXPECT_EQ(wrapDim(-1, 0), 0u);
  EXPECT_FALSE(wrapDim(3, 3));
  EXPECT_FALSE(wrapDim(-4, 3));
}

TEST(LayoutAlgorithms, ValidSizesFit64Bits) {
  EXPECT_TRUE(areValidSizes({}));
  EXPECT_TRUE(areValidSizes({0, 3}));
  EXPECT_FALSE(areValidSizes({-1}));
  EXPECT_FALSE(areValidSizes({int64_t{1} << 40, int64_t{1} << 40}));
  // Row-major strides of these would not fit, although there is no element.
  EXPECT_FALSE(areValidSizes({0, int64_t{1} << 40, int64_t{1} << 40}));
}

TEST(LayoutAlgorithms, ExpandedElementsCountOnce) {
  EXPECT_EQ(distinctElements(floats({4, 3}, {0, 1})), 3);
  EXPECT_EQ(distinctElements(floats({4, 3})), 12);
  EXPECT_EQ(distinctElements(floats({1, 3}, {0, 1})), 3);
}

} // namespace
} // namespace sfsdp::rules
