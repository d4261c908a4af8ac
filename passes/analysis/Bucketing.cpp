//===- Bucketing.cpp - Which collectives travel together ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/passes/analysis/BucketingTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/Bucketing.h"

#include "passes/analysis/StableOrder.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

using namespace sfsdp;
using namespace sfsdp::analysis;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Check
//===----------------------------------------------------------------------===//

Status BucketingProblem::check() const {
  if (Status status = checkNodes(nodes); !status.ok()) {
    return status;
  }
  std::unordered_map<uint32_t, bool> isReductionOf;
  for (size_t i = 0; i < members.size(); ++i) {
    const BucketMember &member = members[i];
    std::string where = "member " + std::to_string(i);
    if (member.node >= nodes.size() ||
        (i > 0 && member.node <= members[i - 1].node)) {
      return Status::error(where +
                           ": expected members ascending by node, got "
                           "node " +
                           std::to_string(member.node));
    }
    if (!nodes[member.node].isCommunication || nodes[member.node].isBarrier) {
      return Status::error(where + ": expected a collective, got node " +
                           std::to_string(member.node));
    }
    auto [known, isNew] =
        isReductionOf.emplace(member.group, member.isReduction);
    if (!isNew && known->second != member.isReduction) {
      return Status::error(where + ": expected one direction in group " +
                           std::to_string(member.group) + ", got both");
    }
  }
  return Status();
}

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//

namespace {

constexpr uint32_t kNone = UINT32_MAX;

/// Where each node stands once buckets are single operations.
struct Places {
  std::vector<uint32_t> of;       ///< place of each node
  std::vector<uint32_t> bucketOf; ///< bucket of each node, or kNone
};

Status verifyPartition(const BucketingProblem &problem,
                       const BucketingSolution &solution, Places &places) {
  places.bucketOf.assign(problem.nodes.size(), kNone);
  size_t count = 0;
  for (uint32_t bucket = 0; bucket < solution.buckets.size(); ++bucket) {
    const std::vector<uint32_t> &members = solution.buckets[bucket];
    std::string where = "bucket " + std::to_string(bucket);
    if (members.empty()) {
      return Status::error(where + ": expected members, got none");
    }
    for (size_t i = 0; i < members.size(); ++i, ++count) {
      if (members[i] >= problem.members.size()) {
        return Status::error(where + ": expected a member, got " +
                             std::to_string(members[i]));
      }
      const BucketMember &member = problem.members[members[i]];
      const BucketMember &previous =
          problem.members[members[i == 0 ? 0 : i - 1]];
      if (places.bucketOf[member.node] != kNone) {
        return Status::error(where + ": expected each member once, got " +
                             std::to_string(members[i]) + " again");
      }
      if (member.group != previous.group || member.rank < previous.rank) {
        return Status::error(where +
                             ": expected one group in registration "
                             "order, got member " +
                             std::to_string(members[i]));
      }
      places.bucketOf[member.node] = bucket;
    }
  }
  if (count != problem.members.size()) {
    return Status::error("expected every member in a bucket, got " +
                         std::to_string(count) + " of " +
                         std::to_string(problem.members.size()));
  }
  return Status();
}

/// Gives each node its place; the members of a bucket share one.
Status placeNodes(const BucketingProblem &problem,
                  const BucketingSolution &solution, Places &places) {
  places.of.assign(problem.nodes.size(), kNone);
  std::vector<bool> isPlaced(solution.buckets.size());
  uint32_t place = 0;
  uint32_t previous = kNone;
  for (NodeId node : solution.order) {
    if (node >= problem.nodes.size() || places.of[node] != kNone) {
      return Status::error("expected each node once, got " +
                           std::to_string(node));
    }
    uint32_t bucket = places.bucketOf[node];
    if (bucket != kNone && bucket == previous) {
      places.of[node] = place - 1;
      continue;
    }
    if (bucket != kNone && isPlaced[bucket]) {
      return Status::error("bucket " + std::to_string(bucket) +
                           ": expected its members side by side, got node " +
                           std::to_string(node) + " apart");
    }
    if (bucket != kNone) {
      isPlaced[bucket] = true;
    }
    places.of[node] = place++;
    previous = bucket;
  }
  if (solution.order.size() != problem.nodes.size()) {
    return Status::error("expected every node in the order, got " +
                         std::to_string(solution.order.size()) + " of " +
                         std::to_string(problem.nodes.size()));
  }
  return Status();
}

} // namespace

