//===- Executor.h - Runs the program of a plan ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One rank's program and its memory. Preparation resolves every operator and
// builds every argument list; a step walks the instructions, calls kernels,
// starts and waits for collectives, and releases storages at their frees. The
// loop looks nothing up and allocates nothing but tensors. The first step also
// compares every result with the plan: shape, strides, element type, and
// whether it is a view or memory of its own.
//
// Thread rule: make, runStep and everything that touches tensors belong to one
// thread, the rank's lane; see prepareLane.
//
// Tested by test/unit/runtime/ExecutorTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_EXECUTOR_H
#define SFSDP_RUNTIME_EXECUTOR_H

#include "runtime/MeshPosition.h"
#include "runtime/Operators.h"
#include "runtime/RankMemory.h"

#include <functional>
#include <memory>

namespace sfsdp::runtime {

/// A tensor's memory as the rest of the runtime sees it.
struct TensorView {
  void *data = nullptr; ///< the first element
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;

  int64_t elements() const;
  /// Elements * element size: what a contiguous tensor occupies.
  int64_t bytes() const;
};

/// The group of ranks over `axes`; null when there is none.
using GroupFinder =
    std::function<ProcessGroup *(const std::vector<std::string> &axes)>;

struct ExecutorOptions {
  OperatorList operators;
  uint64_t seed = 0; ///< of random operators
  DebugFill fill = DebugFill::None;
  /// Where to put what peers read; see ProcessGroup::peerMemory.
  std::shared_ptr<PeerMemory> peerMemory;
  /// Called before each collective starts and before each wait.
  std::function<void(int64_t step, int64_t instruction)> onCollective;
};

/// When an instruction was carried out, in nanoseconds of the steady clock. Of
/// a collective start also the time on its lane.
struct InstructionTime {
  int64_t beginNs = 0;
  int64_t endNs = 0;
  LaneSpan lane;
  /// Most bytes that lived while it ran beside those that lived after it.
  int64_t workspaceBytes = 0;
};

class Executor {
public:
  /// Prepares `plan`, which must have passed checkPlan and outlive the
  /// executor. Arguments are zero.
  static Expected<std::unique_ptr<Executor>> make(const Plan &plan,
                                                  const MeshPosition &position,
                                                  const GroupFinder &groups,
                                                  ExecutorOptions options = {});
  ~Executor();

  /// The memory of Plan::arguments[index]; stays where it is.
  TensorView argument(size_t index);

  /// Lets random operators draw what data rank `rank` draws, instead of this
  /// rank's own.
  void drawAs(int64_t rank);

  /// Runs the last program, for the last micro-batch of step `step` (from 1).
  /// After a failure the executor is unusable. The message names the
  /// instruction. The plan's scalar `step` counts only the steps whose updates
  /// were carried out, and this one.
  Status runStep(int64_t step, double lr);

  /// Runs the first of two programs, for micro-batch `microBatch` (from 0) of
  /// `step`: what comes before runStep, PlanHeader::microBatches - 1 times.
  Status runMicroStep(int64_t step, int64_t microBatch, double lr);

  /// Whether the last step carried out its updates: the result of that role,
  /// true in a plan without one.
  bool applied() const;

  /// Plan::results[index]; valid after its program ran until it runs again.
  TensorView result(size_t index);

  /// Nanoseconds that the program that ran last spent in waits.
  int64_t waitedNs() const;

  /// Turns times of instructions on or off, from the next step on.
  void recordTimes(bool on);
  /// Of the last program in the last step, by instruction; empty when off.
  const std::vector<InstructionTime> &times() const;

  MemoryCounts memory() const;

private:
  struct State;
  explicit Executor(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// Makes the calling thread fit to run an executor: `threads` threads per
/// kernel. Call it first in every lane.
void prepareLane(int threads);

/// What changes bits between machines: LibTorch's version, and the instruction
/// set that its kernels chose ("AVX2", "AVX512", "DEFAULT").
std::string torchVersion();
std::string cpuCapability();

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_EXECUTOR_H
