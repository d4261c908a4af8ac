//===- ProcessGroup.h - Collectives between the ranks of a group ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface that every transport implements: start a collective, get a
// Work, wait for it. It speaks of pointers, element counts and element types
// only, so that it builds and is tested without LibTorch.
//
// A call carries k members: a bucket of k tensors moves as one collective. What
// a member's counts mean, for a group of n ranks:
//
//   all_gather      input: c elements            output: n * c, rank-major
//   reduce_scatter  input: e <= n * c elements   output: c
//   all_reduce      input: e elements            output: e
//   all_to_all      input: n * c, one c per peer output: n * c, rank-major
//   broadcast       input: e (root's is read)    output: e
//
// reduce_scatter follows the chunk rule: rank r owns input elements
// [r * c, min(e, (r + 1) * c)), possibly none; the tail of its output is zero.
// The wire always carries c elements per peer, so counts are equal on all
// ranks.
//
// Reductions are part of the meaning (docs/semantics.md): with
// ReductionOrder::Ordered each element is summed over ranks 0, 1, …, n-1 in
// that order, starting from rank 0's value; 16-bit floats accumulate in f32 and
// round once; one true division by `divisor` follows in the element type.
// Float16 divides by the largest power of two <= sqrt(divisor) before the sum
// and by the rest after it, so that neither end of its range is left.
//
// Tested by test/unit/runtime/ProcessGroupTest.cpp, the same cases for every
// transport.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_PROCESSGROUP_H
#define SFSDP_RUNTIME_PROCESSGROUP_H

#include "runtime/DType.h"
#include "runtime/PeerMemory.h"
#include "runtime/Status.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sfsdp::runtime {

enum class CollectiveKind : uint8_t {
  AllGather,
  ReduceScatter,
  AllReduce,
  AllToAll,
  Broadcast,
};
inline constexpr int kCollectiveKindCount = 5;

/// "all_gather", "reduce_scatter", …, as in the IR.
std::string_view nameOf(CollectiveKind kind);

enum class ReductionOrder : uint8_t {
  Ordered, ///< rank order, the same bits on every transport
  Backend, ///< whatever the library does
};

/// One tensor of a collective. The buffers are contiguous, owned by the caller,
/// and must neither move nor be touched between start and the end of wait.
/// `input` may equal `output` for all_reduce and broadcast only; either may be
/// null when its count is zero.
struct CollectiveMember {
  const void *input = nullptr;
  void *output = nullptr;
  int64_t inputCount = 0;  ///< elements
  int64_t outputCount = 0; ///< elements
  DType dtype = DType::Float32;
};

struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::AllReduce;
  std::vector<CollectiveMember> members;
  ReductionOrder order = ReductionOrder::Ordered;
  /// Reductions divide by it once, after the last addition; 1: no division.
  double divisor = 1;
  /// Ordered reductions: ranks per block. Blocks of so many consecutive ranks
  /// are summed first, then the blocks in order; 0: one block.
  int64_t grouped = 0;
  /// Rank whose input is copied by broadcast.
  int root = 0;
  /// What an error message calls this collective: "step 3, op 17, all_gather
  /// of layers.0".
  std::string label;
};

/// Checks counts, types and pointers of `call` for a group of `groupSize`
/// ranks: the rules in the head of this file. Every transport calls it first.
Status checkCall(const CollectiveCall &call, int groupSize);

/// Times of one collective on its lane, in nanoseconds of the steady clock;
/// begin is when the transport took it up, end when its data was there.
struct LaneSpan {
  int64_t beginNs = 0;
  int64_t endNs = 0;
};

/// A collective under way.
class Work {
public:
  virtual ~Work() = default;

  /// Blocks until the outputs are there, the group's timeout has passed or the
  /// group is aborted. Called once, by the thread that started the call. After
  /// a failure the outputs hold unspecified data and the group is unusable.
  virtual Status wait() = 0;

  /// Valid after wait() succeeded.
  virtual LaneSpan span() const = 0;
};

/// What a group has moved since it was made. `bytesReceived` counts what this
/// rank received from the other ranks, padding of chunks included; an ordered
/// all_reduce counts as a reduce_scatter followed by an all_gather.
/// `stagedBytes` counts what this rank copied once more since it did not lie in
/// peerMemory(); a collective counts when its wait has returned.
struct Traffic {
  int64_t calls[kCollectiveKindCount] = {};
  int64_t bytesReceived[kCollectiveKindCount] = {};
  int64_t stagedBytes = 0;
};

/// The ranks of one mesh axis, seen from one of them.
///
/// Thread rule: start, wait and traffic are called by the rank's issuing thread
/// only; abort by any thread. All ranks start the same calls in the same order.
class ProcessGroup {
public:
  virtual ~ProcessGroup() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// "local", "shm", … for messages and reports.
  virtual std::string_view transport() const = 0;

  /// Hands `call` to the lane and returns without waiting for peers. Fails when
  /// checkCall fails, when this transport cannot carry the call (message says
  /// what it can), or after abort.
  virtual Expected<std::unique_ptr<Work>> start(CollectiveCall call) = 0;

  /// Ends every call under way and to come with an error that says `reason`.
  /// Wakes this rank's waits at once. Idempotent; the first reason stays.
  virtual void abort(const std::string &reason) = 0;

  virtual Traffic traffic() const = 0;

  /// Memory of this rank that its peers can read: collectives copy less when
  /// their inputs, and the outputs of all_reduce, lie there. The same for all
  /// groups of a rank; null for transports that have none.
  virtual std::shared_ptr<PeerMemory> peerMemory() const { return nullptr; }
};

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_PROCESSGROUP_H
