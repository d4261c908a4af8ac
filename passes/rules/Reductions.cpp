//===- Reductions.cpp - Sums, means, extrema, running sums ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results are row-major whatever the strides of the operand.
//
// Tested by test/unit/passes/rules/LayoutFixtureTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/Costs.h"
#include "passes/rules/Families.h"
#include "passes/rules/LayoutAlgorithms.h"
#include "passes/rules/Results.h"
#include "passes/rules/TypePromotion.h"

#include <algorithm>

namespace sfsdp::rules {

namespace {

using Sizes = std::vector<int64_t>;

/// Sizes of `self` after reducing `dims`; no dims mean all.
Expected<Sizes> reducedSizes(const OperatorCall &call, const Sizes &dims,
                             bool keepDims) {
  const TensorLayout &self = call.tensor(0);
  std::vector<bool> reduced(std::max<size_t>(self.sizes.size(), 1),
                            dims.empty());
  for (int64_t dim : dims) {
    std::optional<size_t> wrapped = wrapDim(dim, self.rank());
    if (!wrapped || reduced[*wrapped]) {
      return refuse(call, "expected different dimensions of sizes " +
                              shown(self.sizes) + ", got " + shown(dims));
    }
    reduced[*wrapped] = true;
  }
  Sizes sizes;
  for (size_t dim = 0; dim < self.sizes.size(); ++dim) {
    if (!reduced[dim]) {
      sizes.push_back(self.sizes[dim]);
    } else if (keepDims) {
      sizes.push_back(1);
    }
  }
  return sizes;
}

Results reduced(const OperatorCall &call, const Sizes &dims, bool keepDims,
                DType dtype) {
  Expected<Sizes> sizes = reducedSizes(call, dims, keepDims);
  return sizes ? one(freshContiguous(dtype, *sizes)) : Results(sizes.status());
}

/// Integers add up in 64 bits.
DType sumType(const OperatorCall &call, std::optional<DType> asked) {
  DType dtype = call.tensor(0).dtype;
  return asked.value_or(runtime::isIntegral(dtype) ? DType::Int64 : dtype);
}

Results sumDims(const OperatorCall &call) {
  return reduced(call, call.integers(1), call.boolean(2),
                 sumType(call, call.dtype(3)));
}

Results sumAll(const OperatorCall &call) {
  return reduced(call, {}, false, sumType(call, call.dtype(1)));
}

Results meanOf(const OperatorCall &call, const Sizes &dims, bool keepDims,
               std::optional<DType> asked) {
  DType dtype = asked.value_or(call.tensor(0).dtype);
  if (runtime::isIntegral(dtype)) {
    return refuse(call, "expected a floating-point dtype, got " +
                            std::string(nameOf(dtype)));
  }
  return reduced(call, dims, keepDims, dtype);
}

Results meanDims(const OperatorCall &call) {
  return meanOf(call, call.integers(1), call.boolean(2), call.dtype(3));
}

Results meanAll(const OperatorCall &call) {
  return meanOf(call, {}, false, call.dtype(1));
}

/// amax, amin.
Results extremum(const OperatorCall &call) {
  return reduced(call, call.integers(1), call.boolean(2), call.tensor(0).dtype);
}

/// max.default, min.default.
Results extremumOfAll(const OperatorCall &call) {
  if (call.tensor(0).elementCount() == 0) {
    return refuse(call, "expected at least 1 element, got none");
  }
  return reduced(call, {}, false, call.tensor(0).dtype);
}

/// max.dim, min.dim: values and where they are.
Results extremumWithIndex(const OperatorCall &call) {
  Expected<Sizes> sizes =
      reducedSizes(call, {call.integer(1)}, call.boolean(2));
  if (!sizes) {
    return sizes.status();
  }
  return ResultLayouts{freshContiguous(call.tensor(0).dtype, *sizes),
                       freshContiguous(DType::Int64, *sizes)};
}

/// argmax, argmin.
Results extremumIndex(const OperatorCall &call) {
  std::optional<int64_t> dim = call.optionalInteger(1);
  return reduced(call, dim ? Sizes{*dim} : Sizes(), call.boolean(2),
                 DType::Int64);
}

/// any and all of bytes are bytes.
DType truthType(const OperatorCall &call) {
  return call.tensor(0).dtype == DType::UInt8 ? DType::UInt8 : DType::Bool;
}

Results truthOfDim(const OperatorCall &call) {
  return reduced(call, {call.integer(1)}, call.boolean(2), truthType(call));
}

Results truthOfAll(const OperatorCall &call) {
  return reduced(call, {}, false, truthType(call));
}

/// var.correction, std.correction.
Results variance(const OperatorCall &call) {
  return reduced(call, call.integers(1), call.boolean(3), call.tensor(0).dtype);
}

/// var_mean.correction, std_mean.correction.
Results varianceAndMean(const OperatorCall &call) {
  Results results = variance(call);
  if (results) {
    results->push_back(results->front());
  }
  return results;
}

/// logsumexp computes in floats.
Results logSumExp(const OperatorCall &call) {
  return reduced(call, call.integers(1), call.boolean(2),
                 floatingTypeFor(call.tensor(0).dtype));
}

Results vectorNorm(const OperatorCall &call) {
  DType dtype = call.dtype(4).value_or(call.tensor(0).dtype);
  if (!runtime::isFloatingPoint(dtype)) {
    return refuse(call, "expected a floating-point dtype, got " +
                            std::string(nameOf(dtype)));
  }
  return reduced(call, call.integers(2), call.boolean(3), dtype);
}

Results prodOfDim(const OperatorCall &call) {
  return reduced(call, {call.integer(1)}, call.boolean(2),
                 sumType(call, call.dtype(3)));
}

Results cumsum(const OperatorCall &call) {
  Expected<size_t> dim = dimOf(call, 1, 0);
  if (!dim) {
    return dim.status();
  }
  return one(
      freshContiguous(sumType(call, call.dtype(2)), call.tensor(0).sizes));
}

constexpr Rule rule(std::string_view name,
                    Results (*layout)(const OperatorCall &)) {
  return {.name = name, .layout = layout, .cost = reductionCost};
}

constexpr Rule mean(std::string_view name,
                    Results (*layout)(const OperatorCall &)) {
  Rule averaging = rule(name, layout);
  averaging.isMean = true;
  return averaging;
}

constexpr Rule kRules[] = {
    rule("all.default", truthOfAll),
    rule("all.dim", truthOfDim),
    rule("amax.default", extremum),
    rule("amin.default", extremum),
    rule("any.default", truthOfAll),
    rule("any.dim", truthOfDim),
    rule("argmax.default", extremumIndex),
    rule("argmin.default", extremumIndex),
    rule("cumprod.default", cumsum),
    rule("cumsum.default", cumsum),
    rule("linalg_vector_norm.default", vectorNorm),
    rule("logsumexp.default", logSumExp),
    rule("max.default", extremumOfAll),
    rule("max.dim", extremumWithIndex),
    mean("mean.default", meanAll),
    mean("mean.dim", meanDims),
    rule("min.default", extremumOfAll),
    rule("min.dim", extremumWithIndex),
    rule("prod.default", sumAll),
    rule("prod.dim_int", prodOfDim),
    rule("std.correction", variance),
    rule("std_mean.correction", varianceAndMean),
    rule("sum.default", sumAll),
    rule("sum.dim_IntList", sumDims),
    rule("var.correction", variance),
    rule("var_mean.correction", varianceAndMean),
};

} // namespace

std::span<const Rule> reductionRules() { return kRules; }

} // namespace sfsdp::rules
