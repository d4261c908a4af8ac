//===- DeclaredReduction.h - How a plan says it reduces gradients ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the options in a plan's header promise, without regard to what its
// collectives do: the comparison with a reference must not believe these.
//
// Tested by test/unit/runtime/DeclaredReductionTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_DECLAREDREDUCTION_H
#define SFSDP_RUNTIME_DECLAREDREDUCTION_H

#include "runtime/Plan.h"

namespace sfsdp::runtime {

/// A gradient is the sum over the data ranks in the order `ranks` (indices on
/// the data axes), in blocks of `grouped` of them (0: one block), divided by
/// `divisor`.
struct DeclaredReduction {
  std::vector<int64_t> ranks;
  int64_t grouped = 0;
  double divisor = 1;
};

/// Reads the options mode, reduction and gradient-scale. A plan without options
/// promises the mean in rank order. Fails on a value that it does not know.
Expected<DeclaredReduction> declaredReduction(const PlanHeader &header);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_DECLAREDREDUCTION_H
