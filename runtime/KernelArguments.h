//===- KernelArguments.h - What a kernel of ours reads ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/runtime/KernelsTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_KERNELARGUMENTS_H
#define SFSDP_RUNTIME_KERNELARGUMENTS_H

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

namespace sfsdp::runtime {

/// The arguments of a kernel, read in order from the end of the stack.
class Arguments {
public:
  Arguments(torch::jit::Stack &stack, size_t count)
      : stack(stack), begin(stack.size() - count), next(begin) {}

  at::Tensor tensor() { return stack[next++].toTensor(); }
  std::optional<at::Tensor> optionalTensor() {
    return stack[next++].toOptional<at::Tensor>();
  }
  std::vector<at::Tensor> tensors() { return stack[next++].toTensorVector(); }
  int64_t integer() { return stack[next++].toInt(); }
  at::ScalarType elementType() { return stack[next++].toScalarType(); }
  double number() { return stack[next++].toScalar().toDouble(); }
  std::optional<double> optionalNumber() {
    const c10::IValue &value = stack[next++];
    return value.isNone() ? std::nullopt
                          : std::optional(value.toScalar().toDouble());
  }
  bool flag() { return stack[next++].toBool(); }
  std::optional<bool> optionalFlag() {
    return stack[next++].toOptional<bool>();
  }
  at::Generator generator() { return stack[next++].toGenerator(); }

  template <typename... Results>
  void replaceBy(Results &&...results) {
    stack.resize(begin);
    (stack.emplace_back(std::forward<Results>(results)), ...);
  }

private:
  torch::jit::Stack &stack;
  size_t begin;
  size_t next;
};

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_KERNELARGUMENTS_H
