//===- Ordering.cpp - Where collectives start and where they are awaited --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/passes/analysis/OrderingTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/Ordering.h"

#include "passes/analysis/StableOrder.h"

#include <algorithm>
#include <cassert>

using namespace sfsdp;
using namespace sfsdp::analysis;
using runtime::Status;

namespace {

constexpr uint32_t kNone = UINT32_MAX;

/// Position in `transfers` of each node, or kNone.
std::vector<uint32_t> transfersByNode(const OrderingProblem &problem) {
  std::vector<uint32_t> transfers(problem.nodes.size(), kNone);
  for (uint32_t i = 0; i < problem.transfers.size(); ++i) {
    transfers[problem.transfers[i].node] = i;
  }
  return transfers;
}

} // namespace

//===----------------------------------------------------------------------===//
// Check and verify
//===----------------------------------------------------------------------===//

Status OrderingProblem::check() const {
  for (size_t i = 0; i < transfers.size(); ++i) {
    NodeId node = transfers[i].node;
    bool isInOrder = i == 0 || node > transfers[i - 1].node;
    if (node >= nodes.size() || !isInOrder || !nodes[node].isCommunication ||
        nodes[node].isBarrier) {
      return Status::error(
          "transfer " + std::to_string(i) +
          ": expected collectives ascending by node, got node " +
          std::to_string(node));
    }
  }
  return checkNodes(nodes);
}

Status OrderingProblem::verify(const OrderingSolution &solution) const {
  std::vector<uint32_t> transferOf = transfersByNode(*this);
  std::vector<uint32_t> first(nodes.size(), kNone), last(nodes.size(), kNone);
  for (uint32_t place = 0; place < solution.steps.size(); ++place) {
    auto [node, part] = solution.steps[place];
    std::string where = "step " + std::to_string(place);
    if (node >= nodes.size() ||
        (transferOf[node] == kNone) != (part == Part::Whole)) {
      return Status::error(where + ": expected a node in its own form, got " +
                           std::to_string(node));
    }
    bool isRepeated = part == Part::Wait
                          ? last[node] != kNone || first[node] == kNone
                          : first[node] != kNone;
    if (isRepeated) {
      return Status::error(where +
                           ": expected one start and then one wait, "
                           "got node " +
                           std::to_string(node) + " again or out of turn");
    }
    if (part != Part::Wait) {
      first[node] = place;
    }
    if (part != Part::Start) {
      last[node] = place;
    }
  }
  for (NodeId node = 0; node < nodes.size(); ++node) {
    if (last[node] == kNone) {
      return Status::error("expected every node to the end, got none for " +
                           std::to_string(node));
    }
    for (NodeId before : nodes[node].after) {
      if (last[before] == kNone || last[before] >= first[node]) {
        return Status::error("expected node " + std::to_string(before) +
                             " to end before node " + std::to_string(node) +
                             " begins, got it later");
      }
    }
  }
  return verifyBarriers(nodes, first, last);
}

//===----------------------------------------------------------------------===//
// No overlap
//===----------------------------------------------------------------------===//

OrderingSolution analysis::waitAtOnce(const OrderingProblem &problem) {
  std::vector<uint32_t> transferOf = transfersByNode(problem);
  OrderingSolution solution;
  for (NodeId node = 0; node < problem.nodes.size(); ++node) {
    if (transferOf[node] == kNone) {
      solution.steps.push_back({node, Part::Whole});
      continue;
    }
    solution.steps.push_back({node, Part::Start});
    solution.steps.push_back({node, Part::Wait});
  }
  return solution;
}

//===----------------------------------------------------------------------===//
// One ahead, one behind
//===----------------------------------------------------------------------===//

namespace {

/// Keys leave room between nodes: node i wants kStride * i, and what goes
/// around it takes the numbers beside that.
constexpr int64_t kStride = 8;

/// Places that starts and waits want.
class Prefetch {
public:
  explicit Prefetch(const OrderingProblem &problem)
      : problem(problem), transferOf(transfersByNode(problem)),
        starts(problem.transfers.size()), waits(problem.transfers.size()) {
    measure();
    placeGathers();
    placeReductions();
  }

  std::vector<OrderItem> items() const {
    // Item i < nodes is the node, or its start; the waits follow.
    size_t count = problem.nodes.size();
    std::vector<OrderItem> items(count + problem.transfers.size());
    for (NodeId node = 0; node < count; ++node) {
      items[node].key = kStride * node;
      for (NodeId before : problem.nodes[node].after) {
        items[node].after.push_back(endOf(before));
      }
    }
    for (uint32_t i = 0; i < problem.transfers.size(); ++i) {
      NodeId node = problem.transfers[i].node;
      items[node].key = starts[i];
      items[node].pulls = true;
      items[count + i].key = waits[i];
      items[count + i].after = {node};
    }
    return items;
  }

private:
  /// The item after which what `node` gives is there.
  uint32_t endOf(NodeId node) const {
    uint32_t transfer = transferOf[node];
    return transfer == kNone ? node : problem.nodes.size() + transfer;
  }

