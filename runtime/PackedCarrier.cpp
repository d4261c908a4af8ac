//===- PackedCarrier.cpp - Collectives on top of byte exchanges -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block is the part of a bucket that goes to or comes from one rank:
//
//   | stamp | chunk of member 0 | chunk of member 1 | … | padding to 16 bytes |
//
// Tested by test/unit/runtime/PackedCarrierTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/PackedCarrier.h"

#include "runtime/Collectives.h"
#include "runtime/Reduce.h"

#include <algorithm>
#include <cstring>
#include <mutex>

using namespace sfsdp::runtime;

namespace {

//===----------------------------------------------------------------------===//
// Stamps
//===----------------------------------------------------------------------===//

/// What a rank believes to be doing; travels in front of every block.
struct Stamp {
  uint32_t sequence; ///< calls of this group before this one
  uint16_t members;
  uint8_t kind;
  uint8_t unused;
  uint64_t digest; ///< of everything that ranks must agree on
};
static_assert(sizeof(Stamp) == 16, "blocks stay aligned behind a stamp");

/// A tenth of a millisecond each; a step has tens or hundreds of calls.
constexpr uint32_t kCallsComparedAhead = 1024;

/// 64-bit FNV-1a.
class Fingerprint {
public:
  template <typename T>
  void add(const T &value) {
    unsigned char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (unsigned char byte : bytes) {
      hash = (hash ^ byte) * 0x100000001b3u;
    }
  }
  uint64_t value() const { return hash; }

private:
  uint64_t hash = 0xcbf29ce484222325u;
};

/// Covers what difference() of Collectives.h compares.
Stamp stampOf(const CollectiveCall &call, uint32_t sequence) {
  Fingerprint digest;
  for (const CollectiveMember &member : call.members) {
    digest.add(member.dtype);
    digest.add(member.inputCount);
    digest.add(member.outputCount);
  }
  if (isReduction(call.kind)) {
    digest.add(call.divisor);
    digest.add(call.grouped);
  }
  if (call.kind == CollectiveKind::Broadcast) {
    digest.add(call.root);
  }
  return {sequence, static_cast<uint16_t>(call.members.size()),
          static_cast<uint8_t>(call.kind), 0, digest.value()};
}

std::string describe(const Stamp &stamp) {
  bool known = stamp.kind < kCollectiveKindCount;
  std::string kind =
      known ? std::string(nameOf(static_cast<CollectiveKind>(stamp.kind)))
            : "an unknown collective";
  return kind + " of " + std::to_string(stamp.members) +
         (stamp.members == 1 ? " tensor" : " tensors") + " as call " +
         std::to_string(stamp.sequence);
}

Status compareStamps(const Stamp &own, int rank, const Stamp &theirs,
                     int other) {
  if (std::memcmp(&own, &theirs, sizeof own) == 0) {
    return {};
  }
  std::string mine = describe(own);
  std::string yours = describe(theirs);
  return Status::error(
      "ranks disagree on this collective: rank " + std::to_string(rank) +
      " has " + mine + ", rank " + std::to_string(other) + " has " +
      (mine == yours ? "other counts, element types, divisor or order"
                     : yours) +
      "; all ranks must run the same plan");
}

//===----------------------------------------------------------------------===//
// Staging
//===----------------------------------------------------------------------===//

/// Memory that grows to the largest size asked for and is not initialised.
class StagingBuffer {
public:
  char *reserve(int64_t bytes) {
    if (bytes > capacity) {
      memory.reset(new char[bytes]);
      capacity = bytes;
    }
    return memory.get();
  }

  const char *data() const { return memory.get(); }

private:
  std::unique_ptr<char[]> memory;
  int64_t capacity = 0;
};

/// Where the chunks of a bucket lie in a block.
struct BlockLayout {
  struct Chunk {
    int64_t offset; ///< bytes from the start of the block
    int64_t count;  ///< elements
    int64_t bytes;
  };
  std::vector<Chunk> chunks;
  int64_t blockBytes = 0;

  BlockLayout(const CollectiveCall &call, int groupSize) {
    int64_t offset = sizeof(Stamp);
    for (const CollectiveMember &member : call.members) {
      int64_t count = chunkCount(call.kind, member, groupSize);
      int64_t bytes = count * byteSize(member.dtype);
      chunks.push_back({offset, count, bytes});
      offset += bytes;
    }
    blockBytes = (offset + 15) / 16 * 16;
  }
};

/// Copies chunk `index` of the `valid` bytes at `source`; what lies behind
/// them is zero.
void copyChunk(char *target, const void *source, int64_t valid, int64_t index,
               int64_t chunkBytes) {
  int64_t first = std::min(valid, index * chunkBytes);
  int64_t bytes = std::min(chunkBytes, valid - first);
  copyBytes(target, at(source, first), bytes);
  std::memset(target + bytes, 0, chunkBytes - bytes);
}

//===----------------------------------------------------------------------===//
// The carrier
//===----------------------------------------------------------------------===//

class PackedCarrier final : public Carrier {
public:
  PackedCarrier(std::unique_ptr<ByteExchange> exchange, int rank, int size)
      : exchange(std::move(exchange)), rank(rank), size(size) {}

