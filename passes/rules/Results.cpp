//===- Results.cpp - Words in which rules answer --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/passes/rules/LayoutFixtureTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/Results.h"

#include "passes/rules/LayoutAlgorithms.h"

#include <algorithm>
#include <cassert>

namespace sfsdp::rules {

ResultLayout fresh(TensorLayout tensor) {
  return {std::move(tensor), std::nullopt, 0};
}

ResultLayout freshContiguous(DType dtype, std::vector<int64_t> sizes) {
  return fresh(contiguousLayout(dtype, std::move(sizes)));
}

ResultLayout viewOf(size_t index, TensorLayout tensor, int64_t offset) {
  return {std::move(tensor), index, offset};
}

Results one(ResultLayout result) { return ResultLayouts{std::move(result)}; }

Status refuse(const OperatorCall &call, const std::string &reason) {
  return Status::error(call.schema->name + ": " + reason);
}

size_t indexOf(const OperatorCall &call, std::string_view parameter) {
  const std::vector<Parameter> &parameters = call.schema->parameters;
  auto found = std::ranges::find(parameters, parameter, &Parameter::name);
  assert(found != parameters.end() && "the schema has no such parameter");
  return static_cast<size_t>(found - parameters.begin());
}

std::string shown(const std::vector<int64_t> &sizes) {
  std::string text = "[";
  for (int64_t size : sizes) {
    text += text.size() == 1 ? "" : ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

Status requireRank(const OperatorCall &call, size_t index, int64_t rank) {
  const std::vector<int64_t> &sizes = call.tensor(index).sizes;
  if (static_cast<int64_t>(sizes.size()) == rank) {
    return Status();
  }
  return refuse(call, "expected '" + call.schema->parameters[index].name +
                          "' of " + std::to_string(rank) +
                          " dimensions, got sizes " + shown(sizes));
}

Expected<size_t> dimOf(const OperatorCall &call, size_t dimIndex,
                       size_t tensorIndex) {
  int64_t dim = call.integer(dimIndex);
  const TensorLayout &tensor = call.tensor(tensorIndex);
  std::optional<size_t> wrapped = wrapDim(dim, tensor.rank());
  if (!wrapped) {
    return refuse(call, "expected '" + call.schema->parameters[dimIndex].name +
                            "' to be a dimension of sizes " +
                            shown(tensor.sizes) + ", got " +
                            std::to_string(dim));
  }
  return *wrapped;
}

} // namespace sfsdp::rules
