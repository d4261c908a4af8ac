//===- Node.h - An operation as the ordering problems see it --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/passes/analysis/.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_ANALYSIS_NODE_H
#define SFSDP_PASSES_ANALYSIS_NODE_H

#include "runtime/Status.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sfsdp::analysis {

/// Position of a node in the given order.
using NodeId = uint32_t;

struct Node {
  /// The nodes that must stand before this one, each earlier in the given
  /// order: makers of what it reads, readers of what it overwrites.
  std::vector<NodeId> after;
  /// Has effects that nobody knows: no node may cross it.
  bool isBarrier = false;
  /// A collective, or one half of it.
  bool isCommunication = false;
};

/// Fails unless each node comes after the nodes that it names.
runtime::Status checkNodes(std::span<const Node> nodes);

/// Fails if a node stands on another side of a barrier than in the given order.
/// A node stands from first[i] to last[i] in the checked order; both are equal
/// for all but collectives in flight.
runtime::Status verifyBarriers(std::span<const Node> nodes,
                               std::span<const uint32_t> first,
                               std::span<const uint32_t> last);

} // namespace sfsdp::analysis

#endif // SFSDP_PASSES_ANALYSIS_NODE_H