  std::string_view transport() const override { return exchange->transport(); }

  Status carryOut(const CollectiveCall &call) override;

  void interrupt(const std::string &reason) override {
    std::lock_guard<std::mutex> lock(touching);
    if (interruption.empty()) {
      interruption = reason;
    }
  }

  /// Nothing touches a call's buffers without the mutex.
  void settle() override { std::lock_guard<std::mutex> lock(touching); }

private:
  /// One call with its layout and staging memory.
  struct Passage {
    const CollectiveCall &call;
    BlockLayout layout;
    Stamp stamp;
    char *outgoing; ///< [size * blockBytes]
    char *incoming; ///< [size * blockBytes]
  };

  Status gather(Passage &passage);
  Status reduce(Passage &passage);
  Status transpose(Passage &passage);
  Status broadcast(Passage &passage);

  Status packWhole(Passage &passage);
  Status packChunks(Passage &passage);
  Status unpackBlocks(const Passage &passage);
  Status sumInto(Passage &passage, char *block);
  void sumChunk(const Passage &passage, size_t member, void *output) const;
  Status compareAhead(const Stamp &own);
  Status compare(const Stamp &own, int64_t blockBytes) const;

  /// Runs `touch`, which may read and write buffers of the call, unless the
  /// group was interrupted.
  template <typename Touch>
  Status guarded(Touch touch) {
    std::lock_guard<std::mutex> lock(touching);
    if (!interruption.empty()) {
      return Status::error(interruption);
    }
    touch();
    return {};
  }

