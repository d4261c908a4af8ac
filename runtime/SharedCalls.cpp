//===- SharedCalls.cpp - Calls as processes show them to each other -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A record that another process wrote is checked before a pointer is made of
// it.
//
// Tested by test/unit/runtime/ShmProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/SharedCalls.h"

#include "runtime/Collectives.h"

using namespace sfsdp::runtime;

namespace {

constexpr int64_t kStaged = -1;

int64_t offsetIn(const SharedSegment &arena, const void *buffer,
                 int64_t bytes) {
  bool isThere = buffer && arena.contains(buffer, bytes);
  return isThere ? static_cast<const std::byte *>(buffer) - arena.data()
                 : kStaged;
}

/// The buffer at `offset`, null when it is staged.
Expected<std::byte *> bufferAt(const SharedSegment &arena, int64_t offset,
                               int64_t count, int64_t elementBytes) {
  if (offset == kStaged) {
    return nullptr;
  }
  bool isWithin = count >= 0 && count <= arena.size() / elementBytes &&
                  offset >= 0 && offset <= arena.size() - count * elementBytes;
  if (!isWithin) {
    return Status::error("a buffer of " + std::to_string(count) +
                         " elements at " + std::to_string(offset) +
                         " is not within its arena of " +
                         std::to_string(arena.size()) + " bytes");
  }
  return arena.data() + offset;
}

Expected<CollectiveMember> memberOf(const MemberRecord &record,
                                    const SharedSegment &arena) {
  if (record.dtype >= kDTypeCount) {
    return Status::error("element type " + std::to_string(record.dtype) +
                         " is none");
  }
  CollectiveMember member;
  member.inputCount = record.inputCount;
  member.outputCount = record.outputCount;
  member.dtype = static_cast<DType>(record.dtype);
  int64_t size = byteSize(member.dtype);
  auto input = bufferAt(arena, record.inputOffset, record.inputCount, size);
  auto output = bufferAt(arena, record.outputOffset, record.outputCount, size);
  if (!input.ok() || !output.ok()) {
    return input.ok() ? output.status() : input.status();
  }
  member.input = *input;
  member.output = *output;
  return member;
}

} // namespace

void sfsdp::runtime::writeRecord(const CollectiveCall &call, int64_t first,
                                 int64_t count, const SharedSegment &arena,
                                 GroupBlock &block) {
  auto members = static_cast<int64_t>(call.members.size());
  block.call = {call.divisor,
                call.grouped,
                count,
                members - first - count,
                call.root,
                static_cast<uint32_t>(call.kind),
                static_cast<uint32_t>(call.order),
                0};
  for (int64_t i = 0; i < count; ++i) {
    const CollectiveMember &member = call.members[first + i];
    int64_t size = byteSize(member.dtype);
    block.members[i] = {
        member.inputCount,
        member.outputCount,
        offsetIn(arena, member.input, member.inputCount * size),
        offsetIn(arena, member.output, member.outputCount * size),
        static_cast<uint32_t>(member.dtype),
        0};
  }
}

Status sfsdp::runtime::readRecord(const GroupBlock &block,
                                  const SharedSegment &arena,
                                  CollectiveCall &call, int64_t &followed) {
  const CallRecord &record = block.call;
  if (record.members < 0 || record.members > kMembersPerRound ||
      record.kind >= kCollectiveKindCount) {
    return Status::error("the record of a collective is damaged");
  }
  followed = record.followed;
  call.kind = static_cast<CollectiveKind>(record.kind);
  call.order = static_cast<ReductionOrder>(record.order);
  call.divisor = record.divisor;
  call.grouped = record.grouped;
  call.root = record.root;
  call.members.clear();
  for (int64_t i = 0; i < record.members; ++i) {
    auto member = memberOf(block.members[i], arena);
    if (!member.ok()) {
      return member.status().within("member " + std::to_string(i));
    }
    call.members.push_back(*member);
  }
  return {};
}
