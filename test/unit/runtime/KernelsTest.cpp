//===- KernelsTest.cpp - The runtime's own kernels ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that stand for an operator of ATen give its bits.

#include "runtime/Kernels.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using torch::jit::Stack;

namespace {

at::Tensor numbers() {
  return at::randn({5003}, at::detail::createCPUGenerator(1), at::kFloat);
}

} // namespace

TEST(Kernels, DropoutIsAtensWithItsOwnGenerator) {
  at::Tensor input = numbers();
  at::Generator own = at::detail::createCPUGenerator(5);
  Stack stack{input, 0.3, true, own};
  findOwnKernel("aten::native_dropout")->run(stack);
  at::manual_seed(5);
  auto [output, mask] = at::native_dropout(input, 0.3, true);
  EXPECT_TRUE(at::equal(stack[0].toTensor(), output));
  EXPECT_TRUE(at::equal(stack[1].toTensor(), mask));
}

TEST(Kernels, DropoutOfEvaluationKeepsAll) {
  at::Tensor input = numbers();
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
