//===- Creation.cpp - Operators that make tensors from nothing ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
#include <cmath>
#include <numeric>

namespace sfsdp::rules {

namespace {

using Sizes = std::vector<int64_t>;

std::optional<DType> askedType(const OperatorCall &call) {
  return call.dtype(indexOf(call, "dtype"));
}

Results checkedContiguous(const OperatorCall &call, DType dtype, Sizes sizes) {
  if (!areValidSizes(sizes)) {
    return refuse(call, "expected sizes, got " + shown(sizes));
  }
  return one(freshContiguous(dtype, std::move(sizes)));
}

/// ones, zeros, rand, randn; randint has a default dtype.
Results ofSizes(const OperatorCall &call) {
  return checkedContiguous(call, askedType(call).value_or(kDefaultFloat),
                           call.integers(indexOf(call, "size")));
}

/// new_ones, new_zeros, new_full, new_empty: the type of `self`.
Results ofSizesAndType(const OperatorCall &call) {
  return checkedContiguous(call, askedType(call).value_or(call.tensor(0).dtype),
                           call.integers(1));
}

/// The type of a tensor made from a number.
DType typeOfNumber(const Argument &number) {
  DType dtype = numberType(number);
  return dtype == DType::Float64 ? kDefaultFloat : dtype;
}

Results full(const OperatorCall &call) {
  return checkedContiguous(
      call, askedType(call).value_or(typeOfNumber(call.arguments[1])),
      call.integers(0));
}

Results scalarTensor(const OperatorCall &call) {
  return one(freshContiguous(askedType(call).value_or(kDefaultFloat), {}));
}

/// empty.memory_format.
Results empty(const OperatorCall &call) {
  Results results = ofSizes(call);
  std::optional<MemoryFormat> format =
      call.memoryFormat(indexOf(call, "memory_format"));
  if (!results || !format) {
    return results;
  }
  TensorLayout &tensor = (*results)[0]->tensor;
  std::optional<Sizes> strides = stridesIn(*format, tensor.sizes);
  if (!strides) {
    return refuse(call, "sizes " + shown(tensor.sizes) +
                            " have no such memory format");
  }
  tensor.strides = std::move(*strides);
  return results;
}

/// empty_permuted: dimension `order[i]` is the i-th slowest.
Results emptyPermuted(const OperatorCall &call) {
  Results results = ofSizes(call);
  if (!results) {
    return results;
  }
  TensorLayout &tensor = (*results)[0]->tensor;
  Sizes order = call.integers(1);
  Sizes sorted = order;
  std::ranges::sort(sorted);
  Sizes dims(tensor.sizes.size());
  std::iota(dims.begin(), dims.end(), 0);
  if (sorted != dims) {
    return refuse(call, "expected an order of the dimensions of sizes " +
                            shown(tensor.sizes) + ", got " + shown(order));
  }
  Sizes orderedSizes;
  for (int64_t dim : order) {
    orderedSizes.push_back(tensor.sizes[static_cast<size_t>(dim)]);
  }
  Sizes strides = contiguousStrides(orderedSizes);
  for (size_t i = 0; i < order.size(); ++i) {
    tensor.strides[static_cast<size_t>(order[i])] = strides[i];
  }
  return results;
}

/// ones_like, zeros_like, full_like, empty_like, rand_like, randn_like.
Results like(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  DType dtype = askedType(call).value_or(self.dtype);
  MemoryFormat format = call.memoryFormat(indexOf(call, "memory_format"))
                            .value_or(MemoryFormat::Preserve);
  if (format == MemoryFormat::Preserve) {
    return one(fresh(emptyLike(self, dtype)));
  }
  std::optional<Sizes> strides = stridesIn(format, self.sizes);
  if (!strides) {
    return refuse(call,
                  "sizes " + shown(self.sizes) + " have no such memory format");
  }
  return one(fresh({dtype, self.sizes, *strides}));
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

constexpr int64_t kMaxRange = int64_t{1} << 53; ///< doubles count exactly

/// arange over the arguments `start` (0 when absent), `end` and `step` (1 when
/// absent). Their number is ceil((end - start) / step), computed in doubles.
Results range(const OperatorCall &call, std::optional<size_t> startIndex,
              size_t endIndex, std::optional<size_t> stepIndex) {
  double start = 0;
  double step = 1;
  bool floats = false;
  for (std::optional<size_t> index :
       {startIndex, std::optional<size_t>(endIndex), stepIndex}) {
    if (!index) {
      continue;
    }
    if (!call.number(*index)) {
      return refuse(call, "expected numbers that are known when compiling");
    }
    floats |= numberType(call.arguments[*index]) == DType::Float64;
  }
  double end = *call.number(endIndex);
  start = startIndex ? *call.number(*startIndex) : start;
  step = stepIndex ? *call.number(*stepIndex) : step;
  double count = std::ceil((end - start) / step);
  // A NaN is no count.
  bool isCount = count >= 0 && count <= static_cast<double>(kMaxRange);
  if (step == 0 || !isCount) {
    return refuse(call, "expected a step from start to end, got " +
                            std::to_string(start) + ", " + std::to_string(end) +
                            ", " + std::to_string(step));
  }
  DType dtype = askedType(call).value_or(floats ? kDefaultFloat : DType::Int64);
  return one(freshContiguous(dtype, {static_cast<int64_t>(count)}));
}

Results arange(const OperatorCall &call) {
  return range(call, std::nullopt, 0, std::nullopt);
}

Results arangeFromStart(const OperatorCall &call) {
  return range(call, 0, 1, std::nullopt);
}

Results arangeWithStep(const OperatorCall &call) {
  return range(call, 0, 1, 2);
}

/// linspace.
Results linspace(const OperatorCall &call) {
  return checkedContiguous(call, askedType(call).value_or(kDefaultFloat),
                           {call.integer(2)});
}

/// randperm.
Results permutation(const OperatorCall &call) {
  return checkedContiguous(call, askedType(call).value_or(DType::Int64),
                           {call.integer(0)});
}

/// eye.
Results eye(const OperatorCall &call) {
  return checkedContiguous(call, askedType(call).value_or(kDefaultFloat),
                           {call.integer(0), call.integer(0)});
}

constexpr Rule rule(std::string_view name,
                    Results (*layout)(const OperatorCall &)) {
  return {.name = name, .layout = layout, .cost = creationCost};
}

constexpr Rule randomRule(std::string_view name,
                          Results (*layout)(const OperatorCall &)) {
  Rule random = rule(name, layout);
  random.effect = Effect::Random;
  return random;
}

constexpr Rule kRules[] = {
    rule("arange.default", arange),
    rule("arange.start", arangeFromStart),
    rule("arange.start_step", arangeWithStep),
    rule("empty.memory_format", empty),
    rule("empty_like.default", like),
    rule("empty_permuted.default", emptyPermuted),
    rule("eye.default", eye),
    rule("full.default", full),
    rule("full_like.default", like),
    rule("linspace.default", linspace),
    rule("new_empty.default", ofSizesAndType),
    rule("new_full.default", ofSizesAndType),
    rule("new_ones.default", ofSizesAndType),
    rule("new_zeros.default", ofSizesAndType),
    rule("ones.default", ofSizes),
    rule("ones_like.default", like),
    rule("scalar_tensor.default", scalarTensor),
    rule("zeros.default", ofSizes),
    rule("zeros_like.default", like),
    randomRule("rand.default", ofSizes),
    randomRule("rand_like.default", like),
    randomRule("randint.default", ofSizes),
    randomRule("randint.low", ofSizes),
    randomRule("randn.default", ofSizes),
    randomRule("randn_like.default", like),
    randomRule("randperm.default", permutation),
};

} // namespace

std::span<const Rule> creationRules() { return kRules; }

} // namespace sfsdp::rules
