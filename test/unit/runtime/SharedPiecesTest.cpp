//===- SharedPiecesTest.cpp - A collective in pieces that fit -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/SharedPieces.h"

#include "runtime/Collectives.h"

#include <gtest/gtest.h>
#include <map>

using namespace sfsdp::runtime;

namespace {

CollectiveCall callOf(CollectiveKind kind, int ranks,
                      const std::vector<std::pair<int64_t, DType>> &members) {
  CollectiveCall call;
  call.kind = kind;
  for (auto [chunk, dtype] : members) {
    CollectiveMember member;
    member.dtype = dtype;
    member.inputCount = chunk;
    member.outputCount = chunk;
    switch (kind) {
    case CollectiveKind::AllGather:
      member.outputCount = chunk * ranks;
      break;
    case CollectiveKind::ReduceScatter:
      member.inputCount = chunk * ranks;
      break;
    case CollectiveKind::AllToAll:
    case CollectiveKind::AllReduce:
      member.inputCount = member.outputCount = chunk * ranks;
      break;
    case CollectiveKind::Broadcast:
      break;
    }
    call.members.push_back(member);
  }
  return call;
}

SharedPieces cut(const CollectiveCall &call, int ranks,
                 const std::vector<bool> &staged, int64_t bytes) {
  SharedPieces pieces;
  cutIntoPieces(call, ranks, staged, bytes, pieces);
  return pieces;
}

/// Every element of every chunk is in one part, and no two parts of a piece
/// overlap in the buffer or leave it.
void expectWhole(const CollectiveCall &call, int ranks,
                 const SharedPieces &pieces, int64_t bytes) {
  std::map<size_t, int64_t> covered;
  size_t parts = 0;
  for (const SharedPiece &piece : pieces.pieces) {
    int64_t used = 0;
    parts += piece.parts;
    for (const SharedPart &part : pieces.partsOf(piece)) {
      EXPECT_EQ(part.first, covered[part.member]);
      EXPECT_GT(part.count, 0);
      covered[part.member] += part.count;
      if (piece.staged) {
        EXPECT_GE(part.staging, used);
        used = part.staging + part.count * stagedBlocks(call.kind, ranks) *
                                  byteSize(call.members[part.member].dtype);
        EXPECT_LE(used, bytes);
      }
    }
  }
  EXPECT_EQ(parts, pieces.parts.size());
  for (size_t i = 0; i < call.members.size(); ++i) {
    EXPECT_EQ(covered[i], chunkCount(call.kind, call.members[i], ranks));
  }
}

} // namespace

TEST(SharedPieces, WhatNobodyStagesIsOnePiece) {
  CollectiveCall call =
      callOf(CollectiveKind::AllGather, 2,
             {{1 << 20, DType::Float32}, {0, DType::Bool}, {3, DType::Int8}});
  SharedPieces pieces = cut(call, 2, {false, false, false}, 256);
  ASSERT_EQ(pieces.pieces.size(), 1u);
  EXPECT_FALSE(pieces.pieces[0].staged);
  EXPECT_EQ(pieces.parts.size(), 2u);
  expectWhole(call, 2, pieces, 256);
}

// 100 and 28 floats fill 512 bytes; of the next 200 128 fit, then 72.
TEST(SharedPieces, SmallMembersShareAPieceLargeOnesTakeSeveral) {
  CollectiveCall call = callOf(
      CollectiveKind::AllGather, 4,
      {{96, DType::Float32}, {32, DType::Float32}, {200, DType::Float32}});
  SharedPieces pieces = cut(call, 4, {true, true, true}, 512);
  ASSERT_EQ(pieces.pieces.size(), 3u);
  EXPECT_EQ(pieces.pieces[0].parts, 2u);
  EXPECT_EQ(pieces.partsOf(pieces.pieces[1])[0].count, 128);
  EXPECT_EQ(pieces.partsOf(pieces.pieces[2])[0].count, 72);
  expectWhole(call, 4, pieces, 512);
}

TEST(SharedPieces, CoversEveryKindWithMixedStaging) {
  for (int kind = 0; kind < kCollectiveKindCount; ++kind) {
    for (int ranks : {2, 3, 7}) {
      CollectiveCall call = callOf(static_cast<CollectiveKind>(kind), ranks,
                                   {{1000, DType::BFloat16},
                                    {1, DType::Complex128},
                                    {0, DType::Float32},
                                    {777, DType::Bool},
                                    {5, DType::Float64}});
      for (int mask = 0; mask < 32; ++mask) {
        std::vector<bool> staged;
        for (int i = 0; i < 5; ++i) {
          staged.push_back((mask >> i & 1) != 0);
        }
        expectWhole(call, ranks, cut(call, ranks, staged, 1024), 1024);
      }
    }
  }
}

TEST(SharedPieces, NothingToMoveIsNoPiece) {
  CollectiveCall call =
      callOf(CollectiveKind::AllGather, 2, {{0, DType::Float32}});
  EXPECT_TRUE(cut(call, 2, {true}, 1024).pieces.empty());
}
