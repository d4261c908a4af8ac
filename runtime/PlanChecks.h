//===- PlanChecks.h - The parts of the plan verifier ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the verifier of plans.
//
// Tested by test/unit/runtime/PlanVerifierTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_PLANCHECKS_H
#define SFSDP_RUNTIME_PLANCHECKS_H

#include "runtime/Plan.h"

namespace sfsdp::runtime {

/// Mesh, arguments, results, and values inside their storages;
/// PlanTableCheck.cpp.
Status checkTables(const Plan &plan);

/// Element types, counts, contiguity and traffic of one collective, without
/// regard to its place in the program; PlanCollectiveCheck.cpp. The message
/// does not name the instruction.
Status checkCollective(const Plan &plan, const CollectiveStart &start);

/// What a program does to memory.
struct ProgramMemory {
  int64_t peakBytes = 0;  ///< arguments included
  int64_t keptBytes = 0;  ///< of its results, beside arguments
  std::vector<bool> uses; ///< by storage, arguments excluded
};

/// Order, lifetimes and aliasing of Plan::programs[number], and what it does to
/// memory; PlanProgramCheck.cpp.
Expected<ProgramMemory> checkProgram(const Plan &plan, size_t number);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_PLANCHECKS_H
