//===- RankMemory.h - Counted and cached memory of one rank -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each rank has a RankMemory, also when ranks are threads of one process. It
// counts the bytes that its tensors asked for, live and at the peak, and keeps
// freed blocks by size class: the system would map and fault every large tensor
// anew.
//
// A block carries its owner in a header before the data, so it may be freed by
// any thread, and after its owner was given up.
//
// Tested by test/unit/runtime/RankMemoryTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_RANKMEMORY_H
#define SFSDP_RUNTIME_RANKMEMORY_H

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

  static std::shared_ptr<RankMemory> make(DebugFill fill = DebugFill::None);

  /// A block of at least `bytes`; null when the system has no more. Any thread.
  void *allocate(size_t bytes);

  /// Gives a block of any RankMemory back to its owner. Any thread. Null does
  /// nothing.
  static void free(void *data);

  MemoryCounts counts() const;

  /// Starts MemoryCounts::markBytes at what is live now.
  void mark();

  /// Bytes of freed blocks that are kept.
  int64_t cachedBytes() const;

private:
  struct Header;

  /// Four classes per power of two, from 64 bytes to 2^47.
  static constexpr size_t kClasses = 4 * 42;

  explicit RankMemory(DebugFill fill) : fill(fill) {}
  ~RankMemory();

  static size_t classOf(size_t bytes);
  static size_t classBytes(size_t index);
  void *take(size_t index);
  void dropCache();
  void release(Header *header);
  void giveUp();

  const DebugFill fill;
  mutable std::mutex mutex;
  std::array<Header *, kClasses> freeBlocks{}; ///< linked lists
  MemoryCounts counted;
  int64_t cached = 0;
  int64_t liveBlocks = 0;
  bool ownerGone = false;
};

/// Makes `memory` the one that tensors of this thread come from, for the life
/// of the scope. Scopes nest.
class MemoryScope {
public:
  explicit MemoryScope(RankMemory &memory);
  ~MemoryScope();
  MemoryScope(const MemoryScope &) = delete;
  MemoryScope &operator=(const MemoryScope &) = delete;

private:
  RankMemory *outer;
};

/// The memory of the innermost scope of this thread; without one, a memory of
/// the process that nothing is compared with.
RankMemory &currentMemory();

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_RANKMEMORY_H
