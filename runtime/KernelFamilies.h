//===- KernelFamilies.h - The runtime's kernels by family -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/runtime/KernelsTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_KERNELFAMILIES_H
#define SFSDP_RUNTIME_KERNELFAMILIES_H

#include "runtime/Kernels.h"

#include <span>

namespace sfsdp::runtime {

/// Updates of parameters.
std::span<const OwnKernelRow> optimizerKernels();

/// Norms of gradients, and what clipping makes of them.
std::span<const OwnKernelRow> normKernels();

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_KERNELFAMILIES_H
