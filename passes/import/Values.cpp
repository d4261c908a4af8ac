//===- Values.cpp - Tensors of a graph by name --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Values.h.
//
// Tested by test/unit/passes/import/CapturedStepTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/import/Values.h"

#include <limits>

namespace sfsdp::exported {

std::string describeSymbol(const Program &program, const Symbol &symbol) {
  auto range = program.ranges.find(symbol.name);
  if (range == program.ranges.end()) {
    return symbol.name;
  }
  auto bound = [](std::optional<int64_t> value) {
    return value ? std::to_string(*value) : std::string("unbounded");
  };
  return symbol.name + " (" + bound(range->second.least) + " to " +
         bound(range->second.most) + ")";
}

static std::string describeList(const std::vector<int64_t> &numbers) {
  std::string text;
  for (int64_t number : numbers) {
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  }
  return "[" + text + "]";
}

std::string describeLayout(const rules::TensorLayout &layout) {
  return std::string(runtime::nameOf(layout.dtype)) + " " +
         describeList(layout.sizes) + " strides " +
         describeList(layout.strides);
}

/// Whether 64 bits can count the bytes of the tensor and reach the last one.
static bool isAddressable(const TensorMetadata &metadata) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLargestElementBytes = 16;
  int64_t elements = 1;
  int64_t last = 0;
  for (size_t dim = 0; dim < metadata.sizes.size(); ++dim) {
    int64_t size = metadata.sizes[dim];
    int64_t stride = metadata.strides[dim];
    if (size < 0 || stride < 0) {
      return false;
    }
    // An empty dimension must not hide that the others overflow.
    elements = rules::saturatingProduct(elements, std::max<int64_t>(size, 1));
    int64_t span =
        rules::saturatingProduct(std::max<int64_t>(size - 1, 0), stride);
    if (span > kMost - last) {
      return false;
    }
    last += span;
  }
  return std::max(elements, last) < kMost / kLargestElementBytes;
}

/// The layout that `metadata` gives; an error when a plan can't hold it.
static Expected<rules::TensorLayout>
usableLayout(const Program &program, const TensorMetadata &metadata) {
  if (metadata.symbol) {
    return Status::error(
        "has the symbolic size " + describeSymbol(program, *metadata.symbol) +
        " in dimension " + std::to_string(metadata.symbolicDim) +
        ": expected static shapes; capture without dynamic "
        "shapes, once per length");
  }
  if (!metadata.dtype) {
    return Status::error("has a dtype that no plan can hold (code " +
                         std::to_string(metadata.dtypeCode) + ")");
  }
  if (!metadata.isStrided) {
    return Status::error("is sparse or opaque: expected a strided tensor");
  }
  if (!isAddressable(metadata)) {
    return Status::error("has impossible sizes or strides: expected a tensor "
                         "that 64 bits can address");
  }
  return rules::TensorLayout{*metadata.dtype, metadata.sizes, metadata.strides};
}

Expected<ValueId> ValueTable::define(const std::string &name) {
  std::string subject = "tensor \"" + name + "\" ";
  auto metadata = program.tensors.find(name);
  if (metadata == program.tensors.end()) {
    return Status::error(subject + "has no entry in tensor_values");
  }
  Expected<rules::TensorLayout> layout =
      usableLayout(program, metadata->second);
  if (!layout) {
    return Status::error(subject + layout.message());
  }
  if (!ids.emplace(metadata->first, values.size()).second) {
    return Status::error(subject + "is defined twice");
  }
  values.push_back({name, std::move(*layout)});
  return values.size() - 1;
}

Expected<ValueId> ValueTable::find(const std::string &name) const {
  auto found = ids.find(name);
  if (found == ids.end()) {
    return Status::error("tensor \"" + name +
                         "\" is used before it is "
                         "defined");
  }
  return found->second;
}

int64_t ValueTable::capturedOffset(ValueId id) const {
  return program.tensors.at(values[id].name).storageOffset;
}

} // namespace sfsdp::exported
