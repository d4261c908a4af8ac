//===- RankRun.cpp - One rank's training run ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A batch is read into the argument's own memory; inputs are row-major.
//
// Tested by test/unit/runtime/LocalJobTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/RankRun.h"
#include "runtime/Collect.h"
#include "runtime/TensorBytes.h"

#include <chrono>

using namespace sfsdp::runtime;

namespace {

using Clock = std::chrono::steady_clock;

double millisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin)
      .count();
}

double secondsSince1970() {
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// The loss among the results of each program.
std::vector<size_t> lossesOf(const Plan &plan) {
  std::vector<size_t> losses(plan.programs.size());
  for (size_t index = 0; index < plan.results.size(); ++index) {
    if (plan.results[index].role == Role::Loss) {
      losses[plan.results[index].program] = index;
    }
  }
  return losses;
}

/// Ids of the first integer input, or rows of the first input.
int64_t tokensOf(const std::vector<InputSpec> &inputs) {
  for (const InputSpec &input : inputs) {
    if (isIntegral(input.dtype) && input.shape.size() > 1) {
      return elementCount(input.shape);
    }
  }
  bool hasRows = !inputs.empty() && !inputs.front().shape.empty();
  return hasRows ? inputs.front().shape.front() : 1;
}

} // namespace

bool sfsdp::runtime::keepsTimes(const Job &job, int64_t step) {
  constexpr int64_t kKept = 3;
  const RunOptions &options = job.options;
  bool shown = !options.trace.empty() || !options.report.empty() ||
               !options.profile.empty();
  return shown && step > job.steps - kKept;
}

Expected<std::unique_ptr<RankRun>>
RankRun::make(const Job &job, const MeshPosition &position,
              const RankGroups &groups,
              std::function<void(int64_t, int64_t)> onCollective) {
  std::unique_ptr<RankRun> run(new RankRun(job, position, groups));
  ExecutorOptions options;
  options.operators = job.options.operators;
  options.fill = job.options.fill;
  options.seed = job.options.seed;
  options.peerMemory = groups.world().peerMemory();
  options.onCollective = std::move(onCollective);
  prepareLane(job.options.threads);
  auto executor = Executor::make(
      job.plan, position,
      [&](const std::vector<std::string> &axes) { return groups.find(axes); },
      std::move(options));
  if (!executor) {
    return executor.status().within(job.options.plan);
  }
  run->ownExecutor = std::move(*executor);
  run->lossResults = lossesOf(job.plan);
  run->tokensPerBatch = tokensOf(inputsOf(job.plan));
  if (Status status = loadWeights(job.plan, position, job.weights,
                                  job.options.init, *run->ownExecutor);
      !status.ok()) {
    return status;
  }
  return run;
}

Status RankRun::readBatch(int64_t step, int64_t microBatch) {
  if (!job.batches) {
    return Status();
  }
  std::vector<std::span<std::byte>> inputs;
  for (size_t index = 0; index < job.plan.arguments.size(); ++index) {
    if (job.plan.arguments[index].role == Role::Input) {
      TensorView view = ownExecutor->argument(index);
      inputs.emplace_back(static_cast<std::byte *>(view.data),
                          static_cast<size_t>(view.bytes()));
    }
  }
  int64_t batch = batchOf(
      {step, microBatch, place.indexOn(job.plan.header.dataAxes)},
      job.plan.header.microBatches, job.dataRanks, job.batches->count());
  return job.batches->read(batch, inputs);
}

Status RankRun::runMicroBatch(StepRecord &record, int64_t microBatch) {
  if (Status status = readBatch(record.step, microBatch); !status.ok()) {
    return status.within("step " + std::to_string(record.step));
  }
  bool isLast = microBatch + 1 == job.plan.header.microBatches;
  Status status =
      isLast ? ownExecutor->runStep(record.step, record.lr)
             : ownExecutor->runMicroStep(record.step, microBatch, record.lr);
  record.exposedMilliseconds +=
      static_cast<double>(ownExecutor->waitedNs()) / 1e6;
  return status;
}

Expected<StepRecord> RankRun::trainStep(int64_t step) {
  Clock::time_point begin = Clock::now();
  StepRecord record;
  record.step = step;
  record.lr = job.options.lr.at(step);
  int64_t microBatches = job.plan.header.microBatches;
  record.tokens = tokensPerBatch * job.dataRanks * microBatches;
  ownExecutor->recordTimes(keepsTimes(job, step));
  std::vector<double> losses;
  DType lossType = DType::Float32;
  for (int64_t microBatch = 0; microBatch < microBatches; ++microBatch) {
    if (Status status = runMicroBatch(record, microBatch); !status.ok()) {
      return status;
    }
    bool isLast = microBatch + 1 == microBatches;
    TensorView view =
        ownExecutor->result(isLast ? lossResults.back() : lossResults.front());
    lossType = view.dtype;
    losses.push_back(numberIn(view));
  }
  auto loss =
      meanOverRanks(meanOf(losses, lossType), lossType, ownGroups.loss());
  if (!loss) {
    return loss.status().within("step " + std::to_string(step));
  }
  record.loss = *loss;
  record.gradientNorm = gradientNormOf(job.plan, place, *ownExecutor);
  record.milliseconds = millisecondsSince(begin);
  record.peakBytes = ownExecutor->memory().peakBytes;
  record.time = secondsSince1970();
  return record;
}

Status RankRun::writeTensors(double loss) {
  return runtime::writeTensors(job, place, ownGroups, *ownExecutor, loss);
}
