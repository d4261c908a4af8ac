//===- BucketSizes.cpp - Buckets of a size --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BucketSizes.h.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/BucketSizes.h"

#include <algorithm>

using namespace sfsdp;

std::vector<uint32_t> analysis::fillBuckets(std::span<const int64_t> bytes,
                                            int64_t bucketBytes) {
  std::vector<uint32_t> buckets;
  uint32_t bucket = 0;
  int64_t filled = 0;
  int64_t limit = std::min(kFirstBucketBytes, bucketBytes);
  for (int64_t tensor : bytes) {
    buckets.push_back(bucket);
    filled += tensor;
    if (filled >= limit) {
      ++bucket;
      filled = 0;
      limit = bucketBytes;
    }
  }
  return buckets;
}
