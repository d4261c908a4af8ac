//===- ProcessGroup.cpp - The rules of a collective call -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that do not need a peer; what ranks must agree on is compared by the
// transports.
//
// Tested by test/unit/runtime/CollectivesTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/ProcessGroup.h"

#include "runtime/Collectives.h"

#include <algorithm>
#include <cmath>

using namespace sfsdp::runtime;

std::string_view sfsdp::runtime::nameOf(CollectiveKind kind) {
  return kCollectiveKindNames[static_cast<size_t>(kind)];
}

namespace {

/// Largest buffer a call may describe; leaves room for sums of several.
constexpr int64_t kMaxBytes = int64_t(1) << 56;

std::string counts(const CollectiveMember &member) {
  return "got " + std::to_string(member.inputCount) + " and " +
         std::to_string(member.outputCount);
}

Status checkCounts(CollectiveKind kind, const CollectiveMember &member,
                   int64_t groupSize) {
  int64_t input = member.inputCount;
  int64_t output = member.outputCount;
  if (input < 0 || output < 0 ||
      std::max(input, output) > kMaxBytes / byteSize(member.dtype)) {
    return Status::error("expected element counts of buffers, " +
                         counts(member));
  }
  switch (kind) {
  case CollectiveKind::AllGather:
    if (input > kMaxBytes / groupSize || output != groupSize * input) {
      return Status::error("expected an output of " +
                           std::to_string(groupSize) +
                           " times the input elements, " + counts(member));
    }
    break;
  case CollectiveKind::ReduceScatter:
    if (output < (input + groupSize - 1) / groupSize) {
      return Status::error("expected at most " + std::to_string(groupSize) +
                           " times the output elements as input, " +
                           counts(member));
    }
    break;
  case CollectiveKind::AllToAll:
    if (input % groupSize != 0) {
      return Status::error("expected input elements that " +
                           std::to_string(groupSize) + " ranks divide, got " +
                           std::to_string(input));
    }
    [[fallthrough]];
  case CollectiveKind::AllReduce:
  case CollectiveKind::Broadcast:
    if (input != output) {
      return Status::error("expected as many output as input elements, " +
                           counts(member));
    }
    break;
  }
  return {};
}

Status checkBuffers(CollectiveKind kind, const CollectiveMember &member) {
  bool inputMayBeNull = kind == CollectiveKind::Broadcast;
  if (!inputMayBeNull && member.inputCount > 0 && !member.input) {
    return Status::error("expected an input buffer, got null");
  }
  if (member.outputCount > 0 && !member.output) {
    return Status::error("expected an output buffer, got null");
  }
  bool inPlaceAllowed =
      kind == CollectiveKind::AllReduce || kind == CollectiveKind::Broadcast;
  if (!inPlaceAllowed && member.inputCount > 0 &&
      member.input == member.output) {
    return Status::error("input and output are the same buffer, expected "
                         "different ones");
  }
  return {};
}

Status checkMember(const CollectiveCall &call, const CollectiveMember &member,
                   int groupSize) {
  if (Status status = checkCounts(call.kind, member, groupSize); !status.ok()) {
    return status;
  }
  if (isReduction(call.kind) && call.divisor != 1 && isIntegral(member.dtype)) {
    return Status::error("expected no divisor for element type " +
                         std::string(nameOf(member.dtype)) + ", got " +
                         std::to_string(call.divisor));
  }
  return checkBuffers(call.kind, member);
}

} // namespace

Status sfsdp::runtime::checkCall(const CollectiveCall &call, int groupSize) {
  std::string where =
      call.label.empty() ? std::string(nameOf(call.kind)) : call.label;
  if (call.members.empty()) {
    return Status::error("expected at least one member, got none")
        .within(where);
  }
  bool isDivisor = std::isfinite(call.divisor) && call.divisor > 0;
  if (isReduction(call.kind) && !isDivisor) {
    return Status::error("expected a finite divisor above zero, got " +
                         std::to_string(call.divisor))
        .within(where);
  }
  if (call.grouped < 0 || (call.grouped > 0 && !isReduction(call.kind))) {
    return Status::error("expected ranks per block of a reduction, got " +
                         std::to_string(call.grouped))
        .within(where);
  }
  if (call.kind == CollectiveKind::Broadcast &&
      (call.root < 0 || call.root >= groupSize)) {
    return Status::error("expected a root below " + std::to_string(groupSize) +
                         ", got " + std::to_string(call.root))
        .within(where);
  }
  for (size_t i = 0; i < call.members.size(); ++i) {
    Status status = checkMember(call, call.members[i], groupSize);
    if (!status.ok()) {
      return status.within(where + ": member " + std::to_string(i));
    }
  }
  return {};
}