Status BucketingProblem::verify(const BucketingSolution &solution) const {
  Places places;
  if (Status status = verifyPartition(*this, solution, places); !status.ok()) {
    return status;
  }
  if (Status status = placeNodes(*this, solution, places); !status.ok()) {
    return status;
  }
  for (NodeId node = 0; node < nodes.size(); ++node) {
    for (NodeId before : nodes[node].after) {
      if (places.of[before] >= places.of[node]) {
        return Status::error("expected node " + std::to_string(before) +
                             " before node " + std::to_string(node) +
                             ", got it at the same place or later");
      }
    }
  }
  return verifyBarriers(nodes, places.of, places.of);
}

//===----------------------------------------------------------------------===//
// Solve
//===----------------------------------------------------------------------===//

namespace {

/// Merges members into buckets in one sweep over the program.
class Merger {
public:
  explicit Merger(const BucketingProblem &problem)
      : problem(problem), latestFixed(problem.nodes.size(), -1),
        waitsFor(problem.nodes.size()) {}

  std::vector<std::vector<uint32_t>> merge() {
    size_t next = 0;
    for (NodeId node = 0; node < problem.nodes.size(); ++node) {
      bool isMember =
          next < problem.members.size() && problem.members[next].node == node;
      sweep(node, isMember ? &problem.members[next] : nullptr);
      if (isMember) {
        join(next++);
      }
    }
    std::vector<std::vector<uint32_t>> buckets;
    for (Bucket &bucket : all) {
      buckets.push_back(std::move(bucket.members));
    }
    return buckets;
  }

private:
  struct Bucket {
    std::vector<uint32_t> members;
    bool isOpen = true;
  };

  const BucketMember &firstOf(const Bucket &bucket) const {
    return problem.members[bucket.members.front()];
  }

  /// Records what node `id`, which is `member` if that is not null, depends on,
  /// and closes the buckets that may not grow past it.
  void sweep(NodeId id, const BucketMember *member) {
    const Node &node = problem.nodes[id];
    for (NodeId before : node.after) {
      const Node &source = problem.nodes[before];
      bool isFixed = source.isBarrier || source.isCommunication;
      latestFixed[id] = std::max(
          latestFixed[id], isFixed ? int64_t(before) : latestFixed[before]);
      for (uint32_t bucket : waitsFor[before]) {
        addOnce(waitsFor[id], bucket);
      }
    }
    std::erase_if(waitsFor[id],
                  [&](uint32_t bucket) { return !all[bucket].isOpen; });
    if (node.isBarrier) {
      for (auto &[group, bucket] : openOf) {
        all[bucket].isOpen = false;
      }
      openOf.clear();
    } else if (node.isCommunication) {
      closeNeeded(id, member);
    }
  }

  /// A collective cannot move down, so no bucket that it needs may, unless it
  /// moves down itself to the end of another bucket of reductions.
  void closeNeeded(NodeId id, const BucketMember *member) {
    bool moves = member && member->isReduction;
    for (uint32_t bucket : waitsFor[id]) {
      if (!moves || firstOf(all[bucket]).group == member->group) {
        close(bucket);
      }
    }
    std::erase_if(waitsFor[id],
                  [&](uint32_t bucket) { return !all[bucket].isOpen; });
  }

  void join(uint32_t index) {
    const BucketMember &member = problem.members[index];
    auto open = openOf.find(member.group);
    bool fits = open != openOf.end();
    if (fits && !member.isReduction) {
      fits = latestFixed[member.node] < firstOf(all[open->second]).node;
    }
    if (fits) {
      all[open->second].members.push_back(index);
    } else {
      if (open != openOf.end()) {
        all[open->second].isOpen = false;
      }
      openOf[member.group] = all.size();
      all.push_back({{index}});
    }
    if (member.isReduction) {
      addOnce(waitsFor[member.node], openOf[member.group]);
    }
  }

