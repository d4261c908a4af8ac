//===- Matmul.cpp - Matrix products ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products are row-major whatever the strides of their factors.
//
// Tested by test/unit/passes/rules/LayoutFixtureTest.cpp and CostTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/Costs.h"
#include "passes/rules/Families.h"
#include "passes/rules/LayoutAlgorithms.h"
#include "passes/rules/Results.h"

namespace sfsdp::rules {

namespace {

/// Checks that arguments `left` and `right` are matrices (rank 2) or batches of
/// them (rank 3) that multiply. Returns the sizes of the product.
Expected<std::vector<int64_t>> productSizes(const OperatorCall &call,
                                            size_t left, size_t right,
                                            int64_t rank) {
  for (size_t index : {left, right}) {
    if (Status status = requireRank(call, index, rank); !status.ok()) {
      return status;
    }
  }
  const TensorLayout &a = call.tensor(left);
  const TensorLayout &b = call.tensor(right);
  auto last = static_cast<size_t>(rank - 1);
  bool batchesFit = rank == 2 || a.sizes[0] == b.sizes[0];
  if (!batchesFit || a.sizes[last] != b.sizes[last - 1]) {
    return refuse(call, "sizes " + shown(a.sizes) + " and " + shown(b.sizes) +
                            " do not multiply");
  }
  if (a.dtype != b.dtype) {
    return refuse(call, "expected factors of one dtype, got " +
                            std::string(nameOf(a.dtype)) + " and " +
                            std::string(nameOf(b.dtype)));
  }
  std::vector<int64_t> sizes = a.sizes;
  sizes[last] = b.sizes[last];
  return sizes;
}

Results product(const OperatorCall &call, int64_t rank) {
  Expected<std::vector<int64_t>> sizes = productSizes(call, 0, 1, rank);
  if (!sizes) {
    return sizes.status();
  }
  return one(freshContiguous(call.tensor(0).dtype, *sizes));
}

Results mm(const OperatorCall &call) { return product(call, 2); }

Results bmm(const OperatorCall &call) { return product(call, 3); }

/// addmm, baddbmm: `self` + product.
Results addedProduct(const OperatorCall &call, int64_t rank) {
  Expected<std::vector<int64_t>> sizes = productSizes(call, 1, 2, rank);
  if (!sizes) {
    return sizes.status();
  }
  const TensorLayout &self = call.tensor(0);
  if (self.dtype != call.tensor(1).dtype ||
      broadcastSizes(self.sizes, *sizes) != *sizes) {
    return refuse(call, "expected 'self' to expand to " + shown(*sizes) +
                            " with dtype " +
                            std::string(nameOf(call.tensor(1).dtype)) +
                            ", got sizes " + shown(self.sizes) + " and " +
                            std::string(nameOf(self.dtype)));
  }
  return one(freshContiguous(self.dtype, *sizes));
}

Results addmm(const OperatorCall &call) { return addedProduct(call, 2); }

Results baddbmm(const OperatorCall &call) { return addedProduct(call, 3); }

/// Checks arguments 0 and 1 of `dot` and `mv`, a vector or rows of vectors.
Status checkVectorProduct(const OperatorCall &call, int64_t rank) {
  if (Status status = requireRank(call, 0, rank); !status.ok()) {
    return status;
  }
  if (Status status = requireRank(call, 1, 1); !status.ok()) {
    return status;
  }
  const TensorLayout &self = call.tensor(0);
  const TensorLayout &vector = call.tensor(1);
  if (self.sizes.back() != vector.sizes[0] || self.dtype != vector.dtype) {
    return refuse(call, "sizes " + shown(self.sizes) + " and " +
                            shown(vector.sizes) +
                            " of different dtypes or lengths do not multiply");
  }
  return Status();
}

Results dot(const OperatorCall &call) {
  Status status = checkVectorProduct(call, 1);
  return status.ok() ? one(freshContiguous(call.tensor(0).dtype, {}))
                     : Results(status);
}

Results mv(const OperatorCall &call) {
  Status status = checkVectorProduct(call, 2);
  const TensorLayout &self = call.tensor(0);
  return status.ok() ? one(freshContiguous(self.dtype, {self.sizes[0]}))
                     : Results(status);
}

/// batch · m · n · k multiplications and as many additions.
CostFacts gemmCost(const OperatorCall &call, const ResultLayouts &results,
                   size_t left) {
  CostFacts cost = movedBytes(CostClass::Gemm, call, results);
  const std::vector<int64_t> &sizes = results[0]->tensor.sizes;
  cost.batch = sizes.size() == 3 ? sizes[0] : 1;
  cost.m = sizes[sizes.size() - 2];
  cost.n = sizes.back();
  cost.k = call.tensor(left).sizes.back();
  cost.flops = 2;
  for (int64_t factor : {cost.batch, cost.m, cost.n, cost.k}) {
    cost.flops = saturatingProduct(cost.flops, factor);
  }
  return cost;
}

CostFacts productCost(const OperatorCall &call, const ResultLayouts &results) {
  return gemmCost(call, results, 0);
}

CostFacts addedProductCost(const OperatorCall &call,
                           const ResultLayouts &results) {
  return gemmCost(call, results, 1);
}

/// A matrix product with one column.
CostFacts vectorProductCost(const OperatorCall &call,
                            const ResultLayouts &results) {
  CostFacts cost = movedBytes(CostClass::Gemm, call, results);
  cost.batch = 1;
  cost.m = results[0]->tensor.elementCount();
  cost.n = 1;
  cost.k = call.tensor(1).elementCount();
  cost.flops = saturatingProduct(2, saturatingProduct(cost.m, cost.k));
  return cost;
}

constexpr Rule kRules[] = {
    {.name = "addmm.default", .layout = addmm, .cost = addedProductCost},
    {.name = "baddbmm.default", .layout = baddbmm, .cost = addedProductCost},
    {.name = "bmm.default", .layout = bmm, .cost = productCost},
    {.name = "dot.default", .layout = dot, .cost = vectorProductCost},
    {.name = "mm.default", .layout = mm, .cost = productCost},
    {.name = "mv.default", .layout = mv, .cost = vectorProductCost},
};

} // namespace

std::span<const Rule> matmulRules() { return kRules; }

} // namespace sfsdp::rules
