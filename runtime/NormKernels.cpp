//===- NormKernels.cpp - Norms of gradients, and clipping -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chunk has the same norm as a rank's own tensor and as rows of a whole one:
// both are contiguous rows of equal number, and the kernel of
// linalg.vector_norm does not look at where they lie. The rest is the
// arithmetic of torch/nn/utils/clip_grad.py with foreach=False (read in torch
// 2.15), where a number divided by a tensor is the tensor's reciprocal times
// the number.
//
// Tested by test/unit/runtime/NormKernelsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Chunk.h"
#include "runtime/KernelArguments.h"
#include "runtime/KernelFamilies.h"

#include <ATen/ops/isfinite.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

using namespace sfsdp::runtime;
using torch::jit::Stack;

namespace {

at::Tensor normOf(const at::Tensor &tensor) {
  return at::linalg_vector_norm(tensor, 2);
}

/// Norm `position` of `norms` becomes that of some rows of `tensor`; without
/// rows it stays 0.
void setNorm(at::Tensor &norms, int64_t position, const at::Tensor &tensor,
             RowRange rows) {
  if (rows.size() > 0) {
    norms.select(0, position)
        .copy_(normOf(tensor.narrow(0, rows.begin, rows.size())));
  }
}

void chunkNorms(Stack &stack) {
  Arguments arguments(stack, 4);
  at::Tensor gradient = arguments.tensor();
  int64_t chunks = arguments.integer();
  std::optional<double> trueRows = arguments.optionalNumber();
  at::Tensor norms = at::zeros({chunks}, arguments.elementType());
  if (trueRows) {
    auto all = static_cast<double>(gradient.size(0));
    double rows = *trueRows >= 1 ? std::min(*trueRows, all) : 0; // NaN: 0
    setNorm(norms, 0, gradient, {0, static_cast<int64_t>(rows)});
  } else if (chunks == 1) {
    norms.copy_(normOf(gradient));
  } else {
    at::Tensor whole =
        gradient.dim() == 0 ? gradient.reshape({1}) : gradient.contiguous();
    for (int64_t rank = 0; rank < chunks; ++rank) {
      setNorm(norms, rank, whole, ownedRows(whole.size(0), chunks, rank));
    }
  }
  arguments.replaceBy(std::move(norms));
}

/// One norm for each row of `table`, from those of its chunks.
at::Tensor normsOfParameters(const at::Tensor &table) {
  if (table.size(1) == 1) {
    return table.select(1, 0);
  }
  bool isHalf = table.element_size() < 4;
  at::Tensor wide = isHalf ? table.to(at::kFloat) : table;
  at::Tensor squares = wide.mul(wide);
  at::Tensor sum = squares.select(1, 0).clone();
  for (int64_t rank = 1; rank < squares.size(1); ++rank) {
    sum.add_(squares.select(1, rank));
  }
  return sum.sqrt().to(table.scalar_type());
}

void totalNorm(Stack &stack) {
  Arguments arguments(stack, 1);
  at::Tensor table = at::stack(arguments.tensors());
  arguments.replaceBy(normOf(normsOfParameters(table)));
}

void clipCoefficient(Stack &stack) {
  Arguments arguments(stack, 2);
  at::Tensor norm = arguments.tensor();
  double max = arguments.number();
  at::Tensor coefficient = norm.add(1e-6).reciprocal().mul(max);
  arguments.replaceBy(coefficient.clamp(std::nullopt, 1.0));
}

void isFinite(Stack &stack) {
  Arguments arguments(stack, 1);
  arguments.replaceBy(at::isfinite(arguments.tensor()));
}

constexpr OwnKernelRow kNormKernels[] = {
    {"sfsdp::chunk_norms",
     "sfsdp::chunk_norms(Tensor gradient, int chunks, Scalar? rows, "
     "ScalarType dtype) -> Tensor",
     chunkNorms},
    {"sfsdp::total_norm", "sfsdp::total_norm(Tensor[] chunk_norms) -> Tensor",
     totalNorm},
    {"sfsdp::clip_coefficient",
     "sfsdp::clip_coefficient(Tensor norm, float max) -> Tensor",
     clipCoefficient},
    {"sfsdp::is_finite", "sfsdp::is_finite(Tensor norm) -> Tensor", isFinite},
};

} // namespace

std::span<const OwnKernelRow> sfsdp::runtime::normKernels() {
  return kNormKernels;
}
