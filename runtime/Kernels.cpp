//===- Kernels.cpp - The runtime's own kernels ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search over all families, and the kernels that stand for an operator of
// ATen.
//
// Tested by test/unit/runtime/KernelsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Kernels.h"
#include "runtime/Chunk.h"
#include "runtime/KernelArguments.h"
#include "runtime/KernelFamilies.h"

#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

using namespace sfsdp::runtime;
using torch::jit::Stack;

namespace {

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
  for (std::span<const OwnKernelRow> family :
       {std::span<const OwnKernelRow>(kOwnKernels), optimizerKernels(),
        normKernels()}) {
    for (const OwnKernelRow &row : family) {
      if (row.name == name) {
        return &row;
      }
    }
  }
  return nullptr;
}
