//===- SharedPieces.cpp - A collective in pieces that fit -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts start at multiples of 64 bytes in the staging buffer.
//
// Tested by test/unit/runtime/SharedPiecesTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/SharedPieces.h"

#include "runtime/Collectives.h"

#include <algorithm>
#include <cassert>

using namespace sfsdp::runtime;

namespace {

constexpr int64_t kAlignment = 64;

int64_t aligned(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Appends parts to the piece under way, and begins another when it is full.
class Cutter {
public:
  Cutter(int64_t capacity, SharedPieces &pieces)
      : capacity(capacity), pieces(pieces) {}

  /// `elementBytes` counts one element of every block.
  void addStaged(size_t member, int64_t count, int64_t elementBytes) {
    for (int64_t first = 0; first < count;) {
      int64_t fit = (capacity - used) / elementBytes;
      bool worthwhile = fit >= std::min(count - first, kFewest);
      if (pieces.pieces.empty() || !pieces.pieces.back().staged ||
          !worthwhile) {
        pieces.pieces.push_back({pieces.parts.size(), 0, true});
        used = 0;
        fit = capacity / elementBytes;
        assert(fit > 0 && "an element of every rank fits the buffer");
      }
      int64_t length = std::min(count - first, fit);
      append({member, first, length, used});
      used += aligned(length * elementBytes);
      first += length;
    }
  }

  void append(const SharedPart &part) {
    pieces.parts.push_back(part);
    ++pieces.pieces.back().parts;
  }

private:
  /// Elements below which the rest of a buffer is left empty.
  static constexpr int64_t kFewest = 64;

  int64_t capacity;
  SharedPieces &pieces;
  int64_t used = 0;
};

} // namespace

int64_t sfsdp::runtime::stagedBlocks(CollectiveKind kind, int groupSize) {
  bool oneForAll =
      kind == CollectiveKind::AllGather || kind == CollectiveKind::Broadcast;
  return oneForAll ? 1 : groupSize;
}

void sfsdp::runtime::cutIntoPieces(const CollectiveCall &call, int groupSize,
                                   const std::vector<bool> &staged,
                                   int64_t stagingBytes, SharedPieces &pieces) {
  pieces.parts.clear();
  pieces.pieces.clear();
  Cutter cutter(stagingBytes / kAlignment * kAlignment, pieces);
  for (bool isStaged : {false, true}) {
    for (size_t i = 0; i < call.members.size(); ++i) {
      const CollectiveMember &member = call.members[i];
      int64_t count = chunkCount(call.kind, member, groupSize);
      if (staged[i] != isStaged || count == 0) {
        continue;
      }
      if (isStaged) {
        cutter.addStaged(i, count,
                         stagedBlocks(call.kind, groupSize) *
                             byteSize(member.dtype));
        continue;
      }
      if (pieces.pieces.empty()) {
        pieces.pieces.push_back({0, 0, false});
      }
      cutter.append({i, 0, count, 0});
    }
  }
}
