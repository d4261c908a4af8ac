//===- OptimizerKernelsTest.cpp - Updates of parameters -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An element gets the same bits wherever it lies in its buffer: in a shard as
// in the whole tensor.

#include "runtime/Executor.h"
#include "runtime/Kernels.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using torch::jit::Stack;

namespace {

constexpr int64_t kLength = 5003;

/// Values over many magnitudes.
at::Tensor spread(uint64_t seed, at::ScalarType type) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  at::Tensor normal = at::randn({kLength}, generator, at::kFloat);
  at::Tensor scale = at::randn({kLength}, generator, at::kFloat);
  return (normal * at::exp(scale * 3)).to(type);
}

struct State {
  at::Tensor param, grad, first, second;

  explicit State(at::ScalarType type)
      : param(spread(1, type)), grad(spread(2, type)), first(spread(3, type)),
        second(spread(4, type).abs()) {}

  /// Elements [begin, begin + length), in buffers of their own.
  State slice(int64_t begin, int64_t length) const {
    State part = *this;
    for (at::Tensor *each :
         {&part.param, &part.grad, &part.first, &part.second}) {
      *each = each->narrow(0, begin, length).clone();
    }
    return part;
  }

  void expectEqual(const State &other) const {
    EXPECT_TRUE(at::equal(param, other.param));
    EXPECT_TRUE(at::equal(first, other.first));
    EXPECT_TRUE(at::equal(second, other.second));
  }
};

void runAdamw(State &state) {
  Stack stack{state.param, state.grad, state.first,  state.second,
              1 - 1e-5,    0.9,        0.999,        -0.00372,
              0.0547,      1e-8,       c10::IValue()};
  findOwnKernel("sfsdp::adamw")->run(stack);
  ASSERT_EQ(stack.size(), 3u);
  EXPECT_TRUE(stack[0].toTensor().is_same(state.param));
}

void runAdam(State &state, double weightDecay) {
  Stack stack{state.param, state.grad, state.first,  state.second,
              weightDecay, 0.9,        0.999,        -0.00372,
              0.0547,      1e-8,       c10::IValue()};
  findOwnKernel("sfsdp::adam")->run(stack);
  ASSERT_EQ(stack.size(), 3u);
  EXPECT_TRUE(stack[0].toTensor().is_same(state.param));
}

void runSgd(State &state, bool nesterov, double step) {
  Stack stack{state.param, state.grad, state.first, 0.01, 0.9,
              0.1,         nesterov,   -0.0137,     step, c10::IValue()};
  findOwnKernel("sfsdp::sgd")->run(stack);
  ASSERT_EQ(stack.size(), 2u);
}

template <typename Run>
void expectSameBitsEverywhere(at::ScalarType type, Run run) {
  prepareLane(1);
  State before(type);
  State whole = before.slice(0, kLength);
  run(whole);
  for (int64_t begin : {0, 1, 3, 8, 17}) {
    for (int64_t length : {1, 2, 7, 8, 15, 16, 17, 31, 33, 65, 100, 4097}) {
      State part = before.slice(begin, length);
      run(part);
      part.expectEqual(whole.slice(begin, length));
    }
  }
}

} // namespace

TEST(OptimizerKernels, AdamwGivesAnElementTheSameBitsEverywhere) {
  for (at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    expectSameBitsEverywhere(type, runAdamw);
  }
}

TEST(OptimizerKernels, AdamGivesAnElementTheSameBitsEverywhere) {
  auto runWith = [](double weightDecay) {
    return [=](State &state) { runAdam(state, weightDecay); };
  };
  for (at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    expectSameBitsEverywhere(type, runWith(0));
  }
  // In bf16 ATen's add with a factor rounds once or twice, by position.
  for (at::ScalarType type : {at::kFloat, at::kDouble}) {
    expectSameBitsEverywhere(type, runWith(0.01));
  }
}

TEST(OptimizerKernels, SgdGivesAnElementTheSameBitsEverywhere) {
  for (at::ScalarType type : {at::kFloat, at::kDouble}) {
    for (bool nesterov : {false, true}) {
      for (double step : {1.0, 2.0}) {
        expectSameBitsEverywhere(
            type, [&](State &state) { runSgd(state, nesterov, step); });
      }
    }
  }
}

