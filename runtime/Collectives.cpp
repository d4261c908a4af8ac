//===- Collectives.cpp - What every transport knows of a call ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chunks, traffic, comparison of calls, groups of one rank.
//
// Tested by test/unit/runtime/CollectivesTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Collectives.h"

#include "runtime/Reduce.h"

#include <cstring>

using namespace sfsdp::runtime;

bool sfsdp::runtime::isReduction(CollectiveKind kind) {
  return kind == CollectiveKind::ReduceScatter ||
         kind == CollectiveKind::AllReduce;
}

int64_t sfsdp::runtime::chunkCount(CollectiveKind kind,
                                   const CollectiveMember &member,
                                   int groupSize) {
  switch (kind) {
  case CollectiveKind::AllGather:
    return member.inputCount;
  case CollectiveKind::ReduceScatter:
    return member.outputCount;
  case CollectiveKind::AllReduce:
    return (member.inputCount + groupSize - 1) / groupSize;
  case CollectiveKind::AllToAll:
    return member.inputCount / groupSize;
  case CollectiveKind::Broadcast:
    return member.outputCount;
  }
  return 0;
}

int64_t sfsdp::runtime::bytesReceived(const CollectiveCall &call, int groupSize,
                                      int rank) {
  int64_t chunkBytes = 0;
  for (const CollectiveMember &member : call.members) {
    chunkBytes +=
        chunkCount(call.kind, member, groupSize) * byteSize(member.dtype);
  }
  if (call.kind == CollectiveKind::Broadcast) {
    return rank == call.root ? 0 : chunkBytes;
  }
  int64_t rounds = call.kind == CollectiveKind::AllReduce ? 2 : 1;
  return rounds * (groupSize - 1) * chunkBytes;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

namespace {

std::string textOf(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string textOf(ReductionOrder order) {
  return std::string(kReductionOrderNames[static_cast<size_t>(order)]);
}

CallDifference differenceOfMembers(const CollectiveCall &first,
                                   const CollectiveCall &second, size_t i) {
  const CollectiveMember &a = first.members[i];
  const CollectiveMember &b = second.members[i];
  std::string of = " of member " + std::to_string(i);
  if (a.dtype != b.dtype) {
    return {"the element type" + of, std::string(nameOf(a.dtype)),
            std::string(nameOf(b.dtype))};
  }
  bool comparesInput = first.kind != CollectiveKind::Broadcast;
  if (comparesInput && a.inputCount != b.inputCount) {
    return {"the input elements" + of, std::to_string(a.inputCount),
            std::to_string(b.inputCount)};
  }
  if (a.outputCount != b.outputCount) {
    return {"the output elements" + of, std::to_string(a.outputCount),
            std::to_string(b.outputCount)};
  }
  return {};
}

} // namespace

CallDifference sfsdp::runtime::difference(const CollectiveCall &first,
                                          const CollectiveCall &second) {
  if (first.kind != second.kind) {
    return {"the kind", std::string(nameOf(first.kind)),
            std::string(nameOf(second.kind))};
  }
  if (first.members.size() != second.members.size()) {
    return {"the number of members", std::to_string(first.members.size()),
            std::to_string(second.members.size())};
  }
  for (size_t i = 0; i < first.members.size(); ++i) {
    CallDifference found = differenceOfMembers(first, second, i);
    if (found.any()) {
      return found;
    }
  }
  if (isReduction(first.kind) && first.divisor != second.divisor) {
    return {"the divisor", textOf(first.divisor), textOf(second.divisor)};
  }
  if (isReduction(first.kind) && first.order != second.order) {
    return {"the reduction order", textOf(first.order), textOf(second.order)};
  }
  if (isReduction(first.kind) && first.grouped != second.grouped) {
    return {"the ranks per block of the sum", std::to_string(first.grouped),
            std::to_string(second.grouped)};
  }
  if (first.kind == CollectiveKind::Broadcast && first.root != second.root) {
    return {"the root", std::to_string(first.root),
            std::to_string(second.root)};
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void sfsdp::runtime::copyBytes(void *target, const void *source,
                               int64_t bytes) {
  if (bytes > 0 && target != source) {
    std::memcpy(target, source, bytes);
  }
}

void sfsdp::runtime::carryOutAlone(const CollectiveCall &call) {
  for (const CollectiveMember &member : call.members) {
    int64_t size = byteSize(member.dtype);
    if (!isReduction(call.kind)) {
      copyBytes(member.output, member.input, member.outputCount * size);
      continue;
    }
    if (member.inputCount > 0) {
      sumInRankOrder({member.input}, member.output, member.inputCount,
                     member.dtype, call.divisor);
    }
    int64_t tail = member.outputCount - member.inputCount;
    if (tail > 0) {
      std::memset(at(member.output, member.inputCount * size), 0, tail * size);
    }
  }
}
