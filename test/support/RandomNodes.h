//===- RandomNodes.h - Random programs for the ordering problems ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by the tests that use it, test/unit/passes/analysis/.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_TEST_SUPPORT_RANDOMNODES_H
#define SFSDP_TEST_SUPPORT_RANDOMNODES_H

#include "passes/analysis/Node.h"

#include <algorithm>
#include <random>

namespace sfsdp::test {

/// A program of `count` nodes. Each needs up to three of the twelve before it;
/// about a third are collectives, one in forty is a barrier.
inline std::vector<analysis::Node> randomNodes(std::mt19937 &random,
                                               uint32_t count) {
  auto below = [&](uint32_t bound) { return random() % bound; };
  std::vector<analysis::Node> nodes(count);
  for (uint32_t node = 0; node < count; ++node) {
    uint32_t window = std::min(node, 12u);
    for (uint32_t i = 0; window > 0 && i < below(4); ++i) {
      nodes[node].after.push_back(node - 1 - below(window));
    }
    nodes[node].isBarrier = below(40) == 0;
    nodes[node].isCommunication = !nodes[node].isBarrier && below(3) == 0;
  }
  return nodes;
}

} // namespace sfsdp::test

#endif // SFSDP_TEST_SUPPORT_RANDOMNODES_H
