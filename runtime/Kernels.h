//===- Kernels.h - The runtime's own kernels --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that a plan names "sfsdp::…", where one meaning needs several
// operators or another one per device. docs/plan-format.md lists their
// arguments.
//
// Tested by test/unit/runtime/KernelsTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_KERNELS_H
#define SFSDP_RUNTIME_KERNELS_H

#include <ATen/core/stack.h>
#include <string_view>

namespace sfsdp::runtime {

/// Takes its arguments off the stack and leaves its results there, as boxed
/// ATen kernels do.
using OwnKernel = void (*)(torch::jit::Stack &stack);

struct OwnKernelRow {
  std::string_view name;   ///< "sfsdp::adamw"
  std::string_view schema; ///< in ATen's notation
  OwnKernel run;
};

/// The kernel called `name`; null when there is none.
const OwnKernelRow *findOwnKernel(std::string_view name);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_KERNELS_H
