//===- Windows.cpp - Views of a part of a tensor ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

/// A graph that splits a tensor into more parts is broken or hostile.
constexpr int64_t kMaxParts = 1 << 20;
constexpr int64_t kMaxDiagonal = int64_t{1} << 40;

/// Elements [start, start + size) of dimension `dim`.
ResultLayout window(const TensorLayout &self, size_t dim, int64_t start,
                    int64_t size) {
  TensorLayout result = self;
  result.sizes[dim] = size;
  return viewOf(0, std::move(result),
                saturatingProduct(start, self.strides[dim]));
}

/// `position`, counted from the end when negative, within [0, size].
int64_t clampPosition(int64_t position, int64_t size) {
  return std::clamp<int64_t>(position < 0 ? position + size : position, 0,
                             size);
}

Results slice(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Expected<size_t> dim = dimOf(call, 1, 0);
  if (!dim) {
    return dim.status();
  }
  int64_t step = call.integer(4);
  if (self.rank() == 0 || step <= 0) {
    return refuse(call, "expected a dimension and a positive step, got sizes " +
                            shown(self.sizes) + " and step " +
                            std::to_string(step));
  }
  int64_t size = self.sizes[*dim];
  int64_t start = clampPosition(call.optionalInteger(2).value_or(0), size);
  int64_t end = clampPosition(call.optionalInteger(3).value_or(size), size);
  int64_t count = end <= start ? 0 : (end - start - 1) / step + 1;
  ResultLayout result = window(self, *dim, start, count);
  int64_t &stride = result.tensor.strides[*dim];
  stride = saturatingProduct(stride, step);
  return one(std::move(result));
}

Results select(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Expected<size_t> dim = dimOf(call, 1, 0);
  if (!dim) {
    return dim.status();
  }
  int64_t index = call.integer(2);
  int64_t size = self.rank() == 0 ? 0 : self.sizes[*dim];
  if (index < -size || index >= size) {
    return refuse(call, "expected an index into dimension " +
                            std::to_string(*dim) + " of sizes " +
                            shown(self.sizes) + ", got " +
                            std::to_string(index));
  }
  ResultLayout result = window(self, *dim, index < 0 ? index + size : index, 1);
  auto position = static_cast<std::ptrdiff_t>(*dim);
  result.tensor.sizes.erase(result.tensor.sizes.begin() + position);
  result.tensor.strides.erase(result.tensor.strides.begin() + position);
  return one(std::move(result));
}

/// Windows of the given sizes, one after the other.
ResultLayouts consecutiveWindows(const TensorLayout &self, size_t dim,
                                 const Sizes &sizes) {
  ResultLayouts results;
  int64_t start = 0;
  for (int64_t size : sizes) {
    results.emplace_back(window(self, dim, start, size));
    start += size;
  }
  return results;
}

Results split(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Expected<size_t> dim = dimOf(call, 2, 0);
  if (!dim) {
    return dim.status();
  }
  int64_t chunk = call.integer(1);
  int64_t size = self.rank() == 0 ? -1 : self.sizes[*dim];
  if (size < 0 || chunk < 0 || (chunk == 0 && size > 0) ||
      (chunk > 0 && size / chunk > kMaxParts)) {
    return refuse(call, "sizes " + shown(self.sizes) +
                            " do not split into chunks of " +
                            std::to_string(chunk));
  }
  Sizes sizes;
  for (int64_t start = 0; start < size; start += chunk) {
    sizes.push_back(std::min(chunk, size - start));
  }
  if (sizes.empty()) {
    sizes.push_back(0);
  }
  return consecutiveWindows(self, *dim, sizes);
}

Results splitWithSizes(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Expected<size_t> dim = dimOf(call, 2, 0);
  if (!dim) {
    return dim.status();
  }
  Sizes sizes = call.integers(1);
  int64_t total = 0;
  for (int64_t size : sizes) {
    total = size < 0 ? -1 : total;
    if (total < 0 || __builtin_add_overflow(total, size, &total)) {
      total = -1;
      break;
    }
  }
  if (self.rank() == 0 || total != self.sizes[*dim]) {
    return refuse(call, "sizes " + shown(self.sizes) +
                            " do not split into parts of " + shown(sizes));
  }
  return consecutiveWindows(self, *dim, sizes);
}

