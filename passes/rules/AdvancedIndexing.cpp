//===- AdvancedIndexing.cpp - x[i, j] with index tensors ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The indexed dimensions are replaced by the shape to which the indices
// broadcast: in place when they stand side by side, else at the front. Memory
// order follows the operand with the indexed dimensions removed, then the
// indices, as for any element-wise kernel.
//
// Tested by test/unit/passes/rules/LayoutFixtureTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/Costs.h"
#include "passes/rules/Families.h"
#include "passes/rules/LayoutAlgorithms.h"
#include "passes/rules/Results.h"

#include <algorithm>

namespace sfsdp::rules {

namespace {

using Sizes = std::vector<int64_t>;

/// An operand and, per dimension of it, the index tensor or nothing.
struct Indexing {
  TensorLayout self;
  TensorList indices;
};

/// Broadcasts the indices and converts them to 64 bits.
Expected<Indexing> prepare(const OperatorCall &call) {
  Indexing indexing = {call.tensor(0), call.tensors(1)};
  Sizes shape;
  bool any = false;
  for (const std::optional<TensorLayout> &index : indexing.indices) {
    if (!index) {
      continue;
    }
    if (index->dtype != DType::Int64 && index->dtype != DType::Int32) {
      return refuse(call, "expected indices of i64 or i32, got " +
                              std::string(nameOf(index->dtype)) +
                              ", whose result has no static shape");
    }
    std::optional<Sizes> both = broadcastSizes(shape, index->sizes);
    if (!both || !areValidSizes(*both)) {
      return refuse(call, "index sizes " + shown(shape) + " and " +
                              shown(index->sizes) + " do not broadcast");
    }
    shape = std::move(*both);
    any = true;
  }
  if (!any || indexing.indices.size() > indexing.self.sizes.size()) {
    return refuse(
        call, "expected 1 to " + std::to_string(indexing.self.rank()) +
                  " indices, got " + std::to_string(indexing.indices.size()));
  }
  for (std::optional<TensorLayout> &index : indexing.indices) {
    if (index) {
      index = castTo(expandTo(*index, shape), DType::Int64);
    }
  }
  indexing.indices.resize(indexing.self.sizes.size());
  return indexing;
}

bool standSideBySide(const TensorList &indices) {
  auto has = [](const auto &index) { return index.has_value(); };
  auto first = std::ranges::find_if(indices, has);
  auto end = std::find_if(indices.rbegin(), indices.rend(), has).base();
  return std::all_of(first, end, has);
}

/// Moves indexed dimensions to the front, in their order.
Indexing withIndexedFirst(const Indexing &indexing) {
  Indexing moved = {{indexing.self.dtype, {}, {}}, {}};
  for (bool wanted : {true, false}) {
    for (size_t dim = 0; dim < indexing.indices.size(); ++dim) {
      if (indexing.indices[dim].has_value() != wanted) {
        continue;
      }
      moved.self.sizes.push_back(indexing.self.sizes[dim]);
      moved.self.strides.push_back(indexing.self.strides[dim]);
      moved.indices.push_back(indexing.indices[dim]);
    }
  }
  return moved;
}

/// What the kernel iterates over: `self` with stride 0 in the replaced
/// dimensions, and the indices with dimensions of size 1 in the others.
std::vector<TensorLayout> iteratedOperands(const Indexing &indexing) {
  TensorLayout self = {indexing.self.dtype, {}, {}};
  size_t before = 0;
  size_t after = 0;
  bool replaced = false;
  std::vector<TensorLayout> operands;
  for (size_t dim = 0; dim < indexing.indices.size(); ++dim) {
    const std::optional<TensorLayout> &index = indexing.indices[dim];
    if (!index) {
      (replaced ? after : before) += 1;
      self.sizes.push_back(indexing.self.sizes[dim]);
      self.strides.push_back(indexing.self.strides[dim]);
      continue;
    }
    operands.push_back(*index);
    if (!replaced) {
      replaced = true;
      self.sizes.insert(self.sizes.end(), index->sizes.begin(),
                        index->sizes.end());
      self.strides.insert(self.strides.end(), index->sizes.size(), 0);
    }
  }
  for (TensorLayout &index : operands) {
    Sizes sizes(before, 1);
    sizes.insert(sizes.end(), index.sizes.begin(), index.sizes.end());
    sizes.insert(sizes.end(), after, 1);
    // A view: only dimensions of size 1 are added.
    index.strides = *viewStrides(index, sizes);
    index.sizes = std::move(sizes);
  }
  operands.insert(operands.begin(), std::move(self));
  return operands;
}

/// index.Tensor, _unsafe_index.Tensor.
Results index(const OperatorCall &call) {
  Expected<Indexing> prepared = prepare(call);
  if (!prepared) {
    return prepared.status();
  }
  Indexing indexing = standSideBySide(prepared->indices)
                          ? std::move(*prepared)
                          : withIndexedFirst(*prepared);
  std::optional<TensorLayout> result =
      elementwiseLayout(call.tensor(0).dtype, iteratedOperands(indexing));
  if (!result) {
    return refuse(call,
                  "indices do not fit sizes " + shown(call.tensor(0).sizes));
  }
  return one(fresh(std::move(*result)));
}

/// index_put: a copy of `self` with some elements replaced.
Results indexPut(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  return one(fresh(emptyLike(self, self.dtype)));
}

constexpr Rule kRules[] = {
    {.name = "_unsafe_index.Tensor",
     .layout = index,
     .cost = partialGatherCost},
    {.name = "index.Tensor", .layout = index, .cost = partialGatherCost},
    {.name = "index_put.default", .layout = indexPut, .cost = gatherCost},
};

} // namespace

std::span<const Rule> advancedIndexingRules() { return kRules; }

} // namespace sfsdp::rules
