//===- NormKernelsTest.cpp - Norms of gradients, and clipping -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The norm of a chunk has the same bits as rows of a whole tensor and as a
// rank's own padded memory; one chunk gives PyTorch's own numbers.

#include "runtime/Chunk.h"
#include "runtime/Executor.h"
#include "runtime/Kernels.h"

#include <ATen/ATen.h>
#include <cmath>
#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using torch::jit::Stack;

namespace {

constexpr at::ScalarType kTypes[] = {at::kFloat, at::kDouble, at::kBFloat16,
                                     at::kHalf};

at::Tensor random(at::IntArrayRef sizes, uint64_t seed, at::ScalarType type) {
  at::Generator generator = at::detail::createCPUGenerator(seed);
  at::Tensor numbers = at::randn(sizes, generator, at::kFloat);
  return (numbers * 3).to(type);
}

at::Tensor call(const char *name, Stack stack) {
  findOwnKernel(name)->run(stack);
  EXPECT_EQ(stack.size(), 1u);
  return stack[0].toTensor();
}

at::Tensor chunkNorms(const at::Tensor &gradient, int64_t chunks,
                      std::optional<int64_t> rows = std::nullopt) {
  c10::IValue trueRows =
      rows ? c10::IValue(static_cast<double>(*rows)) : c10::IValue();
  return call("sfsdp::chunk_norms",
              {gradient, chunks, trueRows,
               static_cast<int64_t>(gradient.scalar_type())});
}

/// What rank `rank` holds of `whole`: chunk rows, those past the end zero.
at::Tensor paddedChunk(const at::Tensor &whole, int64_t ranks, int64_t rank) {
  RowRange owned = ownedRows(whole.size(0), ranks, rank);
  std::vector<int64_t> sizes = whole.sizes().vec();
  sizes[0] = chunkRows(whole.size(0), ranks);
  at::Tensor chunk = at::zeros(sizes, whole.options());
  chunk.narrow(0, 0, owned.size())
      .copy_(whole.narrow(0, owned.begin, owned.size()));
  return chunk;
}

} // namespace

TEST(NormKernels, ChunksHaveTheSameBitsInAShardAsInTheWhole) {
  prepareLane(1);
  for (at::ScalarType type : kTypes) {
    for (int64_t rows : {1, 2, 5, 7, 64, 1000}) {
      for (int64_t columns : {1, 3, 16, 37}) {
        at::Tensor whole = random({rows, columns}, rows + columns, type);
        for (int64_t ranks : {2, 3, 4, 8}) {
          at::Tensor norms = chunkNorms(whole, ranks);
          ASSERT_EQ(norms.sizes(), at::IntArrayRef({ranks}));
          for (int64_t rank = 0; rank < ranks; ++rank) {
            at::Tensor own = chunkNorms(paddedChunk(whole, ranks, rank), 1,
                                        ownedRows(rows, ranks, rank).size());
            EXPECT_TRUE(at::equal(norms.narrow(0, rank, 1), own))
                << rows << "x" << columns << " on " << ranks;
          }
        }
      }
    }
  }
}

TEST(NormKernels, ChunksOfATransposedGradientAreThoseOfItsRows) {
  at::Tensor whole = random({7, 5}, 1, at::kFloat);
  at::Tensor transposed = whole.t().contiguous().t();
  EXPECT_FALSE(transposed.is_contiguous());
  EXPECT_TRUE(at::equal(chunkNorms(transposed, 3), chunkNorms(whole, 3)));
}

TEST(NormKernels, OneChunkIsTorchsNorm) {
  for (at::ScalarType type : kTypes) {
    at::Tensor whole = random({33, 7}, 2, type);
    EXPECT_TRUE(at::equal(chunkNorms(whole, 1).select(0, 0),
                          at::linalg_vector_norm(whole, 2)));
  }
}

TEST(NormKernels, WhatHasNoRowsHasNormZero) {
  EXPECT_TRUE(at::equal(chunkNorms(at::empty({0, 3}), 4), at::zeros({4})));
  // 2 rows on 4 ranks are 1, 1, 0, 0.
  at::Tensor rows = at::tensor({3.f, 4.f, 0.f, 5.f}).reshape({2, 2});
  EXPECT_TRUE(at::equal(chunkNorms(rows, 4), at::tensor({5.f, 5.f, 0.f, 0.f})));
  at::Tensor chunk = at::ones({2, 3});
  EXPECT_EQ(chunkNorms(chunk, 1, 0).item<float>(), 0);
  EXPECT_EQ(chunkNorms(chunk, 1, -5).item<float>(), 0);
  EXPECT_EQ(chunkNorms(chunk, 1, 9).item<float>(), std::sqrt(6.f));
}

