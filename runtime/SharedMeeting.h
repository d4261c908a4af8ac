//===- SharedMeeting.h - Where the processes of a group meet ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each rank of a group owns a block of shared memory that only it writes: how
// often it has arrived, what it is about to do, and why it gave up. A rank
// waits by watching the blocks of its peers. It spins for a moment and then
// sleeps in the kernel, which wakes it when a peer arrives. It never depends on
// being woken: now and then it looks by itself whether a peer has failed or is
// gone, or its time is over.
//
// Tested by test/unit/runtime/ShmProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_SHAREDMEETING_H
#define SFSDP_RUNTIME_SHAREDMEETING_H

#include "runtime/Status.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace sfsdp::runtime {

/// The part of a rank's block that meetings use. Zero at the start.
struct MeetingBlock {
  std::atomic<uint32_t> arrivals; ///< wraps around
  std::atomic<uint32_t> failed;   ///< 1: `reason` is there
  char reason[1016];              ///< ends with a zero
};
static_assert(std::atomic<uint32_t>::is_always_lock_free,
              "processes share no locks");

/// One rank's end of the meetings of a group.
class SharedMeeting {
public:
  struct Member {
    /// Of the rank in the job, for messages.
    int rank = 0;
    const MeetingBlock *block = nullptr;
  };

  /// `members` are all ranks of the group in order, `own` is the block of
  /// member `place`. `hasLeft(i)` says whether the process of member i is gone;
  /// it is asked seldom and by the thread that waits.
  SharedMeeting(MeetingBlock &own, int place, std::vector<Member> members,
                std::function<bool(int)> hasLeft,
                std::chrono::milliseconds timeout)
      : own(own), place(place), members(std::move(members)),
        hasLeft(std::move(hasLeft)), timeout(timeout) {}

  /// Waits until all ranks have come as often as this one now has. What this
  /// rank wrote before can then be read by the others. One thread only.
  Status meet();

  /// Ends every meeting that is not complete, here and on all ranks, now and
  /// from now on. Returns the first reason. Any thread.
  Status fail(const std::string &reason);

  /// The first reason; success while there is none. Any thread.
  Status failure() const;

private:
  bool hasArrived(size_t member) const {
    uint32_t count =
        members[member].block->arrivals.load(std::memory_order_acquire);
    return static_cast<int32_t>(count - arrived) >= 0;
  }
  bool spinFor(size_t member) const;
  Status await(size_t member, std::chrono::steady_clock::time_point deadline);
  Status lookForTrouble(bool slept);
  std::string missing() const;

  MeetingBlock &own;
  const int place;
  const std::vector<Member> members;
  const std::function<bool(int)> hasLeft;
  const std::chrono::milliseconds timeout;
  uint32_t arrived = 0;
  mutable std::mutex mutex; ///< guards `firstReason`
  std::string firstReason;
};

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_SHAREDMEETING_H
