//===- Pooling.cpp - Maxima and means of windows ------------------------===//
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

struct Window {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;
};

/// Element `dim` of a list of two, or the only element.
int64_t pick(const Sizes &list, size_t dim) {
  return list.size() == 1 ? list[0] : list[dim];
}

bool isPair(const Sizes &list) { return list.size() == 1 || list.size() == 2; }

/// Windows that fit into `size`; negative if none does. With `roundsUp` one
/// more that begins inside of the input or its left padding.
int64_t windowCount(int64_t size, const Window &window, bool roundsUp) {
  constexpr int64_t kLargest = int64_t{1} << 30;
  for (int64_t number :
       {size, window.kernel, window.stride, window.padding, window.dilation}) {
    if (number < 0 || number > kLargest) {
      return -1;
    }
  }
  if (window.kernel == 0 || window.stride == 0 || window.dilation == 0 ||
      window.padding > window.kernel / 2) {
    return -1;
  }
  int64_t room =
      size + 2 * window.padding - window.dilation * (window.kernel - 1) - 1;
  room += roundsUp ? window.stride - 1 : 0;
  if (room < 0) {
    return -1;
  }
  int64_t count = room / window.stride + 1;
  bool beginsOutside =
      roundsUp && (count - 1) * window.stride >= size + window.padding;
  return count - (beginsOutside ? 1 : 0);
}

/// Sizes of the result for `self`, whose last two dimensions are pooled; the
/// lists begin at argument `kernel`.
Expected<Sizes> pooledSizes(const OperatorCall &call, const TensorLayout &self,
                            size_t kernel) {
  Sizes kernels = call.integers(kernel);
  Sizes strides = call.integers(kernel + 1);
  strides = strides.empty() ? kernels : strides;
  Sizes paddings = call.integers(kernel + 2);
  Sizes dilations = call.integers(kernel + 3);
  Status failure = refuse(call, "a window of " + shown(kernels) +
                                    " does not fit sizes " + shown(self.sizes));
  if ((self.rank() != 3 && self.rank() != 4) || !isPair(kernels) ||
      !isPair(strides) || !isPair(paddings) || !isPair(dilations)) {
    return failure;
  }
  Sizes sizes = self.sizes;
  for (size_t dim : {0, 1}) {
    int64_t &size = sizes[sizes.size() - 2 + dim];
    size = windowCount(size,
                       {pick(kernels, dim), pick(strides, dim),
                        pick(paddings, dim), pick(dilations, dim)},
                       call.boolean(kernel + 4));
    if (size < 1) {
      return failure;
    }
  }
  return sizes;
}

TensorLayout inFormatOf(const TensorLayout &self, const Sizes &sizes) {
  return {self.dtype, sizes, *stridesIn(suggestedFormat(self), sizes)};
}

/// (maxima, where they are).
Results maxPool(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Expected<Sizes> sizes = pooledSizes(call, self, 1);
  if (!sizes) {
    return sizes.status();
  }
  Sizes strides = *stridesIn(suggestedFormat(self), *sizes);
  return ResultLayouts{fresh({self.dtype, *sizes, strides}),
                       fresh({DType::Int64, *sizes, strides})};
}

Results maxPoolBackward(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(1);
  Expected<Sizes> sizes = pooledSizes(call, self, 2);
  if (!sizes) {
    return sizes.status();
  }
  if (call.tensor(0).sizes != *sizes) {
    return refuse(call, "expected a gradient of sizes " + shown(*sizes) +
                            ", got " + shown(call.tensor(0).sizes));
  }
  return one(fresh(
      {self.dtype, self.sizes, *stridesIn(suggestedFormat(self), self.sizes)}));
}

/// avg_pool2d, whose windows have no dilation.
Expected<Sizes> averagedSizes(const OperatorCall &call,
                              const TensorLayout &self, size_t kernel) {
  OperatorCall dilated = call;
  auto position = static_cast<std::ptrdiff_t>(kernel + 3);
  dilated.arguments.insert(dilated.arguments.begin() + position, Sizes{1});
  return pooledSizes(dilated, self, kernel);
}

Results averagePool(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Expected<Sizes> sizes = averagedSizes(call, self, 1);
  return sizes ? one(fresh(inFormatOf(self, *sizes))) : Results(sizes.status());
}

Results averagePoolBackward(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(1);
  Expected<Sizes> sizes = averagedSizes(call, self, 2);
  if (!sizes) {
    return sizes.status();
  }
  if (call.tensor(0).sizes != *sizes) {
    return refuse(call, "expected a gradient of sizes " + shown(*sizes) +
                            ", got " + shown(call.tensor(0).sizes));
  }
  return one(fresh(inFormatOf(self, self.sizes)));
}

/// _adaptive_avg_pool2d: to the sizes asked for.
Results adaptivePool(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Sizes asked = call.integers(1);
  if ((self.rank() != 3 && self.rank() != 4) || asked.size() != 2 ||
      !areValidSizes(asked)) {
    return refuse(call, "expected 3 or 4 dimensions and 2 sizes, got " +
                            shown(self.sizes) + " and " + shown(asked));
  }
  Sizes sizes = self.sizes;
  std::copy(asked.begin(), asked.end(), sizes.end() - 2);
  return one(fresh(inFormatOf(self, sizes)));
}

Results adaptivePoolBackward(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(1);
  return one(fresh(inFormatOf(self, self.sizes)));
}

constexpr Rule kRules[] = {
    {.name = "_adaptive_avg_pool2d.default",
     .layout = adaptivePool,
     .cost = reductionCost},
    {.name = "_adaptive_avg_pool2d_backward.default",
     .layout = adaptivePoolBackward,
     .cost = pointwiseCost},
    {.name = "avg_pool2d.default",
     .layout = averagePool,
     .cost = reductionCost},
    {.name = "avg_pool2d_backward.default",
     .layout = averagePoolBackward,
     .cost = pointwiseCost},
    {.name = "max_pool2d_with_indices.default",
     .layout = maxPool,
     .cost = reductionCost},
    {.name = "max_pool2d_with_indices_backward.default",
     .layout = maxPoolBackward,
     .cost = pointwiseCost},
};

} // namespace

std::span<const Rule> poolingRules() { return kRules; }

} // namespace sfsdp::rules
