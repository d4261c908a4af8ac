//===- LocalTransport.cpp - Transports without LibTorch for the tests -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The local transport; the packed carrier on top of it, which is what Gloo's
// transport does, but under the sanitizers; and shared memory.
//
//===----------------------------------------------------------------------===//

#include "runtime/LocalProcessGroup.h"
#include "runtime/PackedCarrier.h"
#include "test/support/ShmTransport.h"

using namespace sfsdp;
using namespace sfsdp::runtime;

namespace {

/// Moves blocks of bytes through another group.
class GroupExchange final : public ByteExchange {
public:
  explicit GroupExchange(std::unique_ptr<ProcessGroup> group)
      : group(std::move(group)) {}

  std::string_view transport() const override { return "packed"; }

  Status allToAll(char *input, char *output, int64_t blockBytes) override {
    int64_t count = group->size() * blockBytes;
    return run(CollectiveKind::AllToAll, {input, output, count, count}, 0);
  }

  Status allGather(char *input, char *output, int64_t blockBytes) override {
    int64_t count = group->size() * blockBytes;
    return run(CollectiveKind::AllGather, {input, output, blockBytes, count},
               0);
  }

  Status broadcast(char *buffer, int64_t bytes, int root) override {
    return run(CollectiveKind::Broadcast, {buffer, buffer, bytes, bytes}, root);
  }

private:
  Status run(CollectiveKind kind, CollectiveMember member, int root) {
    member.dtype = DType::UInt8;
    CollectiveCall call;
    call.kind = kind;
    call.root = root;
    call.members = {member};
    Expected<std::unique_ptr<Work>> work = group->start(std::move(call));
    return work.ok() ? (*work)->wait() : work.status();
  }

  std::unique_ptr<ProcessGroup> group;
};

test::Groups makePackedGroups(int size, std::chrono::milliseconds timeout) {
  test::Groups groups = makeLocalGroups(size, timeout);
  for (int rank = 0; rank < size; ++rank) {
    auto exchange = std::make_unique<GroupExchange>(std::move(groups[rank]));
    groups[rank] = makeThreadedGroup(
        makePackedCarrier(std::move(exchange), rank, size), rank, size);
  }
  return groups;
}

} // namespace

std::vector<test::Transport> sfsdp::test::transports() {
  return {{"local", makeLocalGroups},
          {"packed", makePackedGroups},
          {"shm_staged", makeStagedShmGroups},
          {"shm_born", makeBornShmGroups},
          {"shm_mixed", makeMixedShmGroups},
          {"shm_mapped_once", makeShmGroupsMappedOnce}};
}
