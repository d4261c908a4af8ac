//===- GradientNorm.h - What a step says of its gradients -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the results that sfsdp-clip-gradients adds. They are the same on every
// rank of a shard group.
//
// Tested by test/unit/runtime/GradientNormTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_GRADIENTNORM_H
#define SFSDP_RUNTIME_GRADIENTNORM_H

#include "runtime/Executor.h"

namespace sfsdp::runtime {

struct GradientNorm {
  double value = 0;    ///< of all gradients, before clipping
  bool applied = true; ///< false: the step left its updates out
  /// If the norm is not finite, where that begins: "'layers.0.wq.weight' on
  /// rank 1", the first parameter in the order of the plan. Empty if it is
  /// finite, and where finite gradients have a norm beyond the type's range.
  std::string origin;
};

/// After a step of `executor`; absent when `plan` forms no norm.
std::optional<GradientNorm> gradientNormOf(const Plan &plan,
                                           const MeshPosition &position,
                                           Executor &executor);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_GRADIENTNORM_H
