//===- ReferenceCheck.h - Every step equals an unsharded one ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the unsharded plan of the same graph on every data rank's batch with the
// parameters of the moment, and compares bit for bit: the mean of its losses
// and gradients with the plan's, and the optimizer's update of whole parameters
// with the plan's update of shards.
//
// Tested by test/unit/runtime/LocalJobTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_REFERENCECHECK_H
#define SFSDP_RUNTIME_REFERENCECHECK_H

#include "runtime/RankRun.h"

namespace sfsdp::runtime {

class ReferenceCheck {
public:
  /// `runs` are all ranks, by rank; they and `job` must outlive the check.
  /// Requires job.reference: one rank, results=gradients, no optimizer; and
  /// results=gradients of the plan.
  static Expected<std::unique_ptr<ReferenceCheck>>
  make(const Job &job, std::vector<RankRun *> runs);
  ~ReferenceCheck();

  /// Keeps what the ranks hold before `step`.
  void before(int64_t step);

  /// Compares what they hold after it; names what differs first.
  Status after(int64_t step, double loss);

private:
  struct State;
  explicit ReferenceCheck(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

/// The optimizer of `plan` alone, on whole parameters: arguments are the
/// parameters, their state, and an input "grad.FQN" for each.
Plan optimizerOf(const Plan &plan);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_REFERENCECHECK_H
