//===- SharedPieces.h - A collective in pieces that fit ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Staging memory has a fixed size, buckets have not. So a collective is cut
// into pieces, each of which fits; a piece holds parts of members. What no rank
// stages needs no memory and goes into one piece.
//
// Tested by test/unit/runtime/SharedPiecesTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_SHAREDPIECES_H
#define SFSDP_RUNTIME_SHAREDPIECES_H

#include "runtime/ProcessGroup.h"

#include <span>

namespace sfsdp::runtime {

/// Elements [first, first + count) of each chunk of a member; see chunkCount in
/// Collectives.h. Members without elements have no part.
struct SharedPart {
  size_t member;
  int64_t first;
  int64_t count;
  /// Bytes from the start of a staging buffer, where the part's blocks follow
  /// each other: one, or one per rank for kinds that send each rank something
  /// else. Meaningless when nobody stages the member.
  int64_t staging;
};

/// Consecutive parts that are carried together.
struct SharedPiece {
  size_t firstPart;
  size_t parts;
  bool staged;
};

struct SharedPieces {
  std::vector<SharedPart> parts;
  std::vector<SharedPiece> pieces;

  std::span<const SharedPart> partsOf(const SharedPiece &piece) const {
    return std::span(parts).subspan(piece.firstPart, piece.parts);
  }
};

/// Blocks of a staged part: one per rank, or one that is for all of them.
int64_t stagedBlocks(CollectiveKind kind, int groupSize);

/// Cuts `call`; `staged[i]` says whether some rank stages member i. Buffers
/// hold `stagingBytes`. Overwrites `pieces`, whose memory is reused.
void cutIntoPieces(const CollectiveCall &call, int groupSize,
                   const std::vector<bool> &staged, int64_t stagingBytes,
                   SharedPieces &pieces);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_SHAREDPIECES_H
