//===- Views.cpp - Other shapes of the same memory ----------------------===//
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

/// alias, detach.
Results identity(const OperatorCall &call) {
  return one(viewOf(0, call.tensor(0)));
}

//===----------------------------------------------------------------------===//
// Reshaping
//===----------------------------------------------------------------------===//

/// The sizes asked for, with -1 replaced by what is left.
Expected<Sizes> inferSizes(const OperatorCall &call, const Sizes &asked,
                           int64_t elements) {
  Status failure = refuse(
      call, "expected sizes for " + std::to_string(elements) +
                " elements, at most one of them -1, got " + shown(asked));
  Sizes sizes = asked;
  auto inferred = std::ranges::find(sizes, -1);
  bool infers = inferred != sizes.end();
  if (infers) {
    *inferred = 1;
  }
  if (!areValidSizes(sizes)) {
    return failure;
  }
  int64_t known = 1;
  for (int64_t size : sizes) {
    known *= size;
  }
  if (!infers) {
    return known == elements ? Expected<Sizes>(sizes) : failure;
  }
  if (known == 0 || elements % known != 0) {
    return failure;
  }
  *inferred = elements / known;
  return sizes;
}

/// view, _unsafe_view.
Results view(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Expected<Sizes> sizes =
      inferSizes(call, call.integers(1), self.elementCount());
  if (!sizes) {
    return sizes.status();
  }
  std::optional<Sizes> strides = viewStrides(self, *sizes);
  if (!strides) {
    return refuse(call, "sizes " + shown(*sizes) + " are no view of sizes " +
                            shown(self.sizes) + " with strides " +
                            shown(self.strides));
  }
  return one(viewOf(0, {self.dtype, *sizes, *strides}));
}

Results unsqueeze(const OperatorCall &call) {
  TensorLayout self = call.tensor(0);
  int64_t asked = call.integer(1);
  std::optional<size_t> dim = wrapDim(asked, self.rank() + 1);
  if (!dim) {
    return refuse(call, "expected a dimension of the result of rank " +
                            std::to_string(self.rank() + 1) + ", got " +
                            std::to_string(asked));
  }
  int64_t stride =
      *dim == self.sizes.size()
          ? 1
          : saturatingProduct(self.sizes[*dim], self.strides[*dim]);
  auto position = static_cast<std::ptrdiff_t>(*dim);
  self.sizes.insert(self.sizes.begin() + position, 1);
  self.strides.insert(self.strides.begin() + position, stride);
  return one(viewOf(0, std::move(self)));
}

/// `self` without those of `dims` that have size 1.
TensorLayout withoutUnitDims(const TensorLayout &self,
                             const std::vector<bool> &dims) {
  TensorLayout result = {self.dtype, {}, {}};
  for (size_t dim = 0; dim < self.sizes.size(); ++dim) {
    if (dims[dim] && self.sizes[dim] == 1) {
      continue;
    }
    result.sizes.push_back(self.sizes[dim]);
    result.strides.push_back(self.strides[dim]);
  }
  return result;
}

Results squeezeAll(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  std::vector<bool> dims(self.sizes.size(), true);
  return one(viewOf(0, withoutUnitDims(self, dims)));
}

/// squeeze.dim, squeeze.dims.
Results squeezeDims(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  std::optional<int64_t> single = call.optionalInteger(1);
  Sizes asked = single ? Sizes{*single} : call.integers(1);
  std::vector<bool> dims(std::max<size_t>(self.sizes.size(), 1), false);
  for (int64_t dim : asked) {
    std::optional<size_t> wrapped = wrapDim(dim, self.rank());
    if (!wrapped || dims[*wrapped]) {
      return refuse(call, "expected different dimensions of sizes " +
                              shown(self.sizes) + ", got " + shown(asked));
    }
    dims[*wrapped] = true;
  }
  return one(viewOf(0, withoutUnitDims(self, dims)));
}

Results expand(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Sizes asked = call.integers(1);
  Sizes sizes = asked;
  size_t added = sizes.size() - std::min(sizes.size(), self.sizes.size());
  for (size_t dim = added; dim < sizes.size(); ++dim) {
    if (sizes[dim] == -1) {
      sizes[dim] = self.sizes[dim - added];
    }
  }
  if (!areValidSizes(sizes) || broadcastSizes(self.sizes, sizes) != sizes) {
    return refuse(call, "sizes " + shown(self.sizes) + " do not expand to " +
                            shown(asked));
  }
  return one(viewOf(0, expandTo(self, sizes)));
}

//===----------------------------------------------------------------------===//
// Permuting
//===----------------------------------------------------------------------===//

TensorLayout withSwapped(TensorLayout tensor, size_t first, size_t second) {
  if (!tensor.sizes.empty()) {
    std::swap(tensor.sizes[first], tensor.sizes[second]);
    std::swap(tensor.strides[first], tensor.strides[second]);
  }
  return tensor;
}

Results t(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  if (self.rank() > 2) {
    return refuse(call, "expected at most 2 dimensions, got sizes " +
                            shown(self.sizes));
  }
  return one(viewOf(0, self.rank() == 2 ? withSwapped(self, 0, 1) : self));
}

Results transpose(const OperatorCall &call) {
  Expected<size_t> first = dimOf(call, 1, 0);
  if (!first) {
    return first.status();
  }
  Expected<size_t> second = dimOf(call, 2, 0);
  if (!second) {
    return second.status();
  }
  return one(viewOf(0, withSwapped(call.tensor(0), *first, *second)));
}

Results permute(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Sizes order = call.integers(1);
  TensorLayout result = {self.dtype, {}, {}};
  std::vector<bool> seen(self.sizes.size());
  for (int64_t asked : order) {
    std::optional<size_t> dim = wrapDim(asked, self.rank());
    if (!dim || *dim >= seen.size() || seen[*dim]) {
      break;
    }
    seen[*dim] = true;
    result.sizes.push_back(self.sizes[*dim]);
    result.strides.push_back(self.strides[*dim]);
  }
  if (order.size() != self.sizes.size() ||
      result.sizes.size() != order.size()) {
    return refuse(call, "expected an order of the dimensions of sizes " +
                            shown(self.sizes) + ", got " + shown(order));
  }
  return one(viewOf(0, std::move(result)));
}

constexpr Rule viewRule(std::string_view name,
                        Results (*layout)(const OperatorCall &)) {
  return {.name = name, .layout = layout, .cost = viewCost};
}

constexpr Rule identityRule(std::string_view name) {
  Rule rule = viewRule(name, identity);
  rule.isIdentity = true;
  return rule;
}

constexpr Rule kRules[] = {
    viewRule("_unsafe_view.default", view),
    identityRule("alias.default"),
    identityRule("detach.default"),
    identityRule("lift_fresh.default"),
    viewRule("expand.default", expand),
    viewRule("permute.default", permute),
    viewRule("squeeze.default", squeezeAll),
    viewRule("squeeze.dim", squeezeDims),
    viewRule("squeeze.dims", squeezeDims),
    viewRule("t.default", t),
    viewRule("transpose.int", transpose),
    viewRule("unsqueeze.default", unsqueeze),
    viewRule("view.default", view),
};

} // namespace

std::span<const Rule> viewRules() { return kRules; }

} // namespace sfsdp::rules
