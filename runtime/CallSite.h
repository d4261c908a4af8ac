//===- CallSite.h - One kernel call, made ready -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything about a kernel call that does not change from step to step is done
// once: the operator is looked up and its arguments are converted to what the
// dispatcher wants, by the operator's schema. A step copies the template, drops
// the tensors in and calls.
//
// Tested by test/unit/runtime/ExecutorTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_CALLSITE_H
#define SFSDP_RUNTIME_CALLSITE_H

#include "runtime/DirectCall.h"
#include "runtime/Kernels.h"
#include "runtime/Operators.h"
#include "runtime/Plan.h"
#include "runtime/RandomSeed.h"

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <vector>

namespace sfsdp::runtime {

class CallSite {
public:
  /// Prepares `kernel`. Errors name argument and operator, not the instruction.
  static Expected<CallSite> make(const KernelCall &kernel,
                                 const OperatorList &operators);

  /// Seeds the generator of a random operator for this step; `use` needs no
  /// operator id. Does nothing to others.
  void seedGenerator(RandomUse use) const;

  /// Writes this step's host scalars into the template.
  void setScalars(const std::vector<double> &values);

  /// Calls the kernel on `values` (by ValueId) and stores its results there.
  /// `stack` is scratch memory. Throws c10::Error.
  void run(std::vector<at::Tensor> &values, torch::jit::Stack &stack) const {
    if (direct) {
      values[results[0]] = direct->run(values);
      return;
    }
    stack.assign(arguments.begin(), arguments.end());
    for (const TensorSlot &slot : tensors) {
      stack[slot.position] = values[slot.value];
    }
    for (const ListSlot &slot : lists) {
      stack[slot.position] = slot.make(values);
    }
    if (own) {
      own(stack);
    } else {
      handle->callBoxed(stack);
    }
    storeResults(values, stack);
  }

private:
  struct TensorSlot {
    size_t position;
    ValueId value;
  };
  struct ListSlot {
    size_t position;
    std::vector<std::optional<ValueId>> ids;
    bool optionalElements;

    c10::IValue make(const std::vector<at::Tensor> &values) const;
  };
  struct ScalarSlot {
    size_t position;
    ScalarId scalar;
    bool isInteger;
  };

  Status resolve(const KernelCall &kernel, const OperatorList &operators);
  void findDirectCall();
  Status bindArguments(const KernelCall &kernel,
                       const c10::FunctionSchema &schema);
  Status bind(const KernelArgument &argument, const c10::Argument &formal,
              size_t position);
  void bindGenerator(int64_t randomId, size_t position);
  Status bindConstant(const KernelArgument &argument,
                      const c10::Argument &formal, size_t position);
  void storeResults(std::vector<at::Tensor> &values,
                    torch::jit::Stack &stack) const {
    if (results.size() != stack.size()) {
      storeListResults(values, stack);
      return;
    }
    for (size_t index = 0; index < results.size(); ++index) {
      if (results[index] >= 0) {
        values[results[index]] = std::move(stack[index]).toTensor();
      }
    }
  }
  /// Results of an operator that returns one list of tensors.
  void storeListResults(std::vector<at::Tensor> &values,
                        torch::jit::Stack &stack) const;

  std::vector<c10::IValue> arguments;
  std::vector<TensorSlot> tensors;
  std::vector<ListSlot> lists;
  std::vector<ScalarSlot> scalars;
  std::optional<int64_t> randomId;
  std::optional<at::Generator> generator; ///< of a random operator
  std::vector<ValueId> results;           ///< -1: not stored
  std::optional<c10::OperatorHandle> handle;
  std::optional<DirectCall> direct; ///< instead of the handle
  OwnKernel own = nullptr;
};

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_CALLSITE_H
