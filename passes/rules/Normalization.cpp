//===- Normalization.cpp - Layer, batch and group normalization ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// native_batch_norm has no rule: it writes its running statistics although its
// schema does not say so.
//
// Tested by test/unit/passes/rules/LayoutFixtureTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/Costs.h"
#include "passes/rules/Families.h"
#include "passes/rules/LayoutAlgorithms.h"
#include "passes/rules/Results.h"

#include <algorithm>
#include <initializer_list>

namespace sfsdp::rules {

namespace {

using Sizes = std::vector<int64_t>;

/// The type of statistics: that of the first argument at `indices` that is
/// there, so that bf16 inputs with f32 parameters keep f32 statistics.
DType statisticsType(const OperatorCall &call,
                     std::initializer_list<size_t> indices) {
  for (size_t index : indices) {
    if (const TensorLayout *parameter = call.optionalTensor(index)) {
      return parameter->dtype;
    }
  }
  return call.tensor(0).dtype;
}

/// A result of statistics over `input`. Tracing takes them to have the input's
/// type, whatever the parameters have.
ResultLayout statisticsOf(const TensorLayout &input, DType statistics,
                          Sizes sizes) {
  ResultLayout result = freshContiguous(statistics, std::move(sizes));
  result.traced = input.dtype;
  return result;
}

//===----------------------------------------------------------------------===//
// Layer normalization
//===----------------------------------------------------------------------===//

/// `input`'s sizes with 1 in the normalized dimensions at the end; absent if
/// these are not `normalized`.
std::optional<Sizes> rowSizes(const TensorLayout &input,
                              const Sizes &normalized) {
  bool fits =
      !normalized.empty() && normalized.size() <= input.sizes.size() &&
      std::equal(normalized.rbegin(), normalized.rend(), input.sizes.rbegin());
  if (!fits) {
    return std::nullopt;
  }
  Sizes sizes = input.sizes;
  std::fill(sizes.end() - static_cast<std::ptrdiff_t>(normalized.size()),
            sizes.end(), 1);
  return sizes;
}

/// (output, mean, rstd).
Results layerNorm(const OperatorCall &call) {
  const TensorLayout &input = call.tensor(0);
  Sizes normalized = call.integers(1);
  std::optional<Sizes> rows = rowSizes(input, normalized);
  if (!rows) {
    return refuse(call, "expected sizes that end in " + shown(normalized) +
                            ", got " + shown(input.sizes));
  }
  for (size_t index : {2, 3}) {
    const TensorLayout *parameter = call.optionalTensor(index);
    if (parameter != nullptr && parameter->sizes != normalized) {
      return refuse(call, "expected '" + call.schema->parameters[index].name +
                              "' of sizes " + shown(normalized) + ", got " +
                              shown(parameter->sizes));
    }
  }
  DType statistics = statisticsType(call, {2});
  return ResultLayouts{freshContiguous(input.dtype, input.sizes),
                       statisticsOf(input, statistics, *rows),
                       statisticsOf(input, statistics, *rows)};
}

/// Result `index` if the call's output mask asks for it.
std::optional<ResultLayout> ifAsked(const std::vector<bool> &mask, size_t index,
                                    ResultLayout result) {
  bool asked = index < mask.size() && mask[index];
  return asked ? std::optional<ResultLayout>(std::move(result)) : std::nullopt;
}

Results layerNormBackward(const OperatorCall &call) {
  const TensorLayout &input = call.tensor(1);
  Sizes normalized = call.integers(2);
  if (!rowSizes(input, normalized)) {
    return refuse(call, "expected sizes that end in " + shown(normalized) +
                            ", got " + shown(input.sizes));
  }
  std::vector<bool> mask = call.booleans(7);
  DType parameters = statisticsType(call, {5});
  return ResultLayouts{
      ifAsked(mask, 0, freshContiguous(input.dtype, input.sizes)),
      ifAsked(mask, 1, freshContiguous(parameters, normalized)),
      ifAsked(mask, 2, freshContiguous(parameters, normalized))};
}

//===----------------------------------------------------------------------===//
// Batch normalization
//===----------------------------------------------------------------------===//

constexpr MemoryFormat kFormats[] = {MemoryFormat::Contiguous,
                                     MemoryFormat::ChannelsLast,
                                     MemoryFormat::ChannelsLast3d};

/// The first format in which `tensor` is dense.
std::optional<MemoryFormat> denseFormat(const TensorLayout &tensor) {
  for (MemoryFormat format : kFormats) {
    if (isContiguousIn(tensor, format)) {
      return format;
    }
  }
  return std::nullopt;
}

/// A result like `input`: in the format in which it is dense, else in the one
/// that its strides suggest. `other` is read beside it and must be dense and
/// suggest the same for the former.
TensorLayout likeImages(const TensorLayout &input, const TensorLayout &other) {
  MemoryFormat suggested = suggestedFormat(input);
  std::optional<MemoryFormat> dense = denseFormat(input);
  bool isFast =
      dense && denseFormat(other) && suggestedFormat(other) == suggested;
  MemoryFormat format = isFast ? *dense : suggested;
  return {input.dtype, input.sizes, *stridesIn(format, input.sizes)};
}

Status checkChannels(const OperatorCall &call) {
  if (call.tensor(0).rank() < 2) {
    return refuse(call, "expected at least 2 dimensions, got sizes " +
                            shown(call.tensor(0).sizes));
  }
  return Status();
}

/// (output, saved mean, saved rstd): the saved ones are empty in evaluation.
Results batchNorm(const OperatorCall &call, bool trains, DType statistics) {
  if (Status status = checkChannels(call); !status.ok()) {
    return status;
  }
  const TensorLayout &input = call.tensor(0);
  Sizes saved = {trains ? input.sizes[1] : 0};
  return ResultLayouts{fresh(likeImages(input, input)),
                       statisticsOf(input, statistics, saved),
                       statisticsOf(input, statistics, saved)};
}

Results batchNormWithoutStatistics(const OperatorCall &call) {
  return batchNorm(call, call.boolean(3), statisticsType(call, {1, 2}));
}

Results batchNormInEvaluation(const OperatorCall &call) {
  return batchNorm(call, /*trains=*/false, statisticsType(call, {1, 2, 3, 4}));
}

/// Also returns the updated running mean and variance.
Results functionalBatchNorm(const OperatorCall &call) {
  Results results =
      batchNorm(call, call.boolean(5), statisticsType(call, {1, 2, 3, 4}));
  if (!results) {
    return results;
  }
  for (size_t index : {3, 4}) {
    const TensorLayout &running = call.tensor(index);
    results->emplace_back(fresh(emptyLike(running, running.dtype)));
  }
  return results;
}

Results batchNormBackward(const OperatorCall &call) {
  const TensorLayout &input = call.tensor(1);
  if (input.rank() < 2) {
    return refuse(call, "expected at least 2 dimensions, got sizes " +
                            shown(input.sizes));
  }
  std::vector<bool> mask = call.booleans(9);
  DType parameters = statisticsType(call, {2, 3, 4});
  Sizes channels = {input.sizes[1]};
  return ResultLayouts{
      ifAsked(mask, 0, fresh(likeImages(input, call.tensor(0)))),
      ifAsked(mask, 1, freshContiguous(parameters, channels)),
      ifAsked(mask, 2, freshContiguous(parameters, channels))};
}

//===----------------------------------------------------------------------===//
// Group normalization
//===----------------------------------------------------------------------===//

/// Checks channels and groups at `channels` and `channels` + 2.
Status checkGroups(const OperatorCall &call, const TensorLayout &input,
                   size_t channels) {
  int64_t groups = call.integer(channels + 2);
  bool fits = input.rank() >= 2 && groups > 0 &&
              input.sizes[1] == call.integer(channels) &&
              input.sizes[1] % groups == 0;
  return fits ? Status()
              : refuse(call, "sizes " + shown(input.sizes) +
                                 " do not split into " +
                                 std::to_string(groups) + " groups");
}

TensorLayout inSuggestedFormat(const TensorLayout &input) {
  return {input.dtype, input.sizes,
          *stridesIn(suggestedFormat(input), input.sizes)};
}

/// (output, mean, rstd) with statistics per sample and group.
Results groupNorm(const OperatorCall &call) {
  const TensorLayout &input = call.tensor(0);
  if (Status status = checkGroups(call, input, 4); !status.ok()) {
    return status;
  }
  DType statistics = statisticsType(call, {1, 2});
  Sizes groups = {call.integer(3), call.integer(6)};
  return ResultLayouts{fresh(inSuggestedFormat(input)),
                       statisticsOf(input, statistics, groups),
                       statisticsOf(input, statistics, groups)};
}

Results groupNormBackward(const OperatorCall &call) {
  const TensorLayout &input = call.tensor(1);
  if (Status status = checkGroups(call, input, 6); !status.ok()) {
    return status;
  }
  std::vector<bool> mask = call.booleans(9);
  DType parameters = statisticsType(call, {4});
  Sizes channels = {call.integer(6)};
  // A dense input keeps even strides of dimensions of size 1.
  TensorLayout gradient = isContiguousIn(input, suggestedFormat(input))
                              ? input
                              : inSuggestedFormat(input);
  return ResultLayouts{ifAsked(mask, 0, fresh(std::move(gradient))),
                       ifAsked(mask, 1, freshContiguous(parameters, channels)),
                       ifAsked(mask, 2, freshContiguous(parameters, channels))};
}

/// Statistics, then scale and shift: about 5 FLOPs per element.
CostFacts normalizationCost(const OperatorCall &call,
                            const ResultLayouts &results) {
  CostFacts cost = movedBytes(CostClass::Normalization, call, results);
  cost.flops = saturatingProduct(5, call.tensor(0).elementCount());
  return cost;
}

/// Two sums per row besides the gradients: about 8 FLOPs per element.
CostFacts backwardCost(const OperatorCall &call, const ResultLayouts &results) {
  CostFacts cost = movedBytes(CostClass::Normalization, call, results);
  cost.flops = saturatingProduct(8, call.tensor(0).elementCount());
  return cost;
}

constexpr Rule rule(std::string_view name,
                    Results (*layout)(const OperatorCall &)) {
  return {.name = name, .layout = layout, .cost = normalizationCost};
}

constexpr Rule backwardRule(std::string_view name,
                            Results (*layout)(const OperatorCall &)) {
  return {.name = name, .layout = layout, .cost = backwardCost};
}

constexpr Rule kRules[] = {
    rule("_native_batch_norm_legit.no_stats", batchNormWithoutStatistics),
    rule("_native_batch_norm_legit_functional.default", functionalBatchNorm),
    rule("_native_batch_norm_legit_no_training.default", batchNormInEvaluation),
    backwardRule("native_batch_norm_backward.default", batchNormBackward),
    rule("native_group_norm.default", groupNorm),
    backwardRule("native_group_norm_backward.default", groupNormBackward),
    rule("native_layer_norm.default", layerNorm),
    backwardRule("native_layer_norm_backward.default", layerNormBackward),
};

} // namespace

std::span<const Rule> normalizationRules() { return kRules; }

} // namespace sfsdp::rules
