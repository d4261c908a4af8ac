//===- Kernels.cpp - The runtime's own kernels ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Optimizers do what torch.optim does with foreach=False, fused=False (read in
// torch 2.15, optim/adam.py and optim/sgd.py), call by call, so that an element
// gets the same bits in a shard as in the whole tensor and in PyTorch.
//
// Tested by test/unit/runtime/KernelsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Kernels.h"

#include "runtime/Chunk.h"

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

using namespace sfsdp::runtime;
using torch::jit::Stack;

namespace {

/// The arguments of a kernel, read in order from the end of the stack.
class Arguments {
public:
  Arguments(Stack &stack, size_t count)
      : stack(stack), begin(stack.size() - count), next(begin) {}

  at::Tensor tensor() { return stack[next++].toTensor(); }
  std::optional<at::Tensor> optionalTensor() {
    return stack[next++].toOptional<at::Tensor>();
  }
  double number() { return stack[next++].toScalar().toDouble(); }
  std::optional<double> optionalNumber() {
    return stack[next++].toOptional<double>();
  }
  int64_t integer() { return stack[next++].toInt(); }
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
  Stack &stack;
  size_t begin;
  size_t next;
};

void adamw(Stack &stack) {
  Arguments arguments(stack, 10);
  at::Tensor param = arguments.tensor();
  at::Tensor grad = arguments.tensor();
  at::Tensor expAvg = arguments.tensor();
  at::Tensor expAvgSq = arguments.tensor();
  double decay = arguments.number();
  double beta1 = arguments.number();
  double beta2 = arguments.number();
  double negStepSize = arguments.number();
  double bias2Sqrt = arguments.number();
  double eps = arguments.number();
  if (decay != 1) {
    param.mul_(decay);
  }
  expAvg.lerp_(grad, 1 - beta1);
  expAvgSq.mul_(beta2).addcmul_(grad, grad, 1 - beta2);
  at::Tensor denominator = expAvgSq.sqrt().div_(bias2Sqrt).add_(eps);
  param.addcdiv_(expAvg, denominator, negStepSize);
  arguments.replaceBy(std::move(param), std::move(expAvg), std::move(expAvgSq));
}

void sgd(Stack &stack) {
  Arguments arguments(stack, 9);
  at::Tensor param = arguments.tensor();
  at::Tensor grad = arguments.tensor();
  std::optional<at::Tensor> buffer = arguments.optionalTensor();
  double weightDecay = arguments.number();
  double momentum = arguments.number();
  double dampening = arguments.number();
  bool nesterov = arguments.flag();
  double negLr = arguments.number();
  double step = arguments.number();
  if (weightDecay != 0) {
    grad = grad.add(param, weightDecay);
  }
  if (momentum != 0 && buffer) {
    if (step == 1) {
      buffer->copy_(grad);
    } else {
      buffer->mul_(momentum).add_(grad, 1 - dampening);
    }
    grad = nesterov ? grad.add(*buffer, momentum) : *buffer;
  }
  param.add_(grad, negLr);
  c10::IValue state = buffer ? c10::IValue(*buffer) : c10::IValue();
  arguments.replaceBy(std::move(param), std::move(state));
}

void attention(Stack &stack) {
  Arguments arguments(stack, 7);
  at::Tensor query = arguments.tensor();
  at::Tensor key = arguments.tensor();
  at::Tensor value = arguments.tensor();
  std::optional<at::Tensor> mask = arguments.optionalTensor();
  double dropout = arguments.number();
  bool isCausal = arguments.flag();
  std::optional<double> scale = arguments.optionalNumber();
  auto [out, logsumexp] = at::_scaled_dot_product_flash_attention_for_cpu(
      query, key, value, dropout, isCausal, mask, scale);
  arguments.replaceBy(std::move(out), std::move(logsumexp));
}

void attentionBackward(Stack &stack) {
  Arguments arguments(stack, 10);
  at::Tensor gradOut = arguments.tensor();
  at::Tensor query = arguments.tensor();
  at::Tensor key = arguments.tensor();
  at::Tensor value = arguments.tensor();
  at::Tensor out = arguments.tensor();
  at::Tensor logsumexp = arguments.tensor();
  std::optional<at::Tensor> mask = arguments.optionalTensor();
  double dropout = arguments.number();
  bool isCausal = arguments.flag();
  std::optional<double> scale = arguments.optionalNumber();
  auto [gradQuery, gradKey, gradValue] =
      at::_scaled_dot_product_flash_attention_for_cpu_backward(
          gradOut, query, key, value, out, logsumexp, dropout, isCausal, mask,
          scale);
  arguments.replaceBy(std::move(gradQuery), std::move(gradKey),
                      std::move(gradValue));
}

/// ATen's native_dropout, which draws from the generator of the process, with
/// a generator of its own. Bit-equal to it for the same state.
void dropout(Stack &stack) {
  Arguments arguments(stack, 4);
  at::Tensor input = arguments.tensor();
  double probability = arguments.number();
  bool isTraining = arguments.optionalFlag().value_or(true);
  at::Generator generator = arguments.generator();
  at::Tensor mask = at::empty_like(input, at::kBool);
  if (!isTraining) {
    arguments.replaceBy(input.clone(), mask.fill_(true));
    return;
  }
  double kept = 1. - probability;
  mask.bernoulli_(kept, generator);
  at::Tensor output = input.mul(mask).mul_(kept == 0 ? 0. : 1. / kept);
  arguments.replaceBy(std::move(output), std::move(mask));
}

void accumulate(Stack &stack) {
  Arguments arguments(stack, 3);
  at::Tensor sum = arguments.tensor();
  at::Tensor gradient = arguments.tensor();
  double microBatch = arguments.number();
  if (microBatch == 0) {
    sum.copy_(gradient);
  } else {
    sum.add_(gradient);
  }
  arguments.replaceBy(std::move(sum));
}

/// The rows that the rank at `coordinate` owns, zeros past the last row.
void localChunk(Stack &stack) {
  Arguments arguments(stack, 3);
  at::Tensor full = arguments.tensor();
  auto coordinate = static_cast<int64_t>(arguments.number());
  int64_t ranks = arguments.integer();
  RowRange owned = ownedRows(full.size(0), ranks, coordinate);
  std::vector<int64_t> sizes = full.sizes().vec();
  sizes[0] = chunkRows(full.size(0), ranks);
  at::Tensor chunk = at::empty(sizes, full.options());
  chunk.narrow(0, 0, owned.size())
      .copy_(full.narrow(0, owned.begin, owned.size()));
  chunk.narrow(0, owned.size(), sizes[0] - owned.size()).zero_();
  arguments.replaceBy(std::move(chunk));
}

constexpr OwnKernelRow kOwnKernels[] = {
    {"aten::native_dropout",
     "aten::native_dropout(Tensor input, float p, bool? train, "
     "Generator generator) -> (Tensor, Tensor)",
     dropout},
    {"sfsdp::accumulate",
     "sfsdp::accumulate(Tensor(a!) sum, Tensor grad, Scalar micro_batch) -> "
     "Tensor(a!)",
     accumulate},
    {"sfsdp::adamw",
     "sfsdp::adamw(Tensor(a!) param, Tensor grad, Tensor(b!) exp_avg, "
     "Tensor(c!) exp_avg_sq, Scalar decay, float beta1, float beta2, "
     "Scalar neg_step_size, Scalar bias2_sqrt, float eps) -> "
     "(Tensor(a!), Tensor(b!), Tensor(c!))",
     adamw},
    {"sfsdp::sgd",
     "sfsdp::sgd(Tensor(a!) param, Tensor grad, Tensor(b!)? momentum_buffer, "
     "float weight_decay, float momentum, float dampening, bool nesterov, "
     "Scalar neg_lr, Scalar step) -> (Tensor(a!), Tensor(b!)?)",
     sgd},
    {"sfsdp::local_chunk",
     "sfsdp::local_chunk(Tensor full, Scalar coordinate, int ranks) -> Tensor",
     localChunk},
    {"sfsdp::attention",
     "sfsdp::attention(Tensor query, Tensor key, Tensor value, Tensor? mask, "
     "float dropout_p, bool is_causal, float? scale=None) -> (Tensor, Tensor)",
     attention},
    {"sfsdp::attention_backward",
     "sfsdp::attention_backward(Tensor grad_out, Tensor query, Tensor key, "
     "Tensor value, Tensor out, Tensor logsumexp, Tensor? mask, "
     "float dropout_p, bool is_causal, float? scale=None) -> "
     "(Tensor, Tensor, Tensor)",
     attentionBackward},
};

} // namespace

const OwnKernelRow *sfsdp::runtime::findOwnKernel(std::string_view name) {
  for (const OwnKernelRow &row : kOwnKernels) {
    if (row.name == name) {
      return &row;
    }
  }
  return nullptr;
}