TEST(OptimizerKernels, AdamwIsTheSequenceOfTorchOptim) {
  State state(at::kFloat), expected(at::kFloat);
  runAdamw(state);
  // torch/optim/adam.py, _single_tensor_adam
  expected.param.mul_(1 - 1e-5);
  expected.first.lerp_(expected.grad, 1 - 0.9);
  expected.second.mul_(0.999).addcmul_(expected.grad, expected.grad, 1 - 0.999);
  at::Tensor denominator = (expected.second.sqrt() / 0.0547).add_(1e-8);
  expected.param.addcdiv_(expected.first, denominator, -0.00372);
  state.expectEqual(expected);
}

TEST(OptimizerKernels, AdamIsTheSequenceOfTorchOptim) {
  State state(at::kFloat), expected(at::kFloat);
  runAdam(state, 0.01);
  // torch/optim/adam.py, _single_tensor_adam
  at::Tensor grad = expected.grad.add(expected.param, 0.01);
  expected.first.lerp_(grad, 1 - 0.9);
  expected.second.mul_(0.999).addcmul_(grad, grad, 1 - 0.999);
  at::Tensor denominator = (expected.second.sqrt() / 0.0547).add_(1e-8);
  expected.param.addcdiv_(expected.first, denominator, -0.00372);
  state.expectEqual(expected);
  EXPECT_TRUE(at::equal(state.grad, expected.grad)); // not added to in place
}

TEST(OptimizerKernels, AFalseGuardLeavesEveryBit) {
  const std::vector<std::pair<std::string, std::vector<c10::IValue>>> kCalls = {
      {"sfsdp::adamw", {0.5, 0.9, 0.999, -0.1, 0.05, 1e-8}},
      {"sfsdp::adam", {0.5, 0.9, 0.999, -0.1, 0.05, 1e-8}},
      {"sfsdp::sgd", {0.5, 0.9, 0.0, true, -0.1, 1.0}}};
  for (const auto &[name, numbers] : kCalls) {
    for (bool guard : {false, true}) {
      State state(at::kFloat), before(at::kFloat);
      state.grad.fill_(std::numeric_limits<float>::quiet_NaN());
      Stack stack{state.param, state.grad, state.first};
      bool hasSecond = name != "sfsdp::sgd";
      if (hasSecond) {
        stack.emplace_back(state.second);
      }
      stack.insert(stack.end(), numbers.begin(), numbers.end());
      stack.emplace_back(at::scalar_tensor(guard, at::kBool));
      findOwnKernel(name)->run(stack);
      ASSERT_EQ(stack.size(), hasSecond ? 3u : 2u) << name;
      EXPECT_TRUE(stack[0].toTensor().is_same(state.param)) << name;
      EXPECT_TRUE(stack[1].toTensor().is_same(state.first)) << name;
      bool isSame = at::equal(state.param, before.param) &&
                    at::equal(state.first, before.first) &&
                    at::equal(state.second, before.second);
      EXPECT_NE(isSame, guard) << name;
    }
  }
}

TEST(OptimizerKernels, SgdStartsItsBufferWithTheGradient) {
  State state(at::kFloat), expected(at::kFloat);
  runSgd(state, /*nesterov=*/false, /*step=*/1);
  at::Tensor grad = expected.grad.add(expected.param, 0.01);
  EXPECT_TRUE(at::equal(state.first, grad));
  EXPECT_TRUE(at::equal(state.param, expected.param.add(grad, -0.0137)));
}

TEST(OptimizerKernels, SgdWithoutMomentumNeedsNoBuffer) {
  State state(at::kFloat), expected(at::kFloat);
  Stack stack{state.param, state.grad, c10::IValue(), 0.0, 0.0,
              0.0,         false,      -0.5,          1.0, c10::IValue()};
  findOwnKernel("sfsdp::sgd")->run(stack);
  EXPECT_TRUE(at::equal(state.param, expected.param.add(expected.grad, -0.5)));
}
