//===- RankGroups.h - All process groups of one rank ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The groups that a plan's collectives name by their axes, and two of the
// runtime's own: one that averages the loss over the data axes, and one of all
// ranks that collects what rank 0 writes. They are apart so that the plan's
// traffic counts stay what the plan says.
//
// Tested by test/unit/runtime/CollectTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_RANKGROUPS_H
#define SFSDP_RUNTIME_RANKGROUPS_H

#include "runtime/MeshPosition.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>

namespace sfsdp::runtime {

/// Makes the end of group `name` over `ranks` for one of them; the same calls
/// in the same order on all ranks.
using GroupMaker = std::function<Expected<std::unique_ptr<ProcessGroup>>(
    const std::string &name, const std::vector<int> &ranks)>;

class RankGroups {
public:
  /// Makes every group of the rank at `position`.
  static Expected<RankGroups> make(const Plan &plan,
                                   const MeshPosition &position,
                                   const GroupMaker &makeGroup);

  /// The group of a collective of the plan; null when the plan has none there.
  ProcessGroup *find(const std::vector<std::string> &axes) const;

  ProcessGroup &loss() const { return *byName.at("loss"); }

  /// Ranks in the order of mesh positions.
  ProcessGroup &world() const { return *byName.at("world"); }

  void abort(const std::string &reason) const;

private:
  std::map<std::string, std::unique_ptr<ProcessGroup>> byName;
};

/// The group makers of ranks that are threads of this process, by rank.
std::vector<GroupMaker> localGroupMakers(int ranks,
                                         std::chrono::milliseconds timeout);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_RANKGROUPS_H
