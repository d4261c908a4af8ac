//===- SharedCarrier.h - Collectives in shared memory -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How one rank carries out collectives with peers whose memory it can read. It
// does not care how that memory came to be mapped.
//
// Tested by test/unit/runtime/ShmProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_SHAREDCARRIER_H
#define SFSDP_RUNTIME_SHAREDCARRIER_H

#include "runtime/SharedCalls.h"
#include "runtime/ThreadedProcessGroup.h"

#include <functional>
#include <memory>

namespace sfsdp::runtime {

/// What a rank sees of a group in shared memory. `keep` owns everything that
/// the pointers lead to.
struct SharedGroupView {
  struct Member {
    int rank = 0; ///< in the job, for messages
    const GroupBlock *block = nullptr;
    const SharedSegment *arena = nullptr;
  };

  int place = 0;             ///< of this rank in `members`
  GroupBlock *own = nullptr; ///< its block, writable
  std::vector<Member> members;
  /// Whether the process of a member is gone; see SharedMeeting.
  std::function<bool(int)> hasLeft;
  std::shared_ptr<void> keep;
  std::shared_ptr<PeerMemory> memory; ///< of this rank
};

std::unique_ptr<Carrier> makeSharedCarrier(SharedGroupView view,
                                           std::chrono::milliseconds timeout);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_SHAREDCARRIER_H