  std::unique_ptr<ByteExchange> exchange;
  int rank;
  int size;
  uint32_t sequence = 0;
  StagingBuffer outgoing;
  StagingBuffer incoming;
  std::mutex touching;
  std::string interruption; ///< guarded by `touching`
};

Status PackedCarrier::carryOut(const CollectiveCall &call) {
  BlockLayout layout(call, size);
  int64_t bytes = size * layout.blockBytes;
  Passage passage{call, std::move(layout), stampOf(call, sequence++),
                  outgoing.reserve(bytes), incoming.reserve(bytes)};
  if (passage.stamp.sequence < kCallsComparedAhead) {
    if (Status status = compareAhead(passage.stamp); !status.ok()) {
      return status;
    }
  }
  switch (call.kind) {
  case CollectiveKind::AllGather:
    return gather(passage);
  case CollectiveKind::ReduceScatter:
  case CollectiveKind::AllReduce:
    return reduce(passage);
  case CollectiveKind::AllToAll:
    return transpose(passage);
  case CollectiveKind::Broadcast:
    return broadcast(passage);
  }
  return {};
}

/// Every block is larger than a stamp, so the staging buffers hold the stamps.
Status PackedCarrier::compareAhead(const Stamp &own) {
  char *mine = outgoing.reserve(sizeof own);
  std::memcpy(mine, &own, sizeof own);
  Status status = exchange->allGather(mine, incoming.reserve(size * sizeof own),
                                      sizeof own);
  return status.ok() ? compare(own, sizeof own) : status;
}

/// The stamp of each rank stands in front of its block.
Status PackedCarrier::compare(const Stamp &own, int64_t blockBytes) const {
  for (int other = 0; other < size; ++other) {
    Stamp theirs;
    std::memcpy(&theirs, incoming.data() + other * blockBytes, sizeof theirs);
    Status status = compareStamps(own, rank, theirs, other);
    if (!status.ok()) {
      return status;
    }
  }
  return {};
}

/// One block, of whole inputs.
Status PackedCarrier::packWhole(Passage &passage) {
  return guarded([&] {
    std::memcpy(passage.outgoing, &passage.stamp, sizeof(Stamp));
    for (size_t i = 0; i < passage.call.members.size(); ++i) {
      const BlockLayout::Chunk &chunk = passage.layout.chunks[i];
      copyBytes(passage.outgoing + chunk.offset, passage.call.members[i].input,
                chunk.bytes);
    }
  });
}

/// One block per peer, of its chunk of each input.
Status PackedCarrier::packChunks(Passage &passage) {
  return guarded([&] {
    for (int peer = 0; peer < size; ++peer) {
      char *block = passage.outgoing + peer * passage.layout.blockBytes;
      std::memcpy(block, &passage.stamp, sizeof(Stamp));
      for (size_t i = 0; i < passage.call.members.size(); ++i) {
        const CollectiveMember &member = passage.call.members[i];
        const BlockLayout::Chunk &chunk = passage.layout.chunks[i];
        copyChunk(block + chunk.offset, member.input,
                  member.inputCount * byteSize(member.dtype), peer,
                  chunk.bytes);
      }
    }
  });
}

/// Outputs are the incoming blocks in rank order, cut to their length.
Status PackedCarrier::unpackBlocks(const Passage &passage) {
  if (Status status = compare(passage.stamp, passage.layout.blockBytes);
      !status.ok()) {
    return status;
  }
  return guarded([&] {
    for (size_t i = 0; i < passage.call.members.size(); ++i) {
      const CollectiveMember &member = passage.call.members[i];
      const BlockLayout::Chunk &chunk = passage.layout.chunks[i];
      int64_t length = member.outputCount * byteSize(member.dtype);
      for (int peer = 0; peer < size; ++peer) {
        int64_t first = std::min(length, peer * chunk.bytes);
        copyBytes(at(member.output, first),
                  passage.incoming + peer * passage.layout.blockBytes +
                      chunk.offset,
                  std::min(chunk.bytes, length - first));
      }
    }
  });
}

Status PackedCarrier::gather(Passage &passage) {
  Status status = packWhole(passage);
  if (status.ok()) {
    status = exchange->allGather(passage.outgoing, passage.incoming,
                                 passage.layout.blockBytes);
  }
  return status.ok() ? unpackBlocks(passage) : status;
}

Status PackedCarrier::transpose(Passage &passage) {
  Status status = packChunks(passage);
  if (status.ok()) {
    status = exchange->allToAll(passage.outgoing, passage.incoming,
                                passage.layout.blockBytes);
  }
  return status.ok() ? unpackBlocks(passage) : status;
}

void PackedCarrier::sumChunk(const Passage &passage, size_t member,
                             void *output) const {
  const BlockLayout::Chunk &chunk = passage.layout.chunks[member];
  if (chunk.count == 0) {
    return;
  }
  std::vector<const void *> inputs;
  for (int peer = 0; peer < size; ++peer) {
    inputs.push_back(passage.incoming + peer * passage.layout.blockBytes +
                     chunk.offset);
  }
  sumInRankOrder(inputs, output, chunk.count,
                 passage.call.members[member].dtype, passage.call.divisor,
                 passage.call.grouped);
}

/// Sums the chunks that arrived: into a block when `block` is not null, else
/// into the outputs of the call.
Status PackedCarrier::sumInto(Passage &passage, char *block) {
  if (Status status = compare(passage.stamp, passage.layout.blockBytes);
      !status.ok()) {
    return status;
  }
  return guarded([&] {
    for (size_t i = 0; i < passage.call.members.size(); ++i) {
      void *output = block ? block + passage.layout.chunks[i].offset
                           : passage.call.members[i].output;
      sumChunk(passage, i, output);
    }
  });
}

Status PackedCarrier::reduce(Passage &passage) {
  bool gathers = passage.call.kind == CollectiveKind::AllReduce;
  Status status = packChunks(passage);
  if (status.ok()) {
    status = exchange->allToAll(passage.outgoing, passage.incoming,
                                passage.layout.blockBytes);
  }
  if (status.ok()) {
    // Block 0 of the outgoing buffer still holds the stamp.
    status = sumInto(passage, gathers ? passage.outgoing : nullptr);
  }
  if (!status.ok() || !gathers) {
    return status;
  }
  status = exchange->allGather(passage.outgoing, passage.incoming,
                               passage.layout.blockBytes);
  return status.ok() ? unpackBlocks(passage) : status;
}

Status PackedCarrier::broadcast(Passage &passage) {
  const CollectiveCall &call = passage.call;
  if (rank == call.root) {
    if (Status status = packWhole(passage); !status.ok()) {
      return status;
    }
  }
  Status status = exchange->broadcast(passage.outgoing,
                                      passage.layout.blockBytes, call.root);
  if (!status.ok()) {
    return status;
  }
  Stamp theirs;
  std::memcpy(&theirs, passage.outgoing, sizeof theirs);
  status = compareStamps(passage.stamp, rank, theirs, call.root);
  if (!status.ok()) {
    return status;
  }
  return guarded([&] {
    for (size_t i = 0; i < call.members.size(); ++i) {
      const BlockLayout::Chunk &chunk = passage.layout.chunks[i];
      copyBytes(call.members[i].output, passage.outgoing + chunk.offset,
                chunk.bytes);
    }
  });
}

} // namespace

std::unique_ptr<Carrier>
sfsdp::runtime::makePackedCarrier(std::unique_ptr<ByteExchange> exchange,
                                  int rank, int size) {
  return std::make_unique<PackedCarrier>(std::move(exchange), rank, size);
}
