//===- Node.cpp - An operation as the ordering problems see it ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/passes/analysis/.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/Node.h"

#include <algorithm>
#include <limits>

using namespace sfsdp;
using namespace sfsdp::analysis;
using runtime::Status;

Status analysis::checkNodes(std::span<const Node> nodes) {
  for (NodeId node = 0; node < nodes.size(); ++node) {
    for (NodeId before : nodes[node].after) {
      if (before >= node) {
        return Status::error("node " + std::to_string(node) +
                             ": expected to come after earlier nodes, got " +
                             std::to_string(before));
      }
    }
  }
  return Status();
}

Status analysis::verifyBarriers(std::span<const Node> nodes,
                                std::span<const uint32_t> first,
                                std::span<const uint32_t> last) {
  uint32_t latest = 0;
  for (NodeId node = 0; node < nodes.size(); ++node) {
    if (nodes[node].isBarrier && latest > first[node]) {
      return Status::error("expected no node to cross barrier " +
                           std::to_string(node) +
                           ", got one that moved behind it");
    }
    latest = std::max(latest, last[node]);
  }
  uint32_t earliest = std::numeric_limits<uint32_t>::max();
  for (NodeId node = nodes.size(); node-- > 0;) {
    if (nodes[node].isBarrier && earliest < last[node]) {
      return Status::error("expected no node to cross barrier " +
                           std::to_string(node) +
                           ", got one that moved before it");
    }
    earliest = std::min(earliest, first[node]);
  }
  return Status();
}
