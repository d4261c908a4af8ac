//===- RankMemory.cpp - Counted and cached memory of one rank -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block is a header of one cache line followed by the data. Classes grow by a
// quarter of a power of two, so at most a fifth of a block is waste. When
// nothing cached fits and the cache is larger than what was ever live, it goes
// back to the system.
//
// Tested by test/unit/runtime/RankMemoryTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/RankMemory.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

using namespace sfsdp::runtime;

struct RankMemory::Header {
  RankMemory *owner;
  Header *next; ///< of the free list
  size_t bytes; ///< as asked for
  uint32_t classIndex;
  bool isPeerBlock;

  void *data() { return reinterpret_cast<std::byte *>(this) + kAlignment; }
  static Header *of(void *data) {
    return reinterpret_cast<Header *>(static_cast<std::byte *>(data) -
                                      kAlignment);
  }
};

namespace {

constexpr int kFreshAndFreed = 0xff; ///< NaN in every floating-point type

thread_local RankMemory *innermost = nullptr;
thread_local Readers innermostReaders = Readers::Owner;

} // namespace

std::shared_ptr<RankMemory>
RankMemory::make(DebugFill fill, std::shared_ptr<PeerMemory> peerMemory) {
  return {new RankMemory(fill, std::move(peerMemory)),
          [](RankMemory *memory) { memory->giveUp(); }};
}

RankMemory::~RankMemory() { dropCache(); }

/// Classes 4k … 4k + 3 hold 64 * 2^k * (4, 5, 6, 7) / 4 bytes.
size_t RankMemory::classOf(size_t bytes) {
  size_t lines = (std::max<size_t>(bytes, 1) + 63) / 64;
  size_t power = static_cast<size_t>(std::bit_width(lines)) - 1;
  size_t quarters = (lines * 4 + (size_t{1} << power) - 1) >> power;
  return power * 4 + (quarters - 4);
}

size_t RankMemory::classBytes(size_t index) {
  return ((64 * (4 + index % 4)) << (index / 4)) / 4;
}

int64_t RankMemory::blockBytes(size_t bytes) {
  return static_cast<int64_t>(kAlignment + classBytes(classOf(bytes)));
}

RankMemory::Header *RankMemory::reuse(FreeLists &lists, size_t index) {
  Header *header = lists[index];
  if (header) {
    lists[index] = header->next;
  }
  return header;
}

void *RankMemory::take(size_t index) {
  if (Header *header = reuse(freeBlocks, index)) {
    cached -= static_cast<int64_t>(classBytes(index));
    return header;
  }
  if (cached > std::max<int64_t>(counted.peakBytes, 1 << 20)) {
    dropCache();
  }
  size_t bytes = kAlignment + classBytes(index);
  void *block = std::aligned_alloc(kAlignment, bytes);
  counted.heldBytes += block ? static_cast<int64_t>(bytes) : 0;
  return block;
}

/// Null when there is no peer memory, or too little.
void *RankMemory::takeForPeers(size_t index) {
  if (Header *header = reuse(freePeerBlocks, index)) {
    return header;
  }
  size_t bytes = kAlignment + classBytes(index);
  void *block = peerMemory ? peerMemory->take(bytes) : nullptr;
  counted.heldBytes += block ? static_cast<int64_t>(bytes) : 0;
  return block;
}

void *RankMemory::allocate(size_t bytes, Readers readers) {
  size_t index = classOf(bytes);
  if (index >= kClasses) {
    return nullptr;
  }
  std::unique_lock lock(mutex);
  void *block = readers == Readers::Peers ? takeForPeers(index) : nullptr;
  bool isPeerBlock = block != nullptr;
  if (!block) {
    block = take(index);
  }
  if (!block) {
    return nullptr;
  }
  counted.liveBytes += static_cast<int64_t>(bytes);
  counted.peakBytes = std::max(counted.peakBytes, counted.liveBytes);
  counted.markBytes = std::max(counted.markBytes, counted.liveBytes);
  ++liveBlocks;
  lock.unlock();
  Header *header = new (block)
      Header{this, nullptr, bytes, static_cast<uint32_t>(index), isPeerBlock};
  if (fill == DebugFill::Nan) {
    std::memset(header->data(), kFreshAndFreed, bytes);
  }
  return header->data();
}

void RankMemory::release(Header *header) {
  if (fill == DebugFill::Nan) {
    std::memset(header->data(), kFreshAndFreed, header->bytes);
  }
  std::unique_lock lock(mutex);
  counted.liveBytes -= static_cast<int64_t>(header->bytes);
  --liveBlocks;
  FreeLists &lists = header->isPeerBlock ? freePeerBlocks : freeBlocks;
  header->next = lists[header->classIndex];
  lists[header->classIndex] = header;
  if (!header->isPeerBlock) {
    cached += static_cast<int64_t>(classBytes(header->classIndex));
  }
  if (ownerGone && liveBlocks == 0) {
    lock.unlock();
    delete this;
  }
}

void RankMemory::free(void *data) {
  if (data) {
    Header *header = Header::of(data);
    header->owner->release(header);
  }
}

void RankMemory::giveUp() {
  std::unique_lock lock(mutex);
  ownerGone = true;
  if (liveBlocks == 0) {
    lock.unlock();
    delete this;
  }
}

void RankMemory::dropCache() {
  for (size_t index = 0; index < kClasses; ++index) {
    while (Header *header = reuse(freeBlocks, index)) {
      counted.heldBytes -= static_cast<int64_t>(kAlignment + classBytes(index));
      std::free(header);
    }
  }
  cached = 0;
}

MemoryCounts RankMemory::counts() const {
  std::lock_guard lock(mutex);
  return counted;
}

void RankMemory::mark() {
  std::lock_guard lock(mutex);
  counted.markBytes = counted.liveBytes;
}

int64_t RankMemory::cachedBytes() const {
  std::lock_guard lock(mutex);
  return cached;
}

MemoryScope::MemoryScope(RankMemory &memory, Readers readers)
    : outer(innermost), outerReaders(innermostReaders) {
  innermost = &memory;
  innermostReaders = readers;
}

MemoryScope::~MemoryScope() {
  innermost = outer;
  innermostReaders = outerReaders;
}

RankMemory &sfsdp::runtime::currentMemory() {
  // Never destroyed: tensors of other libraries may outlive main.
  static auto &ofProcess = *new std::shared_ptr(RankMemory::make());
  return innermost ? *innermost : *ofProcess;
}

void *sfsdp::runtime::allocateHere(size_t bytes) {
  return currentMemory().allocate(bytes, innermostReaders);
}
