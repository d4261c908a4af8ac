//===- Gather.cpp - Reads and writes at places that tensors name ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Embedding tables, gather, scatter and sorting along a dimension.
// AdvancedIndexing.cpp has `x[i, j]`.
//
// Tested by test/unit/passes/rules/LayoutFixtureTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/Costs.h"
#include "passes/rules/Families.h"
#include "passes/rules/LayoutAlgorithms.h"
#include "passes/rules/Results.h"

namespace sfsdp::rules {

namespace {

using Sizes = std::vector<int64_t>;

bool isIndexType(DType dtype) {
  return dtype == DType::Int64 || dtype == DType::Int32;
}

Status requireIndices(const OperatorCall &call, size_t index) {
  DType dtype = call.tensor(index).dtype;
  if (isIndexType(dtype)) {
    return Status();
  }
  return refuse(call, "expected '" + call.schema->parameters[index].name +
                          "' of i64 or i32, got " + std::string(nameOf(dtype)));
}

/// A row of `weight` per index.
Results embedding(const OperatorCall &call) {
  const TensorLayout &weight = call.tensor(0);
  if (Status status = requireRank(call, 0, 2); !status.ok()) {
    return status;
  }
  if (Status status = requireIndices(call, 1); !status.ok()) {
    return status;
  }
  Sizes sizes = call.tensor(1).sizes;
  sizes.push_back(weight.sizes[1]);
  return one(freshContiguous(weight.dtype, std::move(sizes)));
}

Results embeddingBackward(const OperatorCall &call) {
  const TensorLayout &grad = call.tensor(0);
  if (Status status = requireIndices(call, 1); !status.ok()) {
    return status;
  }
  Sizes expected = call.tensor(1).sizes;
  expected.push_back(grad.sizes.empty() ? 0 : grad.sizes.back());
  if (grad.sizes != expected || call.integer(2) < 0) {
    return refuse(call, "expected a gradient of sizes " + shown(expected) +
                            ", got " + shown(grad.sizes));
  }
  return one(freshContiguous(grad.dtype, {call.integer(2), expected.back()}));
}

Results indexSelect(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  const TensorLayout &index = call.tensor(2);
  Expected<size_t> dim = dimOf(call, 1, 0);
  if (!dim) {
    return dim.status();
  }
  if (index.rank() > 1) {
    return refuse(call, "expected an index of at most 1 dimension, got sizes " +
                            shown(index.sizes));
  }
  Sizes sizes = self.sizes;
  if (!sizes.empty()) {
    sizes[*dim] = index.elementCount();
  }
  return one(freshContiguous(self.dtype, std::move(sizes)));
}

/// Checks what gather and scatter ask of dimension and index.
Status checkAlongDim(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  const TensorLayout &index = call.tensor(2);
  Expected<size_t> dim = dimOf(call, 1, 0);
  if (!dim) {
    return dim.status();
  }
  if (Status status = requireIndices(call, 2); !status.ok()) {
    return status;
  }
  bool ranksFit = self.rank() == index.rank() || self.rank() == 0 ||
                  index.rank() == 0 || index.elementCount() == 0;
  if (!ranksFit) {
    return refuse(call, "expected an index of as many dimensions as sizes " +
                            shown(self.sizes) + ", got " + shown(index.sizes));
  }
  return Status();
}

Results gather(const OperatorCall &call) {
  if (Status status = checkAlongDim(call); !status.ok()) {
    return status;
  }
  return one(freshContiguous(call.tensor(0).dtype, call.tensor(2).sizes));
}

/// scatter, scatter_add: a row-major `self` with some elements replaced.
Results scatter(const OperatorCall &call) {
  if (Status status = checkAlongDim(call); !status.ok()) {
    return status;
  }
  return one(freshContiguous(call.tensor(0).dtype, call.tensor(0).sizes));
}

/// index_add: a row-major `self` with slices added.
Results indexAdd(const OperatorCall &call) {
  Expected<size_t> dim = dimOf(call, 1, 0);
  if (!dim) {
    return dim.status();
  }
  return one(freshContiguous(call.tensor(0).dtype, call.tensor(0).sizes));
}

/// topk: row-major values and where they are.
Results topK(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Expected<size_t> dim = dimOf(call, 2, 0);
  if (!dim) {
    return dim.status();
  }
  Sizes sizes = self.sizes;
  int64_t count = call.integer(1);
  int64_t available = sizes.empty() ? 1 : sizes[*dim];
  if (count < 0 || count > available) {
    return refuse(call, "expected at most " + std::to_string(available) +
                            " elements, got " + std::to_string(count));
  }
  if (!sizes.empty()) {
    sizes[*dim] = count;
  }
  return ResultLayouts{freshContiguous(self.dtype, sizes),
                       freshContiguous(DType::Int64, sizes)};
}

/// sort: values and where they are, ordered in memory as `self`.
Results sortAlong(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Expected<size_t> dim = dimOf(call, indexOf(call, "dim"), 0);
  if (!dim) {
    return dim.status();
  }
  return ResultLayouts{fresh(emptyLike(self, self.dtype)),
                       fresh(emptyLike(self, DType::Int64))};
}

constexpr Rule rule(std::string_view name,
                    Results (*layout)(const OperatorCall &)) {
  return {.name = name, .layout = layout, .cost = gatherCost};
}

constexpr Rule partialRule(std::string_view name,
                           Results (*layout)(const OperatorCall &)) {
  return {.name = name, .layout = layout, .cost = partialGatherCost};
}

constexpr Rule kRules[] = {
    partialRule("embedding.default", embedding),
    rule("embedding_dense_backward.default", embeddingBackward),
    partialRule("gather.default", gather),
    rule("index_add.default", indexAdd),
    partialRule("index_select.default", indexSelect),
    rule("scatter.src", scatter),
    rule("scatter.value", scatter),
    rule("scatter_add.default", scatter),
    rule("sort.default", sortAlong),
    rule("sort.stable", sortAlong),
    rule("topk.default", topK),
};

} // namespace

std::span<const Rule> gatherRules() { return kRules; }

} // namespace sfsdp::rules
