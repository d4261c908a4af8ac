//===- OptimizerKernels.cpp - Updates of parameters -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Optimizers do what torch.optim does with foreach=False, fused=False (read in
// torch 2.15, optim/adam.py and optim/sgd.py), call by call, so that an element
// gets the same bits in a shard as in the whole tensor and in PyTorch.
//
// Tested by test/unit/runtime/OptimizerKernelsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/KernelArguments.h"
#include "runtime/KernelFamilies.h"

using namespace sfsdp::runtime;
using torch::jit::Stack;

namespace {

/// Whether the guard, if there is one, forbids the update.
bool isForbidden(const std::optional<at::Tensor> &guard) {
  return guard && !guard->item<bool>();
}

/// Adam and AdamW differ in what weight decay does, by the number that depends
/// on it, before the moments move.
using Decay = void (*)(at::Tensor &param, at::Tensor &grad, double number);

void updateByMoments(Stack &stack, Decay decay) {
  Arguments arguments(stack, 11);
  at::Tensor param = arguments.tensor();
  at::Tensor grad = arguments.tensor();
  at::Tensor expAvg = arguments.tensor();
  at::Tensor expAvgSq = arguments.tensor();
  double decayNumber = arguments.number();
  double beta1 = arguments.number();
  double beta2 = arguments.number();
  double negStepSize = arguments.number();
  double bias2Sqrt = arguments.number();
  double eps = arguments.number();
  if (!isForbidden(arguments.optionalTensor())) {
    decay(param, grad, decayNumber);
    expAvg.lerp_(grad, 1 - beta1);
    expAvgSq.mul_(beta2).addcmul_(grad, grad, 1 - beta2);
    at::Tensor denominator = expAvgSq.sqrt().div_(bias2Sqrt).add_(eps);
    param.addcdiv_(expAvg, denominator, negStepSize);
  }
  arguments.replaceBy(std::move(param), std::move(expAvg), std::move(expAvgSq));
}

void adamw(Stack &stack) {
  updateByMoments(stack, [](at::Tensor &param, at::Tensor &, double factor) {
    if (factor != 1) {
      param.mul_(factor);
    }
  });
}

void adam(Stack &stack) {
  updateByMoments(stack, [](at::Tensor &param, at::Tensor &grad, double rate) {
    if (rate != 0) {
      grad = grad.add(param, rate);
    }
  });
}

struct SgdNumbers {
  double weightDecay = 0;
  double momentum = 0;
  double dampening = 0;
  bool nesterov = false;
  double negLr = 0;
  double step = 0;
};

void updateBySgd(at::Tensor &param, at::Tensor grad,
                 std::optional<at::Tensor> &buffer, const SgdNumbers &numbers) {
  if (numbers.weightDecay != 0) {
    grad = grad.add(param, numbers.weightDecay);
  }
  if (numbers.momentum != 0 && buffer) {
    if (numbers.step == 1) {
      buffer->copy_(grad);
    } else {
      buffer->mul_(numbers.momentum).add_(grad, 1 - numbers.dampening);
    }
    grad = numbers.nesterov ? grad.add(*buffer, numbers.momentum) : *buffer;
  }
  param.add_(grad, numbers.negLr);
}

void sgd(Stack &stack) {
  Arguments arguments(stack, 10);
  at::Tensor param = arguments.tensor();
  at::Tensor grad = arguments.tensor();
  std::optional<at::Tensor> buffer = arguments.optionalTensor();
  SgdNumbers numbers;
  numbers.weightDecay = arguments.number();
  numbers.momentum = arguments.number();
  numbers.dampening = arguments.number();
  numbers.nesterov = arguments.flag();
  numbers.negLr = arguments.number();
  numbers.step = arguments.number();
  if (!isForbidden(arguments.optionalTensor())) {
    updateBySgd(param, grad, buffer, numbers);
  }
  c10::IValue state = buffer ? c10::IValue(*buffer) : c10::IValue();
  arguments.replaceBy(std::move(param), std::move(state));
}

constexpr OwnKernelRow kOptimizerKernels[] = {
    {"sfsdp::adamw",
     "sfsdp::adamw(Tensor(a!) param, Tensor grad, Tensor(b!) exp_avg, "
     "Tensor(c!) exp_avg_sq, Scalar decay, float beta1, float beta2, "
     "Scalar neg_step_size, Scalar bias2_sqrt, float eps, "
     "Tensor? guard=None) -> (Tensor(a!), Tensor(b!), Tensor(c!))",
     adamw},
    {"sfsdp::adam",
     "sfsdp::adam(Tensor(a!) param, Tensor grad, Tensor(b!) exp_avg, "
     "Tensor(c!) exp_avg_sq, float weight_decay, float beta1, float beta2, "
     "Scalar neg_step_size, Scalar bias2_sqrt, float eps, "
     "Tensor? guard=None) -> (Tensor(a!), Tensor(b!), Tensor(c!))",
     adam},
    {"sfsdp::sgd",
     "sfsdp::sgd(Tensor(a!) param, Tensor grad, Tensor(b!)? momentum_buffer, "
     "float weight_decay, float momentum, float dampening, bool nesterov, "
     "Scalar neg_lr, Scalar step, Tensor? guard=None) -> "
     "(Tensor(a!), Tensor(b!)?)",
     sgd},
};

} // namespace

std::span<const OwnKernelRow> sfsdp::runtime::optimizerKernels() {
  return kOptimizerKernels;
}
