//===- SharedCalls.h - Calls as processes show them -------------*- C++ -*-===//
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a rank writes into its block of shared memory before a collective: kind,
// counts and types, and where its buffers lie in its arena. A buffer elsewhere
// is staged: its owner copies it, a piece at a time, into the staging memory
// behind the block.
//
// Tested by test/unit/runtime/ShmProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_SHAREDCALLS_H
#define SFSDP_RUNTIME_SHAREDCALLS_H

#include "runtime/ProcessGroup.h"
#include "runtime/SharedMeeting.h"
#include "runtime/SharedSegment.h"

namespace sfsdp::runtime {

/// Members of one round; a larger bucket takes several.
inline constexpr int64_t kMembersPerRound = 512;

/// Bytes of one staging buffer. Two for inputs and two for results of
/// all_reduce, used in turns.
inline constexpr int64_t kStagingBytes = int64_t(1) << 20;

/// Two buffers, so that a piece can be written while the last one is read.
inline constexpr int kStagingTurns = 2;

struct MemberRecord {
  int64_t inputCount;
  int64_t outputCount;
  int64_t inputOffset;  ///< in the owner's arena; -1: staged
  int64_t outputOffset; ///< the same
  uint32_t dtype;
  uint32_t unused;
};

struct CallRecord {
  double divisor;
  int64_t grouped;
  int64_t members;  ///< of this round
  int64_t followed; ///< members of later rounds
  int32_t root;
  uint32_t kind;
  uint32_t order;
  uint32_t unused;
};

/// One rank's segment of one group. Zero at the start.
struct GroupBlock {
  MeetingBlock meeting;
  CallRecord call;
  MemberRecord members[kMembersPerRound];
  std::byte inputs[kStagingTurns][kStagingBytes];
  std::byte results[kStagingTurns][kStagingBytes];
};

/// Writes members [first, first + count) of `call`, of which `arena` may hold
/// buffers.
void writeRecord(const CollectiveCall &call, int64_t first, int64_t count,
                 const SharedSegment &arena, GroupBlock &block);

/// Reads what another rank wrote: its buffers as pointers into `arena`, null
/// where they are staged. Fails when one is not within.
Status readRecord(const GroupBlock &block, const SharedSegment &arena,
                  CollectiveCall &call, int64_t &followed);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_SHAREDCALLS_H
