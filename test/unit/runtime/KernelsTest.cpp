//===- KernelsTest.cpp - The runtime's own kernels ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An element gets the same bits wherever it lies in its buffer: in a shard as
// in the whole tensor.

#include "runtime/Kernels.h"
#include "runtime/Executor.h"

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
  Stack stack{state.param, state.grad, state.first, state.second, 1 - 1e-5,
              0.9,         0.999,      -0.00372,    0.0547,       1e-8};
  findOwnKernel("sfsdp::adamw")->run(stack);
  ASSERT_EQ(stack.size(), 3u);
  EXPECT_TRUE(stack[0].toTensor().is_same(state.param));
}

void runSgd(State &state, bool nesterov, double step) {
  Stack stack{state.param, state.grad, state.first, 0.01, 0.9,
              0.1,         nesterov,   -0.0137,     step};
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

TEST(Kernels, AdamwGivesAnElementTheSameBitsEverywhere) {
  for (at::ScalarType type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    expectSameBitsEverywhere(type, runAdamw);
  }
}

TEST(Kernels, SgdGivesAnElementTheSameBitsEverywhere) {
  for (at::ScalarType type : {at::kFloat, at::kDouble}) {
    for (bool nesterov : {false, true}) {
      for (double step : {1.0, 2.0}) {
        expectSameBitsEverywhere(
            type, [&](State &state) { runSgd(state, nesterov, step); });
      }
    }
  }
}

TEST(Kernels, AdamwIsTheSequenceOfTorchOptim) {
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

TEST(Kernels, SgdStartsItsBufferWithTheGradient) {
  State state(at::kFloat), expected(at::kFloat);
  runSgd(state, /*nesterov=*/false, /*step=*/1);
  at::Tensor grad = expected.grad.add(expected.param, 0.01);
  EXPECT_TRUE(at::equal(state.first, grad));
  EXPECT_TRUE(at::equal(state.param, expected.param.add(grad, -0.0137)));
}

TEST(Kernels, SgdWithoutMomentumNeedsNoBuffer) {
  State state(at::kFloat), expected(at::kFloat);
  Stack stack{state.param, state.grad, c10::IValue(), 0.0, 0.0,
              0.0,         false,      -0.5,          1.0};
  findOwnKernel("sfsdp::sgd")->run(stack);
  EXPECT_TRUE(at::equal(state.param, expected.param.add(expected.grad, -0.5)));
}

TEST(Kernels, DropoutIsAtensWithItsOwnGenerator) {
  at::Tensor input = spread(1, at::kFloat);
  at::Generator own = at::detail::createCPUGenerator(5);
  Stack stack{input, 0.3, true, own};
  findOwnKernel("aten::native_dropout")->run(stack);
  at::manual_seed(5);
  auto [output, mask] = at::native_dropout(input, 0.3, true);
  EXPECT_TRUE(at::equal(stack[0].toTensor(), output));
  EXPECT_TRUE(at::equal(stack[1].toTensor(), mask));
}

TEST(Kernels, DropoutOfEvaluationKeepsAll) {
  at::Tensor input = spread(1, at::kFloat);
  Stack stack{input, 0.3, false, at::detail::createCPUGenerator(5)};
  findOwnKernel("aten::native_dropout")->run(stack);
  EXPECT_TRUE(at::equal(stack[0].toTensor(), input));
  EXPECT_TRUE(stack[1].toTensor().all().item<bool>());
}

TEST(Kernels, AccumulateAssignsFirstAndAddsAfter) {
  at::Tensor sum = at::full({3}, NAN);
  for (int64_t microBatch = 0; microBatch < 3; ++microBatch) {
    Stack stack{sum, at::full({3}, 2.0f), double(microBatch)};
    findOwnKernel("sfsdp::accumulate")->run(stack);
    EXPECT_TRUE(stack.at(0).toTensor().is_same(sum));
  }
  EXPECT_TRUE(at::equal(sum, at::full({3}, 6.0f)));
}

// Five rows over four ranks are 2, 2, 1 and none.
TEST(Kernels, LocalChunkFollowsTheChunkRule) {
  at::Tensor full = at::arange(15, at::kFloat).view({5, 3});
  std::vector<int64_t> owned = {2, 2, 1, 0};
  for (int64_t rank = 0; rank < 4; ++rank) {
    Stack stack{full, rank, int64_t(4)};
    findOwnKernel("sfsdp::local_chunk")->run(stack);
    at::Tensor chunk = stack.at(0).toTensor();
    at::Tensor expected = at::zeros({2, 3});
    expected.narrow(0, 0, owned[rank])
        .copy_(full.narrow(0, std::min<int64_t>(2 * rank, 5), owned[rank]));
    EXPECT_TRUE(at::equal(chunk, expected)) << rank;
  }
}

TEST(Kernels, UnknownNamesAreNone) {
  EXPECT_EQ(findOwnKernel("sfsdp::lamb"), nullptr);
}
