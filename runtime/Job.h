//===- Job.h - What all ranks of a run share --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that can be read and checked before the first rank starts: so bad
// input is one error, not one per rank.
//
// Tested by test/unit/runtime/LocalJobTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_JOB_H
#define SFSDP_RUNTIME_JOB_H

#include "runtime/Agreement.h"
#include "runtime/RunOptions.h"

namespace sfsdp::runtime {

struct Job {
  RunOptions options;
  /// Receives progress, a line at a time, on rank 0; may be empty.
  std::function<void(const std::string &line)> show;
  Plan plan;
  std::string planDigest;
  std::vector<std::unique_ptr<WeightFile>> weights;
  std::unique_ptr<Batches> batches; ///< null when the plan has no inputs
  int64_t steps = 0;                ///< to train, at least 1
  int64_t dataRanks = 1;            ///< ranks with a batch of their own
  std::optional<Plan> reference;    ///< of --check-against

  int64_t rankCount() const { return plan.header.mesh.size(); }
};

/// Reads and checks plan, weights and data. `note` receives remarks that are no
/// errors.
Expected<Job> prepareJob(RunOptions options,
                         const std::function<void(const std::string &)> &note);

/// What ranks compare before the first collective.
AgreementRecord agreementOf(const Job &job, const std::string &backend);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_JOB_H
