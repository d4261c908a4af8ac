//===- PlanCollectiveCheck.cpp - A collective moves what it says ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Members are checked against the chunk rule of the group, so that no transport
// ever reads or writes past a buffer.
//
// Tested by test/unit/runtime/PlanVerifierTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Chunk.h"
#include "runtime/PlanChecks.h"
#include "runtime/PlanNames.h"
#include "runtime/TensorBytes.h"

using namespace sfsdp::runtime;

namespace {

/// Ranks of the group, or why the axes make none.
Expected<int64_t> groupSize(const Mesh &mesh,
                            const std::vector<std::string> &axes) {
  int64_t size = 1;
  size_t position = 0;
  for (const MeshAxis &axis : mesh.axes) {
    if (position < axes.size() && axes[position] == axis.name) {
      size *= axis.size;
      ++position;
    }
  }
  if (axes.empty() || position != axes.size()) {
    std::string text;
    for (const std::string &axis : axes) {
      text += " '" + axis + "'";
    }
    return Status::error("expected axes of the mesh, outermost first, got" +
                         (text.empty() ? " none" : text));
  }
  return size;
}

/// What the elements of one member look like for each kind.
struct Counts {
  int64_t input = 0;
  int64_t output = 0;
  int64_t chunk = 0; ///< elements that each pair of ranks exchanges
};

/// Rows of dimension 0 as one number: a 0-dim tensor has one row.
int64_t rowsOf(const Value &value) {
  return value.sizes.empty() ? 1 : value.sizes.front();
}

/// Elements of one row.
int64_t rowElements(const Value &value) {
  int64_t count = 1;
  for (size_t dim = 1; dim < value.sizes.size(); ++dim) {
    count *= value.sizes[dim];
  }
  return count;
}

Status shapeError(const Value &input, const Value &output,
                  const std::string &expected) {
  return Status::error("takes " + describeShape(input.sizes) + " to " +
                       describeShape(output.sizes) + ", expected " + expected);
}

/// `whole` holds the true rows and `chunk` one rank's share of them.
Status checkSplit(const Value &input, const Value &output, const Value &whole,
                  const Value &chunk, int64_t ranks) {
  bool sameRank =
      !whole.sizes.empty() && whole.sizes.size() == chunk.sizes.size();
  if (sameRank && rowElements(whole) == rowElements(chunk) &&
      std::equal(whole.sizes.begin() + 1, whole.sizes.end(),
                 chunk.sizes.begin() + 1) &&
      rowsOf(chunk) == chunkRows(rowsOf(whole), ranks)) {
    return Status();
  }
  return shapeError(input, output,
                    "rows split over " + std::to_string(ranks) +
                        " ranks by the chunk rule");
}

Status checkShapes(CollectiveKind kind, const Value &input, const Value &output,
                   int64_t ranks) {
  switch (kind) {
  case CollectiveKind::AllGather:
    return checkSplit(input, output, output, input, ranks);
  case CollectiveKind::ReduceScatter:
    return checkSplit(input, output, input, output, ranks);
  case CollectiveKind::AllToAll:
    if (input.sizes != output.sizes || rowsOf(input) % ranks != 0) {
      return shapeError(input, output,
                        "equal shapes whose rows divide by " +
                            std::to_string(ranks));
    }
    return Status();
  case CollectiveKind::AllReduce:
  case CollectiveKind::Broadcast:
    return input.sizes == output.sizes
               ? Status()
               : shapeError(input, output, "equal shapes");
  }
  return Status();
}

/// Bytes that one rank receives, as ProcessGroup::traffic counts them.
int64_t receivedBytes(CollectiveKind kind, const Value &input,
                      const Value &output, int64_t ranks) {
  int64_t bytes = byteSize(input.dtype);
  int64_t elements = elementCount(input.sizes);
  switch (kind) {
  case CollectiveKind::AllGather:
    return (ranks - 1) * elements * bytes;
  case CollectiveKind::ReduceScatter:
    return (ranks - 1) * elementCount(output.sizes) * bytes;
  case CollectiveKind::AllReduce:
    return 2 * (ranks - 1) * chunkRows(elements, ranks) * bytes;
  case CollectiveKind::AllToAll:
    return (ranks - 1) * (elements / ranks) * bytes;
  case CollectiveKind::Broadcast:
    return ranks > 1 ? elements * bytes : 0;
  }
  return 0;
}

Status checkMember(const Plan &plan, const CollectiveStart &start,
                   const CollectiveMemberRef &member, int64_t ranks) {
  const Value &input = plan.values[member.input];
  const Value &output = plan.values[member.output];
  if (input.dtype != output.dtype) {
    return Status::error(
        "takes elements of " + std::string(nameOf(input.dtype)) + " to " +
        std::string(nameOf(output.dtype)) + ", expected one element type");
  }
  bool inputFits = isContiguous(input.sizes, input.strides);
  if (!inputFits || !isContiguous(output.sizes, output.strides)) {
    const Value &strided = inputFits ? output : input;
    return Status::error(std::string(inputFits ? "output" : "input") +
                         " of shape " + describeShape(strided.sizes) +
                         " has strides " + describeShape(strided.strides) +
                         ", expected a contiguous tensor");
  }
  if (Status status = checkShapes(start.kind, input, output, ranks);
      !status.ok()) {
    return status;
  }
  bool writesPadding = start.kind == CollectiveKind::AllGather;
  __int128 written =
      static_cast<__int128>(byteSize(input.dtype)) *
      (writesPadding ? output.offset + static_cast<__int128>(ranks) *
                                           elementCount(input.sizes)
                     : 0);
  int64_t available = plan.storages[output.storage].bytes;
  if (written > available) {
    return Status::error(
        "writes " + std::to_string(ranks) + " chunks of " +
        describeShape(input.sizes) + ", padding included, into storage " +
        std::to_string(output.storage) + " of " + std::to_string(available) +
        " bytes, expected " + std::to_string(static_cast<int64_t>(written)));
  }
  return Status();
}

} // namespace

