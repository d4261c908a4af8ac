//===- PlanVerifier.cpp - A plan is safe to execute -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls the checks in order of dependence, and compares proofs with the plan.
//
// Tested by test/unit/runtime/PlanVerifierTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/PlanVerifier.h"
#include "runtime/PlanChecks.h"

#include <algorithm>

using namespace sfsdp::runtime;

std::vector<size_t> sfsdp::runtime::writtenArguments(const KernelCall &kernel) {
  if (kernel.name == "sfsdp::adamw" || kernel.name == "sfsdp::adam") {
    return {0, 2, 3};
  }
  if (kernel.name == "sfsdp::sgd") {
    return {0, 2};
  }
  if (kernel.name == "sfsdp::accumulate") {
    return {0};
  }
  bool inPlace = kernel.name.ends_with('_') && !kernel.name.ends_with("__");
  return inPlace ? std::vector<size_t>{0} : std::vector<size_t>{};
}

namespace {

/// Each storage is used by one program, and the step's peak is the predicted.
Status checkMemory(const Plan &plan,
                   const std::vector<ProgramMemory> &programs) {
  int64_t kept = 0;
  for (const ProgramMemory &program : programs) {
    kept += program.keptBytes;
  }
  int64_t peak = 0;
  for (const ProgramMemory &program : programs) {
    peak = std::max(peak, program.peakBytes + kept - program.keptBytes);
  }
  for (size_t id = 0; id < plan.storages.size(); ++id) {
    auto users = std::count_if(
        programs.begin(), programs.end(),
        [&](const ProgramMemory &program) { return program.uses[id]; });
    if (plan.storages[id].region != Region::Argument && users != 1) {
      return Status::error("storage " + std::to_string(id) +
                           (users == 0
                                ? " is used by no instruction"
                                : " is used by two programs, expected one"));
    }
  }
  if (peak != plan.predictedPeakBytes) {
    return Status::error("the plan predicts a peak of " +
                         std::to_string(plan.predictedPeakBytes) +
                         " bytes, its instructions make " +
                         std::to_string(peak));
  }
  return Status();
}

} // namespace

Status sfsdp::runtime::checkPlan(const Plan &plan) {
  if (Status status = checkTables(plan); !status.ok()) {
    return status;
  }
  size_t expected = plan.header.microBatches > 1 ? 2 : 1;
  if (plan.programs.size() != expected) {
    return Status::error(
        "the plan has " + std::to_string(plan.programs.size()) +
        " programs, expected " + std::to_string(expected) + " for " +
        std::to_string(plan.header.microBatches) + " micro-batches per step");
  }
  std::vector<ProgramMemory> programs;
  for (size_t number = 0; number < plan.programs.size(); ++number) {
    Expected<ProgramMemory> memory = checkProgram(plan, number);
    if (!memory) {
      return memory.status();
    }
    programs.push_back(std::move(*memory));
  }
  return checkMemory(plan, programs);
}

Status sfsdp::runtime::checkProofs(const Plan &plan) {
  constexpr std::string_view kRequired[] = {"order", "memory"};
  for (std::string_view proof : kRequired) {
    if (!plan.header.proved.contains(std::string(proof))) {
      return Status::error("the plan holds no proof of " + std::string(proof) +
                           "; compile it with sfsdp-verify, or run it with "
                           "--unproved");
    }
  }
  std::string digest = digestOf(plan);
  for (const auto &[proof, provedDigest] : plan.header.proved) {
    if (provedDigest != digest) {
      return Status::error(
          "the proof of " + proof + " was made for a plan with digest " +
          provedDigest.substr(0, 12) + ", this one has " +
          digest.substr(0, 12) +
          ": it was changed after it was verified; compile it again, or run "
          "it with --unproved");
    }
  }
  return Status();
}
