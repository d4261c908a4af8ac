//===- RankGroups.cpp - All process groups of one rank --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A group is called by its axes and its first rank, which makes it unique in
// the job.
//
// Tested by test/unit/runtime/CollectTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/RankGroups.h"
#include "runtime/LocalProcessGroup.h"

#include <algorithm>
#include <mutex>

using namespace sfsdp::runtime;

namespace {

std::string keyOf(const std::vector<std::string> &axes) {
  std::string key = "plan";
  for (const std::string &axis : axes) {
    key += "/" + axis;
  }
  return key;
}

/// Axes of each group that is needed, by its key.
std::map<std::string, std::vector<std::string>> neededGroups(const Plan &plan) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const MeshAxis &axis : plan.header.mesh.axes) {
    groups["world"].push_back(axis.name);
  }
  groups["world"];
  groups["loss"] = plan.header.dataAxes;
  for (const Program &program : plan.programs) {
    for (const Instruction &instruction : program.instructions) {
      const auto *start = std::get_if<CollectiveStart>(&instruction.action);
      if (start) {
        groups[keyOf(start->axes)] = start->axes;
      }
    }
  }
  return groups;
}

} // namespace

Expected<RankGroups> RankGroups::make(const Plan &plan,
                                      const MeshPosition &position,
                                      const GroupMaker &makeGroup) {
  RankGroups groups;
  for (const auto &[key, axes] : neededGroups(plan)) {
    std::vector<int> ranks = position.groupOn(axes);
    std::string name = key + "@" + std::to_string(ranks.front());
    auto group = makeGroup(name, ranks);
    if (!group) {
      return group.status().within("group " + name);
    }
    groups.byName[key] = std::move(*group);
  }
  return groups;
}

ProcessGroup *RankGroups::find(const std::vector<std::string> &axes) const {
  auto group = byName.find(keyOf(axes));
  return group == byName.end() ? nullptr : group->second.get();
}

void RankGroups::abort(const std::string &reason) const {
  for (const auto &[name, group] : byName) {
    group->abort(reason);
  }
}

std::vector<GroupMaker>
sfsdp::runtime::localGroupMakers(int ranks, std::chrono::milliseconds timeout) {
  struct Ends {
    std::mutex mutex;
    std::map<std::string, std::vector<std::unique_ptr<ProcessGroup>>> byName;
  };
  auto ends = std::make_shared<Ends>();
  std::vector<GroupMaker> makers;
  for (int rank = 0; rank < ranks; ++rank) {
    makers.emplace_back(
        [=](const std::string &name, const std::vector<int> &members)
            -> Expected<std::unique_ptr<ProcessGroup>> {
          std::lock_guard lock(ends->mutex);
          auto &group = ends->byName[name];
          if (group.empty()) {
            group = makeLocalGroups(static_cast<int>(members.size()), timeout);
          }
          auto own = std::find(members.begin(), members.end(), rank);
          return std::move(group[own - members.begin()]);
        });
  }
  return makers;
}
