//===- PlanVerifier.h - A plan is safe to execute ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Proves again, from the plan alone, what the compiler proved before it wrote
// it: a plan may have been edited, and the executor trusts it blindly. Standard
// library only, so that compiler and simulator can use it too.
//
//   order        each start has one later wait; nothing is read before it is
//                defined, before its wait, after its free or after it was
//                overwritten; buffers of a collective in flight are untouched
//   lifetimes    each storage that a program allocates is freed once or is a
//                result; an argument is written only where a result says so
//   aliasing     values lie inside their storages; a result is a view of an
//                operand, an in-place update, or begins a storage of its own
//   collectives  element types agree, counts follow the chunk rule, buffers are
//                contiguous, bytes are those the transport will count
//   memory       the recomputed peak is the predicted one
//   shapes       local shapes follow from global ones and placements
//
// Tested by test/unit/runtime/PlanVerifierTest.cpp, one broken plan per rule.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_PLANVERIFIER_H
#define SFSDP_RUNTIME_PLANVERIFIER_H

#include "runtime/Plan.h"

namespace sfsdp::runtime {

/// The most micro-batches that a step may have: batches are counted in 64 bits.
constexpr int64_t kMaxMicroBatches = 1'000'000;

/// Checks all of the above. `plan` must have come from readPlan, or have ids in
/// range. The error names program and instruction: "train_step[12]: …".
Status checkPlan(const Plan &plan);

/// Checks that `plan` holds the proofs that its format version requires
/// ("order" and "memory" in version 1) and that every proof was made for this
/// very plan.
Status checkProofs(const Plan &plan);

/// Positions of the arguments that a kernel writes: from the runtime's own
/// kernels by name, of ATen operators the first one of "add_" and the like.
std::vector<size_t> writtenArguments(const KernelCall &kernel);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_PLANVERIFIER_H
