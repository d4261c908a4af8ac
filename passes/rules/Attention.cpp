//===- Attention.cpp - Fused attention on the CPU -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// query [B, H, S, D], key and value [B, Hkv, T, D]. Inside, the kernels work on
// [B, S, H, D]: log-sum-exp and gradients are views of tensors of that order.
//
// Tested by test/unit/passes/rules/LayoutFixtureTest.cpp and CostTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/Costs.h"
#include "passes/rules/Families.h"
#include "passes/rules/LayoutAlgorithms.h"
#include "passes/rules/Results.h"

#include <utility>

namespace sfsdp::rules {

namespace {

/// A fresh tensor that is row-major once dimensions 1 and 2 are swapped.
ResultLayout freshSwapped(DType dtype, std::vector<int64_t> sizes) {
  std::swap(sizes[1], sizes[2]);
  TensorLayout tensor = contiguousLayout(dtype, std::move(sizes));
  std::swap(tensor.sizes[1], tensor.sizes[2]);
  std::swap(tensor.strides[1], tensor.strides[2]);
  return fresh(std::move(tensor));
}

/// Checks query, key and value at `first`, `first` + 1 and `first` + 2.
Status checkFactors(const OperatorCall &call, size_t first) {
  for (size_t index = first; index < first + 3; ++index) {
    if (Status status = requireRank(call, index, 4); !status.ok()) {
      return status;
    }
  }
  const TensorLayout &query = call.tensor(first);
  const TensorLayout &key = call.tensor(first + 1);
  const TensorLayout &value = call.tensor(first + 2);
  bool typesFit = query.dtype == key.dtype && query.dtype == value.dtype &&
                  runtime::isFloatingPoint(query.dtype);
  bool sizesFit = key.sizes == value.sizes && query.sizes[0] == key.sizes[0] &&
                  query.sizes[3] == key.sizes[3];
  if (!typesFit || !sizesFit) {
    return refuse(call, "query " + shown(query.sizes) + ", key " +
                            shown(key.sizes) + " and value " +
                            shown(value.sizes) + " do not fit");
  }
  return Status();
}

Results attention(const OperatorCall &call) {
  if (Status status = checkFactors(call, 0); !status.ok()) {
    return status;
  }
  const TensorLayout &query = call.tensor(0);
  DType sumType =
      query.dtype == DType::Float64 ? DType::Float64 : DType::Float32;
  return ResultLayouts{
      fresh(emptyLike(query, query.dtype)),
      freshSwapped(sumType, {query.sizes[0], query.sizes[1], query.sizes[2]})};
}

Results attentionBackward(const OperatorCall &call) {
  if (Status status = checkFactors(call, 1); !status.ok()) {
    return status;
  }
  ResultLayouts results;
  for (size_t index : {1, 2, 3}) {
    const TensorLayout &factor = call.tensor(index);
    results.emplace_back(freshSwapped(factor.dtype, factor.sizes));
  }
  return results;
}

/// Two products of 2·B·H·S·T·D FLOPs each; causal masks halve them.
CostFacts attentionFacts(const OperatorCall &call, const ResultLayouts &results,
                         size_t queryIndex, size_t causalIndex) {
  CostFacts cost = movedBytes(CostClass::Attention, call, results);
  const std::vector<int64_t> &query = call.tensor(queryIndex).sizes;
  int64_t keys = call.tensor(queryIndex + 1).sizes[2];
  cost.flops = call.boolean(causalIndex) ? 2 : 4;
  for (int64_t factor : {query[0], query[1], query[2], keys, query[3]}) {
    cost.flops = saturatingProduct(cost.flops, factor);
  }
  return cost;
}

/// Rows of queries and keys that the CPU kernel works on at a time; read in
/// ATen's FlashAttentionKernel.cpp, torch 2.15.
struct Tile {
  int64_t queries = 0;
  int64_t keys = 0;
};

Tile tileOf(int64_t queries, int64_t keys) {
  int64_t rows = queries >= 768 ? 256 : queries >= 192 ? 64 : 32;
  return {std::min(rows, queries), std::min<int64_t>(512, keys)};
}

/// Forward keeps the scores of a tile, two numbers per query and an output row.
CostFacts attentionCost(const OperatorCall &call,
                        const ResultLayouts &results) {
  CostFacts cost = attentionFacts(call, results, 0, 4);
  Tile tile = tileOf(call.tensor(0).sizes[2], call.tensor(1).sizes[2]);
  int64_t width = call.tensor(2).sizes[3];
  cost.workspaceBytes =
      byteSize(DType::Float32) * tile.queries * (tile.keys + 2 + width);
  return cost;
}

/// Five products instead of two: the scores again, and two per factor pair.
/// Keeps the scores of a tile, their gradients and a number per query.
CostFacts attentionBackwardCost(const OperatorCall &call,
                                const ResultLayouts &results) {
  CostFacts cost = attentionFacts(call, results, 1, 7);
  cost.flops = saturatingProduct(cost.flops / 2, 5);
  Tile tile = tileOf(call.tensor(1).sizes[2], call.tensor(2).sizes[2]);
  cost.workspaceBytes =
      byteSize(DType::Float32) * tile.queries * (2 * tile.keys + 1);
  return cost;
}

constexpr Rule kRules[] = {
    {.name = "_scaled_dot_product_flash_attention_for_cpu.default",
     .layout = attention,
     .cost = attentionCost},
    {.name = "_scaled_dot_product_flash_attention_for_cpu_backward.default",
     .layout = attentionBackward,
     .cost = attentionBackwardCost},
};

} // namespace

std::span<const Rule> attentionRules() { return kRules; }

} // namespace sfsdp::rules
