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

/// Order, lifetimes, aliasing and memory of a program; PlanProgramCheck.cpp.
Status checkProgram(const Plan &plan, const Program &program);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_PLANCHECKS_H
