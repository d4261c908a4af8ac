//===- Bucketing.h - Which collectives travel together --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The problem: collectives ("members") in a program, a group for each, and the
// wish that those of one group become one bucket. A bucket is one operation: it
// needs what all its members need, and gives what all of them give. So a bucket
// of gathers goes to its first member and takes along what the others read; one
// of reductions goes to its last member, and what reads the others moves down
// behind it.
//
// Not every wish can be met. Two members cannot share a bucket if one needs the
// other; nor, in general, if two buckets then need each other:
//
//   a1 = gather x        With {a1, a2} at a1 and {r1, r2} at r2, the bucket of
//   r1 = reduce y        gathers needs r1 (through a2) and the bucket of
//   r2 = reduce f(a1)    reductions needs a1 (through r2). One of the two must
//   a2 = gather r1       fall apart.
//
// Tested by test/unit/passes/analysis/BucketingTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_ANALYSIS_BUCKETING_H
#define SFSDP_PASSES_ANALYSIS_BUCKETING_H

#include "passes/analysis/Node.h"

namespace sfsdp::analysis {

/// A collective that may share a bucket.
struct BucketMember {
  NodeId node = 0;
  /// Members of one group may share a bucket; they are of one direction.
  uint32_t group = 0;
  /// Position of its parameter in registration order: that of members in a
  /// bucket.
  uint32_t rank = 0;
  /// Goes to its bucket's last member instead of its first.
  bool isReduction = false;
};

struct BucketingSolution {
  /// Positions in BucketingProblem::members, each once; those of a bucket by
  /// rank.
  std::vector<std::vector<uint32_t>> buckets;
  /// Every node once. The members of a bucket follow each other directly.
  std::vector<NodeId> order;
};

struct BucketingProblem {
  std::vector<Node> nodes;
  /// Ascending by node.
  std::vector<BucketMember> members;

  /// Fails on a malformed problem.
  runtime::Status check() const;

  /// Fails unless `solution` partitions the members by group and its order,
  /// with each bucket as one operation, keeps every dependence and crosses no
  /// barrier.
  runtime::Status verify(const BucketingSolution &solution) const;
};

/// Merges each group as far as it goes, in program order. Requires check().
/// O(n log n) but for programs like the one above, which cost one more round
/// per bucket that falls apart.
BucketingSolution mergeGroups(const BucketingProblem &problem);

} // namespace sfsdp::analysis

#endif // SFSDP_PASSES_ANALYSIS_BUCKETING_H
