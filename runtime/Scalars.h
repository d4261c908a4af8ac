//===- Scalars.h - Host values of one step ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Learning rates, bias corrections and the like are 64-bit host values,
// computed in the order in which PyTorch's Python computes them: as f32 tensors
// they would change the bits of half of the parameters within a few steps.
//
// Tested by test/unit/runtime/ScalarsTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_SCALARS_H
#define SFSDP_RUNTIME_SCALARS_H

#include "runtime/MeshPosition.h"

namespace sfsdp::runtime {

/// Where training stands when a program runs.
struct StepPoint {
  int64_t step = 1;       ///< from 1
  int64_t microBatch = 0; ///< within the step, from 0
  double lr = 0;
};

/// Writes the value of each scalar of `plan` at `point` to `values`, which
/// keeps its memory. Whole numbers (steps, coordinates, rows) are exact below
/// 2^53.
void evaluateScalars(const Plan &plan, const MeshPosition &position,
                     const StepPoint &point, std::vector<double> &values);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_SCALARS_H