Results unbind(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Expected<size_t> dim = dimOf(call, 1, 0);
  if (!dim) {
    return dim.status();
  }
  if (self.rank() == 0 || self.sizes[*dim] > kMaxParts) {
    return refuse(call, "sizes " + shown(self.sizes) +
                            " have no dimension of " + "at most " +
                            std::to_string(kMaxParts) + " parts");
  }
  ResultLayouts results = consecutiveWindows(
      self, *dim, Sizes(static_cast<size_t>(self.sizes[*dim]), 1));
  auto position = static_cast<std::ptrdiff_t>(*dim);
  for (std::optional<ResultLayout> &result : results) {
    TensorLayout &tensor = result->tensor;
    tensor.sizes.erase(tensor.sizes.begin() + position);
    tensor.strides.erase(tensor.strides.begin() + position);
  }
  return results;
}

/// The diagonal of dimensions 2 and 3 of the arguments becomes the last one.
Results diagonal(const OperatorCall &call) {
  TensorLayout self = call.tensor(0);
  Expected<size_t> first = dimOf(call, 2, 0);
  Expected<size_t> second = dimOf(call, 3, 0);
  if (!first || !second) {
    return first ? second.status() : first.status();
  }
  int64_t offset = call.integer(1);
  if (*first == *second || self.rank() < 2 || offset < -kMaxDiagonal ||
      offset > kMaxDiagonal) {
    return refuse(call, "expected two dimensions of sizes " +
                            shown(self.sizes) + " and a small offset");
  }
  size_t shifted = offset >= 0 ? *second : *first;
  int64_t skipped = offset >= 0 ? offset : -offset;
  int64_t length = std::min(self.sizes[*first] + std::min<int64_t>(offset, 0),
                            self.sizes[*second] - std::max<int64_t>(offset, 0));
  length = std::max<int64_t>(length, 0);
  int64_t start =
      length == 0 ? 0 : saturatingProduct(skipped, self.strides[shifted]);
  int64_t stride = saturatingSum(self.strides[*first], self.strides[*second]);
  for (size_t dim : {std::max(*first, *second), std::min(*first, *second)}) {
    auto position = static_cast<std::ptrdiff_t>(dim);
    self.sizes.erase(self.sizes.begin() + position);
    self.strides.erase(self.strides.begin() + position);
  }
  self.sizes.push_back(length);
  self.strides.push_back(stride);
  return one(viewOf(0, std::move(self), start));
}

/// Windows of one dimension, `step` apart, along a new last dimension.
Results unfold(const OperatorCall &call) {
  TensorLayout self = call.tensor(0);
  Expected<size_t> dim = dimOf(call, 1, 0);
  if (!dim) {
    return dim.status();
  }
  int64_t size = call.integer(2);
  int64_t step = call.integer(3);
  int64_t whole = self.rank() == 0 ? 1 : self.sizes[*dim];
  if (size < 0 || size > whole || step <= 0) {
    return refuse(call, "expected windows within sizes " + shown(self.sizes) +
                            ", got size " + std::to_string(size) +
                            " and step " + std::to_string(step));
  }
  self.sizes.push_back(size);
  self.strides.push_back(self.rank() == 1 ? 1 : self.strides[*dim]);
  if (self.rank() > 1) {
    self.sizes[*dim] = saturatingSum((whole - size) / step, 1);
    self.strides[*dim] = saturatingProduct(self.strides[*dim], step);
  }
  return one(viewOf(0, std::move(self)));
}

constexpr Rule windowRule(std::string_view name,
                          Results (*layout)(const OperatorCall &)) {
  return {.name = name, .layout = layout, .cost = viewCost};
}

constexpr Rule kRules[] = {
    windowRule("diagonal.default", diagonal),
    windowRule("select.int", select),
    windowRule("slice.Tensor", slice),
    windowRule("split.Tensor", split),
    windowRule("split_with_sizes.default", splitWithSizes),
    windowRule("unbind.int", unbind),
    windowRule("unfold.default", unfold),
};

} // namespace

std::span<const Rule> windowRules() { return kRules; }

} // namespace sfsdp::rules
