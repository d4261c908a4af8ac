//===- Convolution.cpp - Convolutions -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// input [N, C, spatial…], weight [O, C / groups, kernel…], or when transposed
// [C, O / groups, kernel…]. Channels go last if input or weight have them last.
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

using Sizes = std::vector<int64_t>;

/// The arguments of a convolution, one number per spatial dimension.
struct Geometry {
  TensorLayout input;
  TensorLayout weight;
  Sizes stride;
  Sizes padding;
  Sizes dilation;
  bool transposed = false;
  Sizes outputPadding;
  int64_t groups = 1;
};

bool isRowMajor(const TensorLayout &tensor) {
  return tensor.strides == contiguousStrides(tensor.sizes);
}

/// A list of one number stands for all dimensions.
Sizes spread(Sizes list, size_t dims) {
  return list.size() == 1 ? Sizes(dims, list[0]) : list;
}

/// Reads input and weight at `input` and `input` + 1, and from `stride` on the
/// numbers.
Expected<Geometry> readGeometry(const OperatorCall &call, size_t input,
                                size_t stride) {
  Geometry geometry = {call.tensor(input), call.tensor(input + 1)};
  size_t rank = geometry.input.sizes.size();
  if (rank < 3 || rank > 5 || geometry.weight.sizes.size() != rank) {
    return refuse(call, "expected input and weight of 3 to 5 dimensions, got " +
                            shown(geometry.input.sizes) + " and " +
                            shown(geometry.weight.sizes));
  }
  size_t dims = rank - 2;
  geometry.stride = spread(call.integers(stride), dims);
  geometry.padding = spread(call.integers(stride + 1), dims);
  geometry.dilation = spread(call.integers(stride + 2), dims);
  geometry.transposed = call.boolean(stride + 3);
  geometry.outputPadding = spread(call.integers(stride + 4), dims);
  geometry.groups = call.integer(stride + 5);
  bool complete =
      geometry.stride.size() == dims && geometry.padding.size() == dims &&
      geometry.dilation.size() == dims && geometry.outputPadding.size() == dims;
  if (!complete || geometry.groups <= 0) {
    return refuse(call, "expected " + std::to_string(dims) +
                            " numbers per list and positive groups");
  }
  int64_t channels = geometry.weight.sizes[geometry.transposed ? 0 : 1];
  channels = geometry.transposed ? channels
                                 : saturatingProduct(channels, geometry.groups);
  if (geometry.input.sizes[1] != channels ||
      geometry.input.dtype != geometry.weight.dtype) {
    return refuse(call, "expected an input of " + std::to_string(channels) +
                            " channels and the weight's dtype, got sizes " +
                            shown(geometry.input.sizes));
  }
  return geometry;
}

/// Size of one spatial dimension of the result; negative if the kernel does not
/// fit. Sizes beyond 2^40 count as not fitting, which keeps sums in range.
int64_t outputSize(const Geometry &geometry, size_t dim) {
  constexpr int64_t kLargest = int64_t{1} << 40;
  int64_t input = geometry.input.sizes[dim + 2];
  int64_t kernel = geometry.weight.sizes[dim + 2];
  int64_t stride = geometry.stride[dim];
  int64_t padding = geometry.padding[dim];
  int64_t dilation = geometry.dilation[dim];
  for (int64_t number : {input, kernel, stride, padding, dilation}) {
    if (number < 0 || number > kLargest) {
      return -1;
    }
  }
  int64_t reach = saturatingProduct(dilation, kernel - 1);
  if (stride == 0 || kernel == 0 || reach > kLargest) {
    return -1;
  }
  if (geometry.transposed) {
    int64_t added = geometry.outputPadding[dim];
    int64_t span = saturatingProduct(input - 1, stride);
    bool fits =
        input > 0 && span <= kLargest && added >= 0 && added <= kLargest;
    return fits ? span - 2 * padding + reach + added + 1 : -1;
  }
  int64_t room = input + 2 * padding - reach - 1;
  return room < 0 ? -1 : room / stride + 1;
}

Expected<Sizes> outputSizes(const OperatorCall &call,
                            const Geometry &geometry) {
  int64_t outputs = geometry.weight.sizes[geometry.transposed ? 1 : 0];
  outputs = geometry.transposed ? saturatingProduct(outputs, geometry.groups)
                                : outputs;
  Sizes sizes = {geometry.input.sizes[0], outputs};
  for (size_t dim = 0; dim < geometry.stride.size(); ++dim) {
    sizes.push_back(outputSize(geometry, dim));
  }
  if (!areValidSizes(sizes)) {
    return refuse(call, "a kernel of sizes " + shown(geometry.weight.sizes) +
                            " does not fit an input of sizes " +
                            shown(geometry.input.sizes));
  }
  return sizes;
}

