//===- Profile.h - What each kernel took ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Time and workspace of the kernels of the last program, one row per call, to
// compare with the plan's cost facts.
//
// Tested by test/e2e/views.py.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_PROFILE_H
#define SFSDP_RUNTIME_PROFILE_H

#include "runtime/Executor.h"

namespace sfsdp::runtime {

class KernelProfile {
public:
  /// Takes the times of one step: the shortest and the largest workspace of
  /// each instruction count. Empty `times` change nothing.
  void add(const std::vector<InstructionTime> &times);

  /// JSON: a row per kernel call with `call`, `overload`, `tensors` (type and
  /// sizes of its operands), `ns`, `workspace_bytes` as counted and
  /// `predicted_workspace_bytes` as the plan says.
  std::string write(const Plan &plan) const;

private:
  struct Row {
    int64_t ns = 0;
    int64_t workspaceBytes = 0;
  };
  std::vector<Row> rows; ///< by instruction
};

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_PROFILE_H
