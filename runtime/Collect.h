//===- Collect.h - What rank 0 gets from all ranks --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collective calls outside of the program: every rank makes them in the same
// order.
//
// Tested by test/unit/runtime/CollectTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_COLLECT_H
#define SFSDP_RUNTIME_COLLECT_H

#include "runtime/Box.h"
#include "runtime/Executor.h"

namespace sfsdp::runtime {

/// The elements of `view`, row-major.
std::vector<std::byte> rowMajorBytes(const TensorView &view);

/// The whole tensor of which every rank holds the padded part `part`: true
/// rows, row-major. Every rank receives it. `group` has all ranks in the order
/// of mesh positions.
Expected<std::vector<std::byte>>
collectWhole(const std::vector<int64_t> &globalShape,
             const std::vector<AxisShard> &placement, const Mesh &mesh,
             const TensorView &part, ProcessGroup &group);

/// The texts of all ranks of `group`, by rank.
Expected<std::vector<std::string>> collectTexts(const std::string &text,
                                                ProcessGroup &group);

/// The mean of `values`, added in order; computed in f64 for f64, else in f32.
double meanOf(const std::vector<double> &values, DType dtype);

/// The mean of `value` over `group`, added in rank order; computed in f64 for
/// f64, else in f32.
Expected<double> meanOverRanks(double value, DType dtype, ProcessGroup &group);

/// The value of a 0-dim floating-point tensor.
double numberIn(const TensorView &scalar);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_COLLECT_H
