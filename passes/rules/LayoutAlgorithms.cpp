//===- LayoutAlgorithms.cpp - PyTorch's layout arithmetic -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/passes/rules/LayoutAlgorithmsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/LayoutAlgorithms.h"

#include <algorithm>
#include <numeric>

namespace sfsdp::rules {

using Sizes = std::vector<int64_t>;

namespace {

/// Dimensions from the fastest to the slowest. Empty if the rank does not allow
/// the format.
std::vector<size_t> dimensionOrder(MemoryFormat format, size_t rank) {
  if (format == MemoryFormat::ChannelsLast && rank == 4) {
    return {1, 3, 2, 0};
  }
  if (format == MemoryFormat::ChannelsLast3d && rank == 5) {
    return {1, 4, 3, 2, 0};
  }
  if (format != MemoryFormat::Contiguous) {
    return {};
  }
  std::vector<size_t> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

/// What is known of the order of two dimensions.
enum class Order { First, Second, Unknown };

/// Which dimension of `tensor` is the faster one, `first` or `second`. Strides
/// of 0 say nothing; of equal strides the one of the smaller size is faster.
Order fasterDimension(const Sizes &sizes, const Sizes &strides, size_t first,
                      size_t second) {
  if (strides[first] == 0 || strides[second] == 0) {
    return Order::Unknown;
  }
  if (strides[first] != strides[second]) {
    return strides[first] < strides[second] ? Order::First : Order::Second;
  }
  return sizes[first] > sizes[second] ? Order::Second : Order::Unknown;
}

/// Sorts dimensions from the fastest to the slowest by `faster`, which may not
/// know. An insertion sort, because with unknown pairs the result depends on
/// which pairs are compared, and it must be the one that PyTorch finds.
template <typename Faster>
std::vector<size_t> sortDimensions(size_t rank, Faster faster) {
  std::vector<size_t> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  for (size_t next = 1; next < rank; ++next) {
    size_t moving = next;
    for (size_t candidate = next; candidate-- > 0;) {
      Order found = faster(order[candidate], order[moving]);
      if (found == Order::First) {
        break;
      }
      if (found == Order::Second) {
        std::swap(order[candidate], order[moving]);
        moving = candidate;
      }
    }
  }
  return order;
}

/// True if strides ascend in the order of `format`. Ambiguous cases, those in
/// which channels or all but the first dimension have size 1, count as
/// Contiguous.
bool looksLike(const TensorLayout &tensor, MemoryFormat format) {
  std::vector<size_t> order = dimensionOrder(format, tensor.sizes.size());
  if (order.empty() || tensor.strides[1] == 0) {
    return false;
  }
  int64_t least = 0;
  for (size_t dim : order) {
    bool allUnits = dim == 0 && least == tensor.strides[1];
    if (tensor.sizes[dim] == 0 || tensor.strides[dim] < least || allUnits) {
      return false;
    }
    least = saturatingProduct(tensor.strides[dim], tensor.sizes[dim]);
  }
  return true;
}

/// `tensor`'s strides in the shape it broadcasts to.
Sizes broadcastStrides(const TensorLayout &tensor, const Sizes &sizes) {
  Sizes strides(sizes.size(), 0);
  size_t missing = sizes.size() - tensor.sizes.size();
  for (size_t dim = 0; dim < tensor.sizes.size(); ++dim) {
    bool expands = tensor.sizes[dim] == 1 && sizes[missing + dim] != 1;
    strides[missing + dim] = expands ? 0 : tensor.strides[dim];
  }
  return strides;
}

bool allHaveSizes(const std::vector<TensorLayout> &tensors,
                  const Sizes &sizes) {
  return std::ranges::all_of(tensors, [&](const TensorLayout &tensor) {
    return tensor.sizes == sizes;
  });
}

bool allContiguousIn(const std::vector<TensorLayout> &tensors,
                     MemoryFormat format) {
  return std::ranges::all_of(tensors, [&](const TensorLayout &tensor) {
    return isContiguousIn(tensor, format);
  });
}

/// The strides that all share, if they do and are dense.
bool allDenseAlike(const std::vector<TensorLayout> &tensors) {
  return std::ranges::all_of(tensors, [&](const TensorLayout &tensor) {
    return isNonOverlappingAndDense(tensor) &&
           tensor.strides == tensors.front().strides;
  });
}

/// The general case: order the dimensions by the operands' strides.
Sizes orderedStrides(const std::vector<TensorLayout> &operands,
                     const Sizes &sizes) {
  // Bytes, because operands of several element sizes take part; PyTorch
  // compares only strides of one operand, so elements do as well.
  std::vector<Sizes> strides;
  for (const TensorLayout &operand : operands) {
    strides.push_back(broadcastStrides(operand, sizes));
  }
  std::vector<size_t> order =
      sortDimensions(sizes.size(), [&](size_t first, size_t second) {
        for (const Sizes &operand : strides) {
          Order found = fasterDimension(sizes, operand, first, second);
          if (found != Order::Unknown) {
            return found;
          }
        }
        return Order::Unknown;
      });
  if (order == dimensionOrder(MemoryFormat::Contiguous, sizes.size())) {
    return contiguousStrides(sizes);
  }
  Sizes result(sizes.size());
  int64_t stride = 1;
  for (size_t dim : order) {
    result[dim] = stride;
    stride = saturatingProduct(stride, sizes[dim]);
  }
  return result;
}

} // namespace

bool isContiguousIn(const TensorLayout &tensor, MemoryFormat format) {
  if (format == MemoryFormat::Contiguous) {
    return tensor.isContiguous();
  }
  std::vector<size_t> order = dimensionOrder(format, tensor.sizes.size());
  int64_t expected = 1;
  for (size_t dim : order) {
    if (tensor.sizes[dim] == 1) {
      continue;
    }
    if (tensor.strides[dim] != expected) {
      return false;
    }
    expected = saturatingProduct(expected, tensor.sizes[dim]);
  }
  return !order.empty();
}

bool isNonOverlappingAndDense(const TensorLayout &tensor) {
  if (tensor.isContiguous() ||
      isContiguousIn(tensor, MemoryFormat::ChannelsLast) ||
      isContiguousIn(tensor, MemoryFormat::ChannelsLast3d)) {
    return true;
  }
  std::vector<std::pair<int64_t, int64_t>> strideAndSize;
  for (size_t dim = 0; dim < tensor.sizes.size(); ++dim) {
    if (tensor.sizes[dim] > 1) {
      strideAndSize.emplace_back(tensor.strides[dim], tensor.sizes[dim]);
    }
  }
  std::ranges::sort(strideAndSize);
  int64_t expected = 1;
  for (auto [stride, size] : strideAndSize) {
    if (stride != expected) {
      return false;
    }
    expected = saturatingProduct(expected, size);
  }
  return true;
}

MemoryFormat suggestedFormat(const TensorLayout &tensor) {
  for (MemoryFormat format :
       {MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d}) {
    if (looksLike(tensor, format)) {
      return format;
    }
  }
  return MemoryFormat::Contiguous;
}

std::optional<Sizes> stridesIn(MemoryFormat format, const Sizes &sizes) {
  if (format == MemoryFormat::Contiguous) {
    return contiguousStrides(sizes);
  }
  std::vector<size_t> order = dimensionOrder(format, sizes.size());
  if (order.empty()) {
    return std::nullopt;
  }
  Sizes strides(sizes.size());
  int64_t stride = 1;
  for (size_t dim : order) {
    strides[dim] = stride;
    stride = saturatingProduct(stride, std::max<int64_t>(sizes[dim], 1));
  }
  return strides;
}

Sizes preservedStrides(const TensorLayout &tensor) {
  if (isNonOverlappingAndDense(tensor)) {
    return tensor.strides;
  }
  std::vector<size_t> order =
      sortDimensions(tensor.sizes.size(), [&](size_t first, size_t second) {
        return fasterDimension(tensor.sizes, tensor.strides, first, second);
      });
  Sizes strides(tensor.sizes.size());
  int64_t stride = 1;
  for (size_t dim : order) {
    strides[dim] = stride;
    stride = saturatingProduct(stride, std::max<int64_t>(tensor.sizes[dim], 1));
  }
  return strides;
}

TensorLayout emptyLike(const TensorLayout &tensor, DType dtype) {
  return {dtype, tensor.sizes, preservedStrides(tensor)};
}

TensorLayout castTo(const TensorLayout &tensor, DType dtype) {
  return tensor.dtype == dtype ? tensor : emptyLike(tensor, dtype);
}

std::optional<Sizes> broadcastSizes(const Sizes &left, const Sizes &right) {
  const Sizes &longer = left.size() >= right.size() ? left : right;
  const Sizes &shorter = left.size() >= right.size() ? right : left;
  Sizes sizes = longer;
  size_t missing = longer.size() - shorter.size();
  for (size_t dim = 0; dim < shorter.size(); ++dim) {
    int64_t &size = sizes[missing + dim];
    if (size == 1) {
      size = shorter[dim];
    } else if (shorter[dim] != 1 && shorter[dim] != size) {
      return std::nullopt;
    }
  }
  return sizes;
}

TensorLayout expandTo(const TensorLayout &tensor, const Sizes &sizes) {
  TensorLayout result = {tensor.dtype, sizes, Sizes(sizes.size(), 0)};
  size_t added = sizes.size() - tensor.sizes.size();
  for (size_t dim = sizes.size(); dim-- > 0;) {
    if (dim >= added && tensor.sizes[dim - added] == sizes[dim]) {
      result.strides[dim] = tensor.strides[dim - added];
    } else if (dim < added && sizes[dim] == 1 && !tensor.sizes.empty()) {
      // A new dimension that does not repeat gets the stride of a whole.
      result.strides[dim] =
          saturatingProduct(sizes[dim + 1], result.strides[dim + 1]);
    }
  }
  return result;
}

std::optional<TensorLayout>
elementwiseLayout(DType dtype, const std::vector<TensorLayout> &operands) {
  Sizes sizes;
  for (const TensorLayout &operand : operands) {
    std::optional<Sizes> both = broadcastSizes(sizes, operand.sizes);
    if (!both) {
      return std::nullopt;
    }
    sizes = std::move(*both);
  }
  TensorLayout result = {dtype, sizes, {}};
  bool whole = allHaveSizes(operands, sizes);
  if (whole && allContiguousIn(operands, MemoryFormat::Contiguous)) {
    result.strides = contiguousStrides(sizes);
  } else if (whole && allContiguousIn(operands, MemoryFormat::ChannelsLast)) {
    result.strides = *stridesIn(MemoryFormat::ChannelsLast, sizes);
  } else if (whole && allDenseAlike(operands)) {
    result.strides = operands.front().strides;
  } else {
    result.strides = orderedStrides(operands, sizes);
  }
  return result;
}

std::optional<Sizes> viewStrides(const TensorLayout &tensor,
                                 const Sizes &sizes) {
  if (tensor.sizes.empty()) {
    return Sizes(sizes.size(), 1);
  }
  if (tensor.elementCount() == 0) {
    return tensor.sizes == sizes ? tensor.strides : contiguousStrides(sizes);
  }
  // Walk both shapes from the fastest dimension. A run is a group of old
  // dimensions that lie in memory as one; new dimensions must tile each run.
  Sizes strides(sizes.size());
  size_t left = sizes.size();
  int64_t runStride = tensor.strides.back();
  int64_t runElements = 1;
  int64_t tiled = 1;
  for (size_t dim = tensor.sizes.size(); dim-- > 0;) {
    runElements = saturatingProduct(runElements, tensor.sizes[dim]);
    bool continues = dim > 0 && (tensor.sizes[dim - 1] == 1 ||
                                 tensor.strides[dim - 1] ==
                                     saturatingProduct(runElements, runStride));
    if (continues) {
      continue;
    }
    while (left > 0 && (tiled < runElements || sizes[left - 1] == 1)) {
      --left;
      strides[left] = saturatingProduct(tiled, runStride);
      tiled = saturatingProduct(tiled, sizes[left]);
    }
    if (tiled != runElements) {
      return std::nullopt;
    }
    if (dim > 0) {
      runStride = tensor.strides[dim - 1];
      runElements = 1;
      tiled = 1;
    }
  }
  return left == 0 ? std::optional<Sizes>(strides) : std::nullopt;
}

std::optional<size_t> wrapDim(int64_t dim, int64_t rank) {
  int64_t limit = std::max<int64_t>(rank, 1);
  if (dim < -limit || dim >= limit) {
    return std::nullopt;
  }
  return static_cast<size_t>(dim < 0 ? dim + limit : dim);
}

bool areValidSizes(const Sizes &sizes) {
  int64_t product = 1;
  return std::ranges::all_of(sizes, [&](int64_t size) {
    return size >= 0 && !__builtin_mul_overflow(
                            product, std::max<int64_t>(size, 1), &product);
  });
}

int64_t distinctElements(const TensorLayout &tensor) {
  int64_t count = 1;
  for (size_t dim = 0; dim < tensor.sizes.size(); ++dim) {
    bool expanded = tensor.strides[dim] == 0 && tensor.sizes[dim] > 1;
    count = saturatingProduct(count, expanded ? 1 : tensor.sizes[dim]);
  }
  return count;
}

} // namespace sfsdp::rules
