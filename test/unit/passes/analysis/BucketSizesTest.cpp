//===- BucketSizesTest.cpp - Buckets of a size ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/analysis/BucketSizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace sfsdp::analysis;
using testing::ElementsAre;
using testing::IsEmpty;

static constexpr int64_t kMiB = 1 << 20;

TEST(BucketSizes, TheFirstBucketIsSmall) {
  std::vector<int64_t> bytes = {kMiB / 2,  kMiB / 2, 20 * kMiB,
                                10 * kMiB, kMiB,     30 * kMiB};
  EXPECT_THAT(fillBuckets(bytes, 25 * kMiB), ElementsAre(0, 0, 1, 1, 2, 2));
}

TEST(BucketSizes, AFullBucketTakesNoMore) {
  std::vector<int64_t> bytes = {99, 1, 100, 101, 50, 49, 0, 1};
  EXPECT_THAT(fillBuckets(bytes, 100), ElementsAre(0, 0, 1, 2, 3, 3, 3, 3));
}

TEST(BucketSizes, NoTensorsMakeNoBuckets) {
  EXPECT_THAT(fillBuckets({}, kMiB), IsEmpty());
}