  void close(uint32_t bucket) {
    all[bucket].isOpen = false;
    openOf.erase(firstOf(all[bucket]).group);
  }

  static void addOnce(std::vector<uint32_t> &list, uint32_t value) {
    if (std::ranges::find(list, value) == list.end()) {
      list.push_back(value);
    }
  }

  const BucketingProblem &problem;
  std::vector<Bucket> all;
  std::unordered_map<uint32_t, uint32_t> openOf; ///< open bucket of a group
  /// Latest collective or barrier that a node needs; -1 for none. It stays
  /// where it is, so nothing that needs it can move above it.
  std::vector<int64_t> latestFixed;
  /// Open buckets of reductions that a node needs, and moves down with.
  std::vector<std::vector<uint32_t>> waitsFor;
};

/// The nodes with each bucket as one item; absent if buckets need each other.
std::optional<std::vector<NodeId>>
orderWithBuckets(const BucketingProblem &problem,
                 const std::vector<std::vector<uint32_t>> &buckets) {
  // Item i < nodes.size() is node i, or the bucket that has it as first member.
  std::vector<uint32_t> itemOf(problem.nodes.size());
  std::iota(itemOf.begin(), itemOf.end(), 0);
  std::vector<OrderItem> items(problem.nodes.size());
  std::vector<const std::vector<uint32_t> *> bucketOf(problem.nodes.size());
  for (NodeId node = 0; node < problem.nodes.size(); ++node) {
    items[node].key = node;
  }
  for (const std::vector<uint32_t> &bucket : buckets) {
    auto [first, last] = std::ranges::minmax(bucket, {}, [&](uint32_t member) {
      return problem.members[member].node;
    });
    NodeId item = problem.members[first].node;
    bucketOf[item] = &bucket;
    if (bucket.size() == 1) {
      continue;
    }
    for (uint32_t member : bucket) {
      itemOf[problem.members[member].node] = item;
    }
    bool isReduction = problem.members[first].isReduction;
    items[item].key = isReduction ? problem.members[last].node : item;
    items[item].pulls = !isReduction;
  }
  for (NodeId node = 0; node < problem.nodes.size(); ++node) {
    for (NodeId before : problem.nodes[node].after) {
      items[itemOf[node]].after.push_back(itemOf[before]);
    }
  }
  std::optional<std::vector<uint32_t>> order = stableOrder(items);
  if (!order) {
    return std::nullopt;
  }
  std::vector<NodeId> nodes;
  for (uint32_t item : *order) {
    if (itemOf[item] != item) {
      continue; // stands with its bucket
    }
    if (!bucketOf[item]) {
      nodes.push_back(item);
      continue;
    }
    for (uint32_t member : *bucketOf[item]) {
      nodes.push_back(problem.members[member].node);
    }
  }
  return nodes;
}

/// Takes the last bucket with several members apart. Requires that there is
/// one.
void splitLast(std::vector<std::vector<uint32_t>> &buckets) {
  auto last =
      std::find_if(buckets.rbegin(), buckets.rend(),
                   [](const auto &bucket) { return bucket.size() > 1; });
  std::vector<uint32_t> members = std::exchange(*last, {});
  last->push_back(members.front());
  for (uint32_t member : std::span(members).subspan(1)) {
    buckets.push_back({member});
  }
}

} // namespace

BucketingSolution analysis::mergeGroups(const BucketingProblem &problem) {
  BucketingSolution solution;
  solution.buckets = Merger(problem).merge();
  for (std::vector<uint32_t> &bucket : solution.buckets) {
    std::ranges::stable_sort(bucket, {}, [&](uint32_t member) {
      return problem.members[member].rank;
    });
  }
  std::optional<std::vector<NodeId>> order;
  while (!(order = orderWithBuckets(problem, solution.buckets))) {
    splitLast(solution.buckets);
  }
  solution.order = std::move(*order);
  return solution;
}