  void measure() {
    size_t count = problem.nodes.size();
    firstUse.assign(count, count);
    deadline.assign(count, count);
    previousBarrier.assign(count, -1);
    nextBarrier.assign(count, count);
    for (NodeId node = count; node-- > 0;) {
      const Node &it = problem.nodes[node];
      bool isFixed = it.isBarrier || it.isCommunication;
      for (NodeId before : it.after) {
        firstUse[before] = node;
        deadline[before] =
            std::min(deadline[before], isFixed ? node : deadline[node]);
      }
      if (node > 0) {
        nextBarrier[node - 1] = it.isBarrier ? node : nextBarrier[node];
      }
    }
    for (NodeId node = 1; node < count; ++node) {
      previousBarrier[node] = problem.nodes[node - 1].isBarrier
                                  ? int64_t(node) - 1
                                  : previousBarrier[node - 1];
    }
  }

  /// The latest key for a wait of `node` that releases its first use in time,
  /// on this side of the next barrier.
  int64_t beforeFirstUse(NodeId node) const {
    return kStride * std::min(firstUse[node], nextBarrier[node]) - 1;
  }

  /// A gather starts just before the wait of the one needed before it.
  void placeGathers() {
    std::vector<uint32_t> gathers;
    for (uint32_t i = 0; i < problem.transfers.size(); ++i) {
      const Transfer &transfer = problem.transfers[i];
      if (transfer.isReduction) {
        continue;
      }
      starts[i] = kStride * transfer.node;
      waits[i] = beforeFirstUse(transfer.node);
      if (transfer.mayMove) {
        gathers.push_back(i);
      }
    }
    std::ranges::stable_sort(gathers, {}, [&](uint32_t i) { return waits[i]; });
    for (size_t k = 0; k < gathers.size(); ++k) {
      NodeId node = problem.transfers[gathers[k]].node;
      int64_t wanted = kStride * node;
      if (k > 0) {
        wanted = std::min(wanted, waits[gathers[k - 1]] - 1);
      }
      int64_t earliest = kStride * previousBarrier[node] + 1;
      starts[gathers[k]] = std::max(wanted, earliest);
    }
  }

  /// A reduction is awaited just after the start of the next one.
  void placeReductions() {
    const Transfer *previous = nullptr;
    for (uint32_t i = 0; i < problem.transfers.size(); ++i) {
      const Transfer &transfer = problem.transfers[i];
      if (!transfer.isReduction) {
        continue;
      }
      starts[i] = kStride * transfer.node;
      waits[i] = beforeFirstUse(transfer.node);
      if (!transfer.mayMove) {
        continue;
      }
      waits[i] = latestWait(transfer.node);
      if (previous) {
        int64_t &wait = waits[previous - problem.transfers.data()];
        wait = std::min(wait, starts[i] + 1);
      }
      previous = &transfer;
    }
  }

  /// As late as other collectives that need it, and the next barrier, allow.
  int64_t latestWait(NodeId node) const {
    return kStride * std::min(deadline[node], nextBarrier[node]) - 1;
  }

  const OrderingProblem &problem;
  std::vector<uint32_t> transferOf;
  std::vector<int64_t> starts, waits;
  /// By node: the first node that needs it; the first collective or barrier
  /// that does, directly or not; the barriers around it. The number of nodes,
  /// or -1, stands for none.
  std::vector<NodeId> firstUse, deadline, nextBarrier;
  std::vector<int64_t> previousBarrier;
};

} // namespace

OrderingSolution analysis::prefetchByOne(const OrderingProblem &problem) {
  std::vector<OrderItem> items = Prefetch(problem).items();
  std::optional<std::vector<uint32_t>> order = stableOrder(items);
  assert(order && "starts and waits add no circle");
  std::vector<uint32_t> transferOf = transfersByNode(problem);
  OrderingSolution solution;
  for (uint32_t item : *order) {
    if (item >= problem.nodes.size()) {
      uint32_t transfer = item - problem.nodes.size();
      solution.steps.push_back({problem.transfers[transfer].node, Part::Wait});
      continue;
    }
    bool isTransfer = transferOf[item] != kNone;
    solution.steps.push_back({item, isTransfer ? Part::Start : Part::Whole});
  }
  return solution;
}
