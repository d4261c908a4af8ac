//===- ShmProcessGroup.cpp - Processes of one host over shared memory -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts the parts together: a lane (ThreadedProcessGroup), the collectives
// (SharedCarrier), and the segments of the group's ranks (HostPeers).
//
// Tested by test/unit/runtime/ShmProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/ShmProcessGroup.h"

#include "runtime/SharedCarrier.h"

#include <algorithm>
#include <new>

using namespace sfsdp::runtime;

namespace {

/// Everything that one rank has mapped of a group.
struct MappedGroup {
  std::shared_ptr<HostPeers> peers;
  SharedSegment own;
  std::vector<SharedSegment> others; ///< by member
};

SharedGroupView viewOf(const std::shared_ptr<MappedGroup> &mapped,
                       const std::vector<int> &ranks, int place) {
  SharedGroupView view;
  view.place = place;
  view.own = reinterpret_cast<GroupBlock *>(mapped->own.data());
  for (size_t i = 0; i < ranks.size(); ++i) {
    const SharedSegment &segment =
        static_cast<int>(i) == place ? mapped->own : mapped->others[i];
    view.members.push_back(
        {ranks[i], reinterpret_cast<const GroupBlock *>(segment.data()),
         &mapped->peers->arena(ranks[i])});
  }
  view.hasLeft = [peers = mapped->peers.get(), ranks](int member) {
    return peers->hasLeft(ranks[member]);
  };
  view.keep = mapped;
  view.memory = arenaOf(mapped->peers);
  return view;
}

} // namespace

Expected<std::unique_ptr<ProcessGroup>> sfsdp::runtime::makeShmGroup(
    std::shared_ptr<HostPeers> peers, const std::string &name,
    const std::vector<int> &ranks, std::chrono::milliseconds timeout) {
  auto own = std::find(ranks.begin(), ranks.end(), peers->rank());
  if (own == ranks.end()) {
    return Status::error("rank " + std::to_string(peers->rank()) +
                         " is no member of process group '" + name + "'");
  }
  auto place = static_cast<int>(own - ranks.begin());
  auto mapped = std::make_shared<MappedGroup>();
  mapped->peers = std::move(peers);
  auto segment = SharedSegment::create(sizeof(GroupBlock));
  if (!segment.ok()) {
    return segment.status().within("process group '" + name + "'");
  }
  mapped->own = *std::move(segment);
  new (mapped->own.data()) GroupBlock;
  auto others = mapped->peers->exchange(name, ranks, mapped->own);
  if (!others.ok()) {
    return others.status().within("process group '" + name + "'");
  }
  mapped->others = *std::move(others);
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (static_cast<int>(i) != place &&
        mapped->others[i].size() < static_cast<int64_t>(sizeof(GroupBlock))) {
      return Status::error("process group '" + name + "': rank " +
                           std::to_string(ranks[i]) +
                           " runs another version of this program");
    }
  }
  return makeThreadedGroup(
      makeSharedCarrier(viewOf(mapped, ranks, place), timeout), place,
      static_cast<int>(ranks.size()));
}
