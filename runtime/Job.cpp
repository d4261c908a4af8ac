//===- Job.cpp - What all ranks of a run share ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing here starts a thread or a kernel: a launcher may fork afterwards.
//
// Tested by test/unit/runtime/LocalJobTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Job.h"
#include "runtime/Json.h"
#include "runtime/PlanVerifier.h"

#include <filesystem>

using namespace sfsdp::runtime;

namespace {

using Note = std::function<void(const std::string &)>;

Expected<Plan> readCheckedPlan(const std::string &path, bool unproved,
                               const Note &note) {
  Expected<Plan> plan = readPlanFile(path);
  if (!plan) {
    return plan;
  }
  if (Status status = checkPlan(*plan); !status.ok()) {
    return status.within(path);
  }
  Status proofs = checkProofs(*plan);
  if (!proofs.ok() && !unproved) {
    return proofs.within(path);
  }
  if (!proofs.ok()) {
    note(path + ": " + proofs.message());
  }
  return plan;
}

Status openWeights(Job &job) {
  for (const std::string &path : job.options.weights) {
    auto file = WeightFile::open(path);
    if (!file) {
      return file.status();
    }
    job.weights.push_back(std::move(*file));
  }
  return Status();
}

Status openBatches(Job &job, const Note &note) {
  std::vector<InputSpec> inputs = inputsOf(job.plan);
  if (inputs.empty()) {
    job.steps = std::max<int64_t>(job.options.steps, 1);
    return Status();
  }
  if (job.options.data.empty()) {
    return Status::error("expected --data FILE: the plan reads input '" +
                         inputs.front().name + "'");
  }
  auto batches = Batches::open(job.options.data, inputs, job.options.dataType);
  if (!batches) {
    return batches.status();
  }
  job.batches = std::move(*batches);
  int64_t perStep = job.dataRanks * job.plan.header.microBatches;
  int64_t perPass = std::max<int64_t>(job.batches->count() / perStep, 1);
  job.steps = job.options.steps > 0 ? job.options.steps : perPass;
  if (job.steps > job.batches->count() / perStep) {
    note("the data has " + std::to_string(job.batches->count()) + " batches, " +
         std::to_string(job.steps) + " steps of " + std::to_string(perStep) +
         " batches read it more than once");
  }
  return Status();
}

/// Whether both paths lead to one file, be it there or not yet.
bool isSameFile(const std::string &a, const std::string &b) {
  std::error_code ignored;
  return std::filesystem::equivalent(a, b, ignored) ||
         std::filesystem::weakly_canonical(a, ignored) ==
             std::filesystem::weakly_canonical(b, ignored);
}

/// A run overwrites none of its own files. Devices may be given twice.
Status checkDistinctFiles(const RunOptions &options) {
  using File = std::pair<std::string_view, std::string>;
  std::vector<File> files = {{"the plan", options.plan},
                             {"--data", options.data},
                             {"--check-against", options.checkAgainst}};
  for (const std::string &path : options.weights) {
    files.emplace_back("--weights", path);
  }
  for (const File &output :
       {File("--metrics", options.metrics), File("--trace", options.trace),
        File("--profile", options.profile), File("--report", options.report),
        File("--dump", options.dump),
        File("--save-weights", options.saveWeights)}) {
    const auto &[option, path] = output;
    std::error_code ignored;
    if (path.empty() || std::filesystem::is_other(path, ignored)) {
      continue;
    }
    for (const auto &[other, otherPath] : files) {
      if (!otherPath.empty() && isSameFile(path, otherPath)) {
        return Status::error(std::string(option) + " would overwrite " +
                             std::string(other) + " (" + otherPath +
                             "); expected another file");
      }
    }
    files.push_back(output);
  }
  return Status();
}

Status checkTrainable(const Plan &plan) {
  for (const Result &result : plan.results) {
    if (result.role == Role::Loss) {
      return Status();
    }
  }
  return Status::error("the plan has no loss; nothing to train");
}

} // namespace

Expected<Job> sfsdp::runtime::prepareJob(RunOptions options, const Note &note) {
  Job job;
  job.options = std::move(options);
  const RunOptions &asked = job.options;
  if (Status status = checkDistinctFiles(asked); !status.ok()) {
    return status;
  }
  auto plan = readCheckedPlan(asked.plan, asked.unproved, note);
  if (!plan) {
    return plan.status();
  }
  job.plan = std::move(*plan);
  job.planDigest = digestOf(job.plan);
  if (Status status = checkTrainable(job.plan); !status.ok()) {
    return status.within(asked.plan);
  }
  for (const std::string &axis : job.plan.header.dataAxes) {
    job.dataRanks *= job.plan.header.mesh.axisSize(axis);
  }
  if (asked.localRanks > 0 && asked.localRanks != job.rankCount()) {
    return Status::error("-n starts " + std::to_string(asked.localRanks) +
                         " ranks, the plan's mesh has " +
                         std::to_string(job.rankCount()) + " (" + asked.plan +
                         "); compile it for another mesh, or start as many");
  }
  if (Status status = openWeights(job); !status.ok()) {
    return status;
  }
  if (Status status = openBatches(job, note); !status.ok()) {
    return status;
  }
  if (!asked.checkAgainst.empty()) {
    auto reference = readCheckedPlan(asked.checkAgainst, asked.unproved, note);
    if (!reference) {
      return reference.status();
    }
    job.reference = std::move(*reference);
  }
  return job;
}

AgreementRecord sfsdp::runtime::agreementOf(const Job &job,
                                            const std::string &backend) {
  const RunOptions &options = job.options;
  const LearningRate &lr = options.lr;
  auto number = [](double value) { return writeJson(Json(value)); };
  constexpr std::string_view kKinds[] = {"constant", "cosine", "linear"};
  std::string schedule(kKinds[static_cast<size_t>(lr.kind)]);
  schedule += ", warmup " + std::to_string(lr.warmup) + ", steps " +
              std::to_string(lr.steps) + ", min " + number(lr.least);
  return {
      {"plan", job.planDigest},
      {"torch", torchVersion()},
      {"backend", backend},
      {"device", job.plan.header.device},
      {"threads", std::to_string(options.threads)},
      {"cpu capability", cpuCapability()},
      {"steps", std::to_string(job.steps)},
      {"lr", number(lr.base)},
      {"lr schedule", schedule},
      {"seed", std::to_string(options.seed)},
      {"initial values", std::to_string(static_cast<int>(options.init.kind)) +
                             ", " + number(options.init.standardDeviation)},
      {"data", job.batches ? job.batches->fingerprint() : "none"},
      {"outputs", std::string(options.dump.empty() ? "" : "dump ") +
                      (options.saveWeights.empty() ? "" : "weights ") +
                      (options.trace.empty() ? "" : "trace ") +
                      (options.report.empty() ? "" : "report")},
  };
}
