//===- PeerStorages.cpp - What of a plan other ranks read -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of a class are used again, classes never share memory. So what is
// needed is the largest number of live blocks of each class, not the largest
// number of live bytes.
//
// Tested by test/unit/runtime/PeerStoragesTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/PeerStorages.h"
#include "runtime/RankMemory.h"

#include <algorithm>
#include <map>

using namespace sfsdp::runtime;

namespace {

/// Live and most blocks of one size.
struct Blocks {
  int64_t live = 0;
  int64_t most = 0;

  void add() { most = std::max(most, ++live); }
};

class Count {
public:
  explicit Count(const Plan &plan)
      : plan(plan), read(storagesReadByPeers(plan)), live(read.size()) {}

  void addArguments() {
    for (size_t id = 0; id < plan.storages.size(); ++id) {
      if (plan.storages[id].region == Region::Argument) {
        begin(static_cast<StorageId>(id));
      }
    }
  }

  /// What begins at the instruction begins before anything ends there.
  void run(const Program &program) {
    for (size_t i = 0; i < program.instructions.size(); ++i) {
      const auto &action = program.instructions[i].action;
      if (const auto *kernel = std::get_if<KernelCall>(&action)) {
        for (const std::optional<ValueId> &result : kernel->results) {
          beginIfNew(result, i);
        }
      }
      if (const auto *start = std::get_if<CollectiveStart>(&action)) {
        for (const CollectiveMemberRef &member : start->members) {
          beginIfNew(member.output, i);
        }
      }
      if (const auto *freed = std::get_if<Free>(&action)) {
        end(freed->storage);
      }
    }
  }

  int64_t bytes() const {
    int64_t sum = 0;
    for (const auto &[blockBytes, blocks] : byBytes) {
      sum += blocks.most * blockBytes;
    }
    return sum;
  }

private:
  void beginIfNew(std::optional<ValueId> value, size_t instruction) {
    if (!value) {
      return;
    }
    StorageId id = plan.values[*value].storage;
    const Storage &storage = plan.storages[id];
    if (storage.region != Region::Argument &&
        storage.first == static_cast<int64_t>(instruction)) {
      begin(id);
    }
  }

  Blocks &blocksOf(StorageId id) {
    return byBytes[RankMemory::blockBytes(plan.storages[id].bytes)];
  }
  void begin(StorageId id) {
    if (read[id] && !live[id]) {
      live[id] = true;
      blocksOf(id).add();
    }
  }
  void end(StorageId id) {
    if (live[id]) {
      live[id] = false;
      --blocksOf(id).live;
    }
  }

  const Plan &plan;
  std::vector<bool> read;
  std::vector<bool> live;
  std::map<int64_t, Blocks> byBytes;
};

/// Marks what the other ranks read of `start`: its operands, and the sums of an
/// all-reduce, of which each rank forms a part.
void markRead(const Plan &plan, const CollectiveStart &start,
              std::vector<bool> &read) {
  for (const CollectiveMemberRef &member : start.members) {
    read[plan.values[member.input].storage] = true;
    if (start.kind == CollectiveKind::AllReduce) {
      read[plan.values[member.output].storage] = true;
    }
  }
}

} // namespace

std::vector<bool> sfsdp::runtime::storagesReadByPeers(const Plan &plan) {
  std::vector<bool> read(plan.storages.size());
  for (const Program &program : plan.programs) {
    for (const Instruction &instruction : program.instructions) {
      if (const auto *start =
              std::get_if<CollectiveStart>(&instruction.action)) {
        markRead(plan, *start, read);
      }
    }
  }
  return read;
}

int64_t sfsdp::runtime::peerMemoryBytes(const Plan &plan) {
  Count count(plan);
  count.addArguments();
  for (const Program &program : plan.programs) {
    count.run(program);
  }
  return count.bytes();
}
