//===- RankMemory.h - Counted and cached memory of one rank -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each rank has a RankMemory, also when ranks are threads of one process. It
// counts the bytes that its tensors asked for, live and at the peak, and keeps
// freed blocks by size class: the system would map and fault every large tensor
// anew.
//
// Blocks that peers read come from the transport, if it has memory for that,
// and are kept apart; the transport never gets them back.
//
// A block carries its owner in a header before the data, so it may be freed by
// any thread, and after its owner was given up.
//
// Tested by test/unit/runtime/RankMemoryTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_RANKMEMORY_H
#define SFSDP_RUNTIME_RANKMEMORY_H

#include "runtime/PeerMemory.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace sfsdp::runtime {

/// Bytes as their tensors asked for them.
struct MemoryCounts {
  int64_t liveBytes = 0;
  int64_t peakBytes = 0; ///< largest live so far
  int64_t markBytes = 0; ///< largest live since the last mark()
  /// What is held of the system's and the transport's memory now, for live
  /// blocks and for those kept: whole classes, headers included.
  int64_t heldBytes = 0;
};

/// Who reads a block.
enum class Readers : uint8_t {
  Owner, ///< this rank alone
  Peers, ///< other ranks too, in collectives
};

/// What debug mode writes over memory, so that a read of it shows.
enum class DebugFill : uint8_t {
  None,
  Nan, ///< fresh and freed blocks become NaN, or -1 as integers
};

class RankMemory {
public:
  /// Data is aligned to this many bytes.
  static constexpr size_t kAlignment = 64;

  /// Takes blocks for Readers::Peers from `peerMemory` while there is some;
  /// null: has none.
  static std::shared_ptr<RankMemory>
  make(DebugFill fill = DebugFill::None,
       std::shared_ptr<PeerMemory> peerMemory = nullptr);

  /// A block of at least `bytes`; null when the system has no more. Any thread.
  void *allocate(size_t bytes, Readers readers = Readers::Owner);

  /// Gives a block of any RankMemory back to its owner. Any thread. Null does
  /// nothing.
  static void free(void *data);

  MemoryCounts counts() const;

  /// Starts MemoryCounts::markBytes at what is live now.
  void mark();

  /// Bytes of freed blocks that are kept but could go back to the system.
  int64_t cachedBytes() const;

  /// What a block of `bytes` takes of the system or the transport.
  static int64_t blockBytes(size_t bytes);

private:
  struct Header;

  /// Four classes per power of two, from 64 bytes to 2^47.
  static constexpr size_t kClasses = 4 * 42;

  using FreeLists = std::array<Header *, kClasses>;

  RankMemory(DebugFill fill, std::shared_ptr<PeerMemory> peerMemory)
      : fill(fill), peerMemory(std::move(peerMemory)) {}
  ~RankMemory();

  static size_t classOf(size_t bytes);
  static size_t classBytes(size_t index);
  /// Moves a kept block out of `lists`; null when there is none.
  Header *reuse(FreeLists &lists, size_t index);
  void *take(size_t index);
  void *takeForPeers(size_t index);
  void dropCache();
  void release(Header *header);
  void giveUp();

  const DebugFill fill;
  mutable std::mutex mutex;
  const std::shared_ptr<PeerMemory> peerMemory;
  FreeLists freeBlocks{};     ///< linked lists
  FreeLists freePeerBlocks{}; ///< the same, in the peer memory
  MemoryCounts counted;
  int64_t cached = 0;
  int64_t liveBlocks = 0;
  bool ownerGone = false;
};

/// Makes `memory` the one that tensors of this thread come from, for the life
/// of the scope. Scopes nest.
class MemoryScope {
public:
  explicit MemoryScope(RankMemory &memory, Readers readers = Readers::Owner);
  ~MemoryScope();
  MemoryScope(const MemoryScope &) = delete;
  MemoryScope &operator=(const MemoryScope &) = delete;

private:
  RankMemory *outer;
  Readers outerReaders;
};

/// The memory of the innermost scope of this thread; without one, a memory of
/// the process that nothing is compared with.
RankMemory &currentMemory();

/// Allocates from currentMemory() for the readers that the innermost scope of
/// this thread says.
void *allocateHere(size_t bytes);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_RANKMEMORY_H
