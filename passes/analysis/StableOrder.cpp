//===- StableOrder.cpp - A topological order close to wanted places -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/passes/analysis/StableOrderTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/StableOrder.h"

#include <functional>
#include <queue>
#include <ranges>
#include <utility>

using namespace sfsdp::analysis;

namespace {

/// Kahn's algorithm: the smallest key among the items that may come next.
std::optional<std::vector<uint32_t>>
orderByKeys(std::span<const OrderItem> items, std::span<const int64_t> keys) {
  std::vector<uint32_t> missing(items.size());
  std::vector<std::vector<uint32_t>> users(items.size());
  using Entry = std::pair<int64_t, uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  for (uint32_t item = 0; item < items.size(); ++item) {
    missing[item] = items[item].after.size();
    for (uint32_t before : items[item].after) {
      users[before].push_back(item);
    }
    if (missing[item] == 0) {
      ready.emplace(keys[item], item);
    }
  }
  std::vector<uint32_t> order;
  order.reserve(items.size());
  while (!ready.empty()) {
    uint32_t item = ready.top().second;
    ready.pop();
    order.push_back(item);
    for (uint32_t user : users[item]) {
      if (--missing[user] == 0) {
        ready.emplace(keys[user], user);
      }
    }
  }
  if (order.size() != items.size()) {
    return std::nullopt;
  }
  return order;
}

} // namespace

std::optional<std::vector<uint32_t>>
sfsdp::analysis::stableOrder(std::span<const OrderItem> items) {
  std::vector<int64_t> keys;
  std::vector<bool> pulls;
  for (const OrderItem &item : items) {
    keys.push_back(item.key);
    pulls.push_back(item.pulls);
  }
  std::optional<std::vector<uint32_t>> order = orderByKeys(items, keys);
  if (!order) {
    return std::nullopt;
  }
  // Users first, so that a key travels along a whole chain.
  for (uint32_t item : std::views::reverse(*order)) {
    if (!pulls[item]) {
      continue;
    }
    for (uint32_t before : items[item].after) {
      if (keys[before] > keys[item]) {
        keys[before] = keys[item];
        pulls[before] = true;
      }
    }
  }
  return orderByKeys(items, keys);
}
