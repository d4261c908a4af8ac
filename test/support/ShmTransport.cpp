//===- ShmTransport.cpp - Shared memory for the tests ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tests' buffers are ordinary memory; a wrapper around a group moves them
// into the arena and back.
//
//===----------------------------------------------------------------------===//

#include "test/support/ShmTransport.h"

#include "runtime/Collectives.h"
#include "runtime/SharedCarrier.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>

using namespace sfsdp;
using namespace sfsdp::runtime;

namespace {

template <typename T>
T orAbort(Expected<T> value) {
  if (!value.ok()) {
    std::fprintf(stderr, "%s\n", value.message().c_str());
    std::abort();
  }
  return *std::move(value);
}

/// Calls `act` with every rank, on a thread of its own.
void onThreads(int size, const std::function<void(int)> &act) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] { act(rank); });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
}

std::vector<int> firstRanks(int size) {
  std::vector<int> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// Blocks of one rank's arena, which are used again.
class ArenaBlocks {
public:
  explicit ArenaBlocks(std::shared_ptr<PeerMemory> memory)
      : memory(std::move(memory)) {}

  void *take(size_t bytes) {
    auto kept = unused.find(bytes);
    if (kept == unused.end()) {
      void *block = memory->take(bytes);
      if (!block) {
        std::fprintf(stderr, "the arena is too small for this test\n");
        std::abort();
      }
      return block;
    }
    void *block = kept->second;
    unused.erase(kept);
    return block;
  }

  void giveBack(void *block, size_t bytes) { unused.emplace(bytes, block); }

private:
  std::shared_ptr<PeerMemory> memory;
  std::multimap<size_t, void *> unused;
};

/// A buffer of a call and its twin in the arena.
struct Moved {
  void *original;
  void *block;
  size_t bytes;
};

class MovedWork final : public Work {
public:
  MovedWork(std::unique_ptr<Work> work, std::shared_ptr<ArenaBlocks> blocks,
            std::vector<Moved> inputs, std::vector<Moved> outputs)
      : work(std::move(work)), blocks(std::move(blocks)),
        inputs(std::move(inputs)), outputs(std::move(outputs)) {}

  Status wait() override {
    Status status = work->wait();
    for (const Moved &output : outputs) {
      copyBytes(output.original, output.block, output.bytes);
      blocks->giveBack(output.block, output.bytes);
    }
    for (const Moved &input : inputs) {
      blocks->giveBack(input.block, input.bytes);
    }
    return status;
  }
  LaneSpan span() const override { return work->span(); }

private:
  std::unique_ptr<Work> work;
  std::shared_ptr<ArenaBlocks> blocks;
  std::vector<Moved> inputs;
  std::vector<Moved> outputs;
};

class ArenaGroup final : public ProcessGroup {
public:
  /// `everySecond`: moves every second buffer only.
  ArenaGroup(std::unique_ptr<ProcessGroup> group, bool everySecond)
      : group(std::move(group)), everySecond(everySecond),
        blocks(std::make_shared<ArenaBlocks>(this->group->peerMemory())) {}

  int rank() const override { return group->rank(); }
  int size() const override { return group->size(); }
  std::string_view transport() const override { return group->transport(); }
  void abort(const std::string &reason) override { group->abort(reason); }
  Traffic traffic() const override { return group->traffic(); }

  Expected<std::unique_ptr<Work>> start(CollectiveCall call) override {
    std::vector<Moved> inputs, outputs;
    for (size_t i = 0; i < call.members.size(); ++i) {
      CollectiveMember &member = call.members[i];
      size_t size = byteSize(member.dtype);
      bool inPlace = member.input == member.output;
      if (moves(2 * i) && member.output) {
        outputs.push_back(move(member.output, member.outputCount * size));
        copyBytes(outputs.back().block, member.input,
                  inPlace ? member.inputCount * size : 0);
        member.output = outputs.back().block;
      }
      if (inPlace) {
        member.input = member.output;
      } else if (moves(2 * i + 1) && member.input) {
        inputs.push_back(
            move(const_cast<void *>(member.input), member.inputCount * size));
        copyBytes(inputs.back().block, member.input, inputs.back().bytes);
        member.input = inputs.back().block;
      }
    }
    auto work = group->start(std::move(call));
    if (!work.ok()) {
      return work.status();
    }
    return std::unique_ptr<Work>(std::make_unique<MovedWork>(
        *std::move(work), blocks, std::move(inputs), std::move(outputs)));
  }

private:
  bool moves(size_t buffer) const {
    return !everySecond || (buffer / 2 + buffer + rank()) % 2 == 0;
  }
  Moved move(void *original, size_t bytes) {
    return {original, blocks->take(bytes), bytes};
  }

  std::unique_ptr<ProcessGroup> group;
  bool everySecond;
  std::shared_ptr<ArenaBlocks> blocks;
};

test::Groups wrapped(test::Groups groups, bool everySecond) {
  for (auto &group : groups) {
    if (group->size() > 1) {
      group = std::make_unique<ArenaGroup>(std::move(group), everySecond);
    }
  }
  return groups;
}

} // namespace

