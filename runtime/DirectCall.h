//===- DirectCall.h - Operators called without a stack ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dispatcher's general way to call an operator packs arguments into a stack
// and unpacks them again, some 50 ns more than a C++ call. For the signatures
// that most operators of a training step have, this is that C++ call.
//
// Tested by test/unit/runtime/ExecutorTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_DIRECTCALL_H
#define SFSDP_RUNTIME_DIRECTCALL_H

#include "runtime/Plan.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <variant>
#include <vector>

namespace sfsdp::runtime {

class DirectCall {
public:
  /// What to call, when the signature is a common one; `tensors` are the
  /// operands in order, and `arguments` holds every other argument.
  static std::optional<DirectCall>
  make(const c10::OperatorHandle &handle, const std::vector<ValueId> &tensors,
       const std::vector<c10::IValue> &arguments);

  /// Throws c10::Error.
  at::Tensor run(const std::vector<at::Tensor> &values) const {
    const at::Tensor &first = values[operands[0]];
    switch (target.index()) {
    case 0:
      return std::get<0>(target).call(first);
    case 1:
      return std::get<1>(target).call(first, values[operands[1]]);
    case 2:
      return std::get<2>(target).call(first, values[operands[1]], scalar);
    case 3:
      return std::get<3>(target).call(first, scalar);
    case 4:
      return std::get<4>(target).call(first, sizes);
    default:
      return std::get<5>(target).call(first, dims[0], dims[1]);
    }
  }

private:
  template <typename Signature>
  using Typed = c10::TypedOperatorHandle<Signature>;
  using Target =
      std::variant<Typed<at::Tensor(const at::Tensor &)>,
                   Typed<at::Tensor(const at::Tensor &, const at::Tensor &)>,
                   Typed<at::Tensor(const at::Tensor &, const at::Tensor &,
                                    const at::Scalar &)>,
                   Typed<at::Tensor(const at::Tensor &, const at::Scalar &)>,
                   Typed<at::Tensor(const at::Tensor &, c10::SymIntArrayRef)>,
                   Typed<at::Tensor(const at::Tensor &, int64_t, int64_t)>>;

  explicit DirectCall(Target target) : target(std::move(target)) {}

  Target target;
  ValueId operands[2] = {};
  at::Scalar scalar;
  std::vector<c10::SymInt> sizes;
  int64_t dims[2] = {};
};

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_DIRECTCALL_H
