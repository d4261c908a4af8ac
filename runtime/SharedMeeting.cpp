//===- SharedMeeting.cpp - Where the processes of a group meet ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sleeping uses futexes on the arrival counters. A waiter only reads its
// peer's counter, so it may lie in memory that is mapped for reading.
//
// Tested by test/unit/runtime/ShmProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/SharedMeeting.h"

#include "runtime/RankList.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace sfsdp::runtime;

namespace {

using Clock = std::chrono::steady_clock;

/// About two microseconds: a peer that is just finishing is not worth a sleep,
/// any other one may need this core.
constexpr int kSpins = 64;

/// The longest sleep without a look around.
constexpr std::chrono::milliseconds kSlice(20);

void pauseCore() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Sleeps while `word` is `seen`, until it is woken or `limit` has passed;
/// false in the latter case.
bool sleepOn(const std::atomic<uint32_t> &word, uint32_t seen,
             std::chrono::nanoseconds limit) {
  timespec time = {};
  time.tv_nsec = std::clamp<int64_t>(limit.count(), 1, 999'999'999);
  return ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &time, nullptr, 0) ==
             0 ||
         errno != ETIMEDOUT;
}

void wakeAll(const std::atomic<uint32_t> &word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace

Status SharedMeeting::failure() const {
  std::lock_guard<std::mutex> lock(mutex);
  return firstReason.empty() ? Status() : Status::error(firstReason);
}

Status SharedMeeting::fail(const std::string &reason) {
  std::lock_guard<std::mutex> lock(mutex);
  if (firstReason.empty()) {
    firstReason = reason;
    size_t length = std::min(reason.size(), sizeof own.reason - 1);
    std::memcpy(own.reason, reason.data(), length);
    own.failed.store(1, std::memory_order_release);
    wakeAll(own.arrivals);
  }
  return Status::error(firstReason);
}

std::string SharedMeeting::missing() const {
  std::vector<int> ranks;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!hasArrived(i)) {
      ranks.push_back(members[i].rank);
    }
  }
  return ranks.empty() ? "a rank" : nameRanks(ranks);
}

/// Whether this end, or a peer that did not arrive, has failed; after a sleep
/// also whether the process of one is gone.
Status SharedMeeting::lookForTrouble(bool slept) {
  if (Status status = failure(); !status.ok()) {
    return status;
  }
  for (size_t i = 0; i < members.size(); ++i) {
    const Member &member = members[i];
    if (static_cast<int>(i) == place || hasArrived(i)) {
      continue;
    }
    if (member.block->failed.load(std::memory_order_acquire) != 0) {
      return fail(std::string(
          member.block->reason,
          ::strnlen(member.block->reason, sizeof member.block->reason)));
    }
    if (slept && hasLeft(static_cast<int>(i)) && !hasArrived(i)) {
      return fail("rank " + std::to_string(member.rank) +
                  " has ended: its connection is closed");
    }
  }
  return {};
}

bool SharedMeeting::spinFor(size_t member) const {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (hasArrived(member)) {
      return true;
    }
    pauseCore();
  }
  return false;
}

Status SharedMeeting::await(size_t member, Clock::time_point deadline) {
  const std::atomic<uint32_t> &counter = members[member].block->arrivals;
  bool slept = false;
  while (true) {
    uint32_t seen = counter.load(std::memory_order_acquire);
    if (static_cast<int32_t>(seen - arrived) >= 0) {
      return {};
    }
    if (Status status = lookForTrouble(slept); !status.ok()) {
      return status;
    }
    auto left = deadline - Clock::now();
    if (left <= Clock::duration::zero()) {
      return fail(missing() + " did not arrive within " +
                  std::to_string(timeout.count()) +
                  " ms; raise --timeout if it is only slow");
    }
    slept = !sleepOn(counter, seen,
                     std::min<std::chrono::nanoseconds>(left, kSlice));
  }
}

Status SharedMeeting::meet() {
  ++arrived;
  own.arrivals.store(arrived, std::memory_order_release);
  wakeAll(own.arrivals);
  Clock::time_point deadline = Clock::now() + timeout;
  for (size_t i = 0; i < members.size(); ++i) {
    if (static_cast<int>(i) == place || spinFor(i)) {
      continue;
    }
    if (Status status = await(i, deadline); !status.ok()) {
      return status;
    }
  }
  return {};
}
