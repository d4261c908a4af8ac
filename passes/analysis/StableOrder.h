//===- StableOrder.h - A topological order close to wanted places ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bucketing and ordering both want some items earlier or later than they stand
// and everything else where it was. They give each item the place it wants as a
// key; the order is the topological one that always takes the smallest key.
// What must wait for a later item thereby moves down behind it, and no further.
//
// Tested by test/unit/passes/analysis/StableOrderTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_ANALYSIS_STABLEORDER_H
#define SFSDP_PASSES_ANALYSIS_STABLEORDER_H

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sfsdp::analysis {

struct OrderItem {
  /// Items that must come before, in any order.
  std::vector<uint32_t> after;
  /// The place it wants; equal keys keep the order of the items.
  int64_t key = 0;
  /// Takes along what it needs: the items before it get its key if theirs is
  /// larger.
  bool pulls = false;
};

/// Absent if the items wait for each other in a circle. O(n log n) in items and
/// `after` entries.
std::optional<std::vector<uint32_t>>
stableOrder(std::span<const OrderItem> items);

} // namespace sfsdp::analysis

#endif // SFSDP_PASSES_ANALYSIS_STABLEORDER_H