Status sfsdp::runtime::checkCollective(const Plan &plan,
                                       const CollectiveStart &start) {
  Expected<int64_t> ranks = groupSize(plan.header.mesh, start.axes);
  if (!ranks) {
    return ranks.status();
  }
  if (start.members.empty()) {
    return Status::error("moves no tensor, expected at least one member");
  }
  if (!(start.divisor > 0)) {
    return Status::error("divides by " + std::to_string(start.divisor) +
                         ", expected a positive divisor");
  }
  bool reduces = start.kind == CollectiveKind::AllReduce ||
                 start.kind == CollectiveKind::ReduceScatter;
  if (start.grouped < 0 || (start.grouped > 0 && !reduces)) {
    return Status::error("sums blocks of " + std::to_string(start.grouped) +
                         " ranks, expected a positive number, of a reduction");
  }
  int64_t bytes = 0;
  for (size_t index = 0; index < start.members.size(); ++index) {
    const CollectiveMemberRef &member = start.members[index];
    std::string where = "member " + std::to_string(index);
    if (Status status = checkMember(plan, start, member, *ranks);
        !status.ok()) {
      return status.within(where);
    }
    DType type = plan.values[member.input].dtype;
    if (start.divisor != 1 && (!reduces || isIntegral(type))) {
      return Status::error(where + ": only reductions of floating-point "
                                   "tensors divide");
    }
    bytes += receivedBytes(start.kind, plan.values[member.input],
                           plan.values[member.output], *ranks);
  }
  if (bytes != start.bytesReceived) {
    return Status::error("says that a rank receives " +
                         std::to_string(start.bytesReceived) +
                         " bytes, the members make " + std::to_string(bytes));
  }
  return Status();
}