/// The format of results and gradients. An input of rank 3 is made row-major
/// first. Of volumes and empty batches only row-major ones have a rule, because
/// which kernel runs, and so the format, depends on much.
Expected<MemoryFormat> formatOf(const OperatorCall &call,
                                const Geometry &geometry) {
  const TensorLayout &input = geometry.input;
  bool isEmpty = input.sizes[0] == 0;
  if (input.rank() == 4 && !isEmpty) {
    MemoryFormat format = suggestedFormat(geometry.weight);
    return format == MemoryFormat::Contiguous ? suggestedFormat(input) : format;
  }
  bool isLine = input.rank() == 3 && !isEmpty;
  if (isRowMajor(geometry.weight) && (isLine || isRowMajor(input))) {
    return MemoryFormat::Contiguous;
  }
  return refuse(call, "expected a row-major input and weight for sizes " +
                          shown(input.sizes) + ", got strides " +
                          shown(input.strides) + " and " +
                          shown(geometry.weight.strides) +
                          "; call contiguous() on both");
}

ResultLayout freshIn(MemoryFormat format, DType dtype, const Sizes &sizes) {
  return fresh({dtype, sizes, *stridesIn(format, sizes)});
}

Results convolution(const OperatorCall &call) {
  Expected<Geometry> geometry = readGeometry(call, 0, 3);
  if (!geometry) {
    return geometry.status();
  }
  Expected<Sizes> sizes = outputSizes(call, *geometry);
  if (!sizes) {
    return sizes.status();
  }
  Expected<MemoryFormat> format = formatOf(call, *geometry);
  if (!format) {
    return format.status();
  }
  return one(freshIn(*format, geometry->input.dtype, *sizes));
}

/// Gradients of input, weight and bias, as the mask asks.
Results convolutionBackward(const OperatorCall &call) {
  Expected<Geometry> geometry = readGeometry(call, 1, 4);
  if (!geometry) {
    return geometry.status();
  }
  Expected<Sizes> sizes = outputSizes(call, *geometry);
  if (!sizes) {
    return sizes.status();
  }
  if (call.tensor(0).sizes != *sizes) {
    return refuse(call, "expected a gradient of sizes " + shown(*sizes) +
                            ", got " + shown(call.tensor(0).sizes));
  }
  Expected<MemoryFormat> format = formatOf(call, *geometry);
  if (!format) {
    return format.status();
  }
  DType dtype = geometry->input.dtype;
  std::vector<bool> mask = call.booleans(10);
  mask.resize(3);
  ResultLayouts results(3);
  if (mask[0]) {
    results[0] = freshIn(*format, dtype, geometry->input.sizes);
  }
  if (mask[1]) {
    results[1] = freshIn(*format, dtype, geometry->weight.sizes);
  }
  if (mask[2]) {
    results[2] = freshContiguous(dtype, {(*sizes)[1]});
  }
  return results;
}

/// As a matrix product: of all positions of the smaller image side, by output
/// channels, over the taps of a kernel.
CostFacts gemmFacts(const OperatorCall &call, const ResultLayouts &results,
                    const Geometry &geometry, const TensorLayout &output) {
  CostFacts cost = movedBytes(CostClass::Gemm, call, results);
  const TensorLayout &image = geometry.transposed ? geometry.input : output;
  int64_t channels = image.sizes[1];
  const Sizes &weight = geometry.weight.sizes;
  cost.batch = geometry.groups;
  cost.m = channels == 0 ? 0 : image.elementCount() / channels;
  cost.n = channels / geometry.groups;
  cost.k = 1;
  for (size_t dim = 1; dim < weight.size(); ++dim) {
    cost.k = saturatingProduct(cost.k, weight[dim]);
  }
  cost.flops = 2;
  for (int64_t factor : {cost.batch, cost.m, cost.n, cost.k}) {
    cost.flops = saturatingProduct(cost.flops, factor);
  }
  return cost;
}

/// What the kernels of oneDNN hold beside their results: the weight and an
/// image in their own layout of channels, by `--profile` of the built-in
/// models.
int64_t reorderedBytes(const Geometry &geometry, const TensorLayout &image) {
  return geometry.weight.bytes() + image.bytes();
}

CostFacts convolutionCost(const OperatorCall &call,
                          const ResultLayouts &results) {
  Geometry geometry = *readGeometry(call, 0, 3);
  CostFacts cost = gemmFacts(call, results, geometry, results[0]->tensor);
  cost.workspaceBytes = reorderedBytes(geometry, geometry.input);
  return cost;
}

/// One product as large as the forward's per gradient of input and weight.
CostFacts backwardCost(const OperatorCall &call, const ResultLayouts &results) {
  Geometry geometry = *readGeometry(call, 1, 4);
  CostFacts cost = gemmFacts(call, results, geometry, call.tensor(0));
  cost.workspaceBytes = reorderedBytes(geometry, call.tensor(0));
  int64_t products = results[0].has_value() + results[1].has_value();
  cost.flops = saturatingProduct(cost.flops, products);
  return cost;
}

constexpr Rule kRules[] = {
    {.name = "convolution.default",
     .layout = convolution,
     .cost = convolutionCost},
    {.name = "convolution_backward.default",
     .layout = convolutionBackward,
     .cost = backwardCost},
};

} // namespace

std::span<const Rule> convolutionRules() { return kRules; }

} // namespace sfsdp::rules
