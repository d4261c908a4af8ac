//===- BucketSizes.h - Buckets of a size -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of DistributedDataParallel: tensors in the order in which they are
// ready fill a bucket until it has reached its size; the first bucket is small,
// so that communication starts early. A tensor is never split, so a bucket may
// be larger than its size by all but one byte of its last tensor.
//
// Source: compute_bucket_assignment_by_size of PyTorch's reducer.
//
// Tested by test/unit/passes/analysis/BucketSizesTest.cpp and, against PyTorch
// itself, test/e2e/bucket-sizes.py.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_ANALYSIS_BUCKETSIZES_H
#define SFSDP_PASSES_ANALYSIS_BUCKETSIZES_H

#include <cstdint>
#include <span>
#include <vector>

namespace sfsdp::analysis {

/// Size of the first bucket unless all are smaller: 1 MiB.
inline constexpr int64_t kFirstBucketBytes = int64_t(1) << 20;

/// A bucket number for each tensor, from 0, never falling. `bytes` are those of
/// the tensors in order; a bucket that has reached `bucketBytes` (the first:
/// at most kFirstBucketBytes) is full.
std::vector<uint32_t> fillBuckets(std::span<const int64_t> bytes,
                                  int64_t bucketBytes);

} // namespace sfsdp::analysis

#endif // SFSDP_PASSES_ANALYSIS_BUCKETSIZES_H