std::vector<std::shared_ptr<HostPeers>>
sfsdp::test::connectPeers(int size, int64_t arenaBytes) {
  std::unique_ptr<Store> store = makeMemoryStore();
  std::vector<std::shared_ptr<HostPeers>> peers(size);
  onThreads(size, [&](int rank) {
    HostPeersOptions options;
    options.arenaBytes = arenaBytes;
    peers[rank] = orAbort(HostPeers::connect(*store, rank, size, options));
  });
  return peers;
}

test::Groups
sfsdp::test::shmGroupsOf(const std::vector<std::shared_ptr<HostPeers>> &peers,
                         std::chrono::milliseconds timeout) {
  auto size = static_cast<int>(peers.size());
  Groups groups(size);
  onThreads(size, [&](int rank) {
    groups[rank] =
        orAbort(makeShmGroup(peers[rank], "test", firstRanks(size), timeout));
  });
  return groups;
}

test::Groups
sfsdp::test::makeStagedShmGroups(int size, std::chrono::milliseconds timeout) {
  return shmGroupsOf(connectPeers(size), timeout);
}

test::Groups sfsdp::test::makeBornShmGroups(int size,
                                            std::chrono::milliseconds timeout) {
  return wrapped(makeStagedShmGroups(size, timeout), /*everySecond=*/false);
}

test::Groups
sfsdp::test::makeMixedShmGroups(int size, std::chrono::milliseconds timeout) {
  return wrapped(makeStagedShmGroups(size, timeout), /*everySecond=*/true);
}

test::Groups
sfsdp::test::makeShmGroupsMappedOnce(int size,
                                     std::chrono::milliseconds timeout) {
  struct Mapped {
    std::vector<SharedSegment> blocks, arenas;
  };
  auto mapped = std::make_shared<Mapped>();
  for (int rank = 0; rank < size; ++rank) {
    mapped->blocks.push_back(
        orAbort(SharedSegment::create(sizeof(GroupBlock))));
    mapped->arenas.push_back(orAbort(SharedSegment::create(1)));
  }
  Groups groups;
  for (int rank = 0; rank < size; ++rank) {
    SharedGroupView view;
    view.place = rank;
    view.own = new (mapped->blocks[rank].data()) GroupBlock;
    for (int other = 0; other < size; ++other) {
      auto *block = mapped->blocks[other].data();
      view.members.push_back({other, reinterpret_cast<GroupBlock *>(block),
                              &mapped->arenas[other]});
    }
    view.hasLeft = [](int) { return false; };
    view.keep = mapped;
    groups.push_back(makeThreadedGroup(
        makeSharedCarrier(std::move(view), timeout), rank, size));
  }
  return groups;
}
