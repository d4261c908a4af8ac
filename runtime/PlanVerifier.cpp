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

using namespace sfsdp::runtime;

std::vector<size_t> sfsdp::runtime::writtenArguments(const KernelCall &kernel) {
  if (kernel.name == "sfsdp::adamw") {
    return {0, 2, 3};
  }
  if (kernel.name == "sfsdp::sgd") {
    return {0, 2};
  }
  bool inPlace = kernel.name.ends_with('_') && !kernel.name.ends_with("__");
  return inPlace ? std::vector<size_t>{0} : std::vector<size_t>{};
}

Status sfsdp::runtime::checkPlan(const Plan &plan) {
  if (Status status = checkTables(plan); !status.ok()) {
    return status;
  }
  if (plan.programs.size() != 1) {
    return Status::error("the plan has " +
                         std::to_string(plan.programs.size()) +
                         " programs, expected one: several micro-batches per "
                         "step cannot be executed yet");
  }
  return checkProgram(plan, plan.programs.front());
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
