//===- RankRun.h - One rank's training run ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads weights, feeds batches, runs steps, and collects what is to be written.
// The same code for ranks that are threads and ranks that are processes.
//
// Tested by test/unit/runtime/LocalJobTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_RANKRUN_H
#define SFSDP_RUNTIME_RANKRUN_H

#include "runtime/GradientNorm.h"
#include "runtime/Job.h"
#include "runtime/RankGroups.h"

namespace sfsdp::runtime {

/// What one step did, as rank 0's views show it.
struct StepRecord {
  int64_t step = 0;
  /// Mean over data ranks, in rank order, of the means over micro-batches.
  double loss = 0;
  double lr = 0;
  int64_t tokens = 0; ///< of all data ranks and micro-batches
  double milliseconds = 0;
  double exposedMilliseconds = 0; ///< spent waiting for collectives
  int64_t peakBytes = 0;          ///< of this rank, since the start
  double time = 0;                ///< end of the step, seconds since 1970
  std::optional<GradientNorm> gradientNorm{}; ///< if the plan forms it
};

class RankRun {
public:
  /// Prepares the rank at `position`: executor and weights. `job` and `groups`
  /// must outlive the run.
  static Expected<std::unique_ptr<RankRun>>
  make(const Job &job, const MeshPosition &position, const RankGroups &groups,
       std::function<void(int64_t, int64_t)> onCollective);

  Expected<StepRecord> trainStep(int64_t step);

  /// Writes --dump and --save-weights on rank 0, from what all ranks hold.
  Status writeTensors(double loss);

  Executor &executor() { return *ownExecutor; }
  const MeshPosition &position() const { return place; }
  const RankGroups &groups() const { return ownGroups; }

private:
  RankRun(const Job &job, const MeshPosition &position,
          const RankGroups &groups)
      : job(job), place(position), ownGroups(groups) {}

  Status readBatch(int64_t step, int64_t microBatch);
  Status runMicroBatch(StepRecord &record, int64_t microBatch);

  const Job &job;
  MeshPosition place;
  const RankGroups &ownGroups;
  std::unique_ptr<Executor> ownExecutor;
  std::vector<size_t> lossResults; ///< by program
  int64_t tokensPerBatch = 0;
};

/// Writes the tensors of `job`'s plan to --dump and --save-weights; a
/// collective call, of which rank 0 writes. `loss` is the last step's.
Status writeTensors(const Job &job, const MeshPosition &position,
                    const RankGroups &groups, Executor &executor, double loss);

/// Whether the times of `step` are kept for trace, report and profile: the last
/// ones.
bool keepsTimes(const Job &job, int64_t step);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_RANKRUN_H
