//===- LayoutCheck.h - Kernels return what the plan says --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan's lifetimes and memory are proved for the layouts that the compiler
// derived. If a kernel of this LibTorch returned a copy where the plan says
// view, or other strides, the proofs would be void: so the first step compares.
//
// Tested by test/unit/runtime/ExecutorTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_LAYOUTCHECK_H
#define SFSDP_RUNTIME_LAYOUTCHECK_H

#include "runtime/Plan.h"

#include <ATen/core/Tensor.h>
#include <unordered_map>

namespace sfsdp::runtime {

/// Follows which memory block holds which storage of the plan.
class LayoutCheck {
public:
  explicit LayoutCheck(const Plan &plan)
      : plan(plan), blocks(plan.storages.size(), nullptr) {}

  /// `tensor` was returned or made for value `id`.
  Status see(ValueId id, const at::Tensor &tensor);

  /// The storage was freed.
  void forget(StorageId storage);

private:
  Status seeBlock(StorageId storage, const at::Tensor &tensor);

  const Plan &plan;
  std::vector<const void *> blocks; ///< by storage; null: none yet
  std::unordered_map<const void *, StorageId> holders;
};

/// The element type of the plan as LibTorch's.
c10::ScalarType scalarTypeOf(DType type);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_LAYOUTCHECK_H
