//===- Collectives.h - What every transport knows of a call --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a collective that do not depend on how bytes travel: names,
// chunks, traffic, how two ranks' calls differ, and the case of a group of one.
//
// Tested by test/unit/runtime/CollectivesTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_COLLECTIVES_H
#define SFSDP_RUNTIME_COLLECTIVES_H

#include "runtime/ProcessGroup.h"

namespace sfsdp::runtime {

/// Kinds and orders by their value, as in the IR and in plans.
inline constexpr std::string_view kCollectiveKindNames[kCollectiveKindCount] = {
    "all_gather", "reduce_scatter", "all_reduce", "all_to_all", "broadcast"};
inline constexpr std::string_view kReductionOrderNames[] = {"ordered",
                                                            "backend"};

/// True for the kinds that add: reduce_scatter and all_reduce.
bool isReduction(CollectiveKind kind);

/// Elements of `member` that every rank exchanges with every peer, padding
/// included: c of the rules in ProcessGroup.h; for all_reduce that of its
/// reduce_scatter, ceil(e / groupSize); for broadcast e.
int64_t chunkCount(CollectiveKind kind, const CollectiveMember &member,
                   int groupSize);

/// Bytes that this rank receives from the others in the course of `call`.
int64_t bytesReceived(const CollectiveCall &call, int groupSize, int rank);

/// What two ranks of one collective disagree about: "the element type of
/// member 1" with both values; everything absent when they agree. Labels,
/// pointers and broadcast's ignored inputs may differ.
struct CallDifference {
  std::string what;
  std::string first;
  std::string second;
  bool any() const { return !what.empty(); }
};
CallDifference difference(const CollectiveCall &first,
                          const CollectiveCall &second);

/// Completes a checked call of a group of one rank: copies, and divides.
void carryOutAlone(const CollectiveCall &call);

/// Copies `bytes` from `source` to `target` unless they are the same.
void copyBytes(void *target, const void *source, int64_t bytes);

/// `pointer` moved on by `bytes`.
inline char *at(void *pointer, int64_t bytes) {
  return static_cast<char *>(pointer) + bytes;
}
inline const char *at(const void *pointer, int64_t bytes) {
  return static_cast<const char *>(pointer) + bytes;
}

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_COLLECTIVES_H