TEST(NormKernels, AScalarIsOneRow) {
  at::Tensor scalar = at::scalar_tensor(-2.5f);
  EXPECT_TRUE(at::equal(chunkNorms(scalar, 3), at::tensor({2.5f, 0.f, 0.f})));
  EXPECT_TRUE(at::equal(chunkNorms(scalar, 1), at::tensor({2.5f})));
}

TEST(NormKernels, OneChunkPerParameterIsTorchsTotalNorm) {
  for (at::ScalarType type : kTypes) {
    std::vector<at::Tensor> norms, expected;
    for (int64_t size : {5, 40, 333, 64, 7, 1, 90, 12, 31}) {
      at::Tensor gradient = random({size}, size, type);
      norms.push_back(chunkNorms(gradient, 1));
      expected.push_back(at::linalg_vector_norm(gradient, 2));
    }
    at::Tensor total = call("sfsdp::total_norm", {norms});
    EXPECT_TRUE(
        at::equal(total, at::linalg_vector_norm(at::stack(expected), 2)));
  }
}

TEST(NormKernels, ChunksAreAddedInRankOrder) {
  // To 1 each of these squares, 3 * 2^-26, adds nothing; before 1 they add up.
  std::vector<float> norms(65, std::ldexp(std::sqrt(3.f), -13));
  auto total = [&] {
    return call("sfsdp::total_norm",
                {std::vector<at::Tensor>{at::tensor(norms)}})
        .item<float>();
  };
  norms.front() = 1;
  EXPECT_EQ(total(), 1);
  std::swap(norms.front(), norms.back());
  EXPECT_GT(total(), 1);
  norms = {3, 4};
  EXPECT_EQ(total(), 5);
}

TEST(NormKernels, HalfTypesAddInSinglePrecision) {
  // In f16 300^2 is infinite.
  at::Tensor norms = at::tensor({300.f, 400.f}).to(at::kHalf);
  at::Tensor total =
      call("sfsdp::total_norm", {std::vector<at::Tensor>{norms}});
  EXPECT_EQ(total.scalar_type(), at::kHalf);
  EXPECT_EQ(total.item<float>(), 500.f);
}

TEST(NormKernels, TheCoefficientIsTorchs) {
  auto coefficient = [](const at::Tensor &norm, double max) {
    return call("sfsdp::clip_coefficient", {norm, max});
  };
  for (at::ScalarType type : kTypes) {
    for (float norm : {0.f, 1e-5f, 0.3f, 0.99f, 1.01f, 3.f, 777.f}) {
      at::Tensor scalar = at::scalar_tensor(norm, type);
      // 0.7 / tensor in Python is tensor.reciprocal() * 0.7
      at::Tensor expected =
          at::clamp((scalar + 1e-6).reciprocal() * 0.7, std::nullopt, 1.0);
      EXPECT_TRUE(at::equal(coefficient(scalar, 0.7), expected));
      EXPECT_LE(expected.item<float>(), 1.f);
    }
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(coefficient(at::scalar_tensor(kInfinity), 1).item<float>(), 0);
  EXPECT_TRUE(std::isnan(
      coefficient(at::scalar_tensor(std::nanf("")), 1).item<float>()));
}

TEST(NormKernels, FinitenessIsAFlag) {
  auto isFinite = [](float norm) {
    at::Tensor flag = call("sfsdp::is_finite", {at::scalar_tensor(norm)});
    EXPECT_EQ(flag.scalar_type(), at::kBool);
    EXPECT_EQ(flag.dim(), 0);
    return flag.item<bool>();
  };
  EXPECT_TRUE(isFinite(0));
  EXPECT_TRUE(isFinite(std::numeric_limits<float>::max()));
  EXPECT_FALSE(isFinite(std::numeric_limits<float>::infinity()));
  EXPECT_FALSE(isFinite(std::nanf("")));
}
