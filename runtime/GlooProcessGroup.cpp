//===- GlooProcessGroup.cpp - Collectives over Gloo -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts the parts together: a lane (ThreadedProcessGroup), packing and ordered
// sums (PackedCarrier), and Gloo to move bytes (GlooExchange).
//
// Tested by test/unit/runtime/GlooProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/GlooProcessGroup.h"

#include "runtime/GlooExchange.h"

#include <algorithm>

using namespace sfsdp::runtime;

namespace {

/// The exchange of a group of one rank, whose calls never reach it.
class NoExchange final : public ByteExchange {
public:
  std::string_view transport() const override { return "gloo"; }
  Status allToAll(char *, char *, int64_t) override { return alone(); }
  Status allGather(char *, char *, int64_t) override { return alone(); }
  Status broadcast(char *, int64_t, int) override { return alone(); }

private:
  static Status alone() {
    return Status::error("a group of one rank exchanges nothing");
  }
};

} // namespace

Expected<std::unique_ptr<ProcessGroup>>
sfsdp::runtime::makeGlooGroup(Store &store, const std::string &name,
                              const std::vector<int> &ranks, int rank,
                              const GlooOptions &options) {
  auto place = std::find(ranks.begin(), ranks.end(), rank);
  if (place == ranks.end()) {
    return Status::error("rank " + std::to_string(rank) +
                         " is no member of process group '" + name + "'");
  }
  int groupRank = static_cast<int>(place - ranks.begin());
  int groupSize = static_cast<int>(ranks.size());
  if (groupSize == 1) {
    return makeThreadedGroup(
        makePackedCarrier(std::make_unique<NoExchange>(), 0, 1), 0, 1);
  }
  std::unique_ptr<Store> prefixed = withPrefix(store, "gloo/" + name + "/");
  Expected<std::unique_ptr<ByteExchange>> exchange =
      connectGloo(*prefixed, groupRank, groupSize, options);
  if (!exchange.ok()) {
    return exchange.status().within("process group '" + name + "'");
  }
  return makeThreadedGroup(
      makePackedCarrier(*std::move(exchange), groupRank, groupSize), groupRank,
      groupSize);
}
