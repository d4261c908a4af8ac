//===- LayoutAlgorithms.h - PyTorch's layout arithmetic -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What operators have in common when they choose sizes and strides: memory
// formats, broadcasting, the strides that an element-wise result inherits from
// its operands, and the strides of a reshaped view. Each function says what
// PyTorch (2.15, CPU) does; strides decide the order of sums and thus bits, so
// "row-major unless told" would not do.
//
// Tested by test/unit/passes/rules/LayoutAlgorithmsTest.cpp, and through every
// rule by LayoutFixtureTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_RULES_LAYOUTALGORITHMS_H
#define SFSDP_PASSES_RULES_LAYOUTALGORITHMS_H

#include "passes/rules/OperatorCall.h"

#include <optional>
#include <vector>

namespace sfsdp::rules {

/// True if the elements lie in `format` order without holes. Only tensors of
/// rank 4 are ever ChannelsLast, of rank 5 ChannelsLast3d.
bool isContiguousIn(const TensorLayout &tensor, MemoryFormat format);

/// True if some permutation of the dimensions is contiguous.
bool isNonOverlappingAndDense(const TensorLayout &tensor);

/// The format in which kernels for images and videos prefer to answer
/// (`Tensor::suggest_memory_format`): ChannelsLast or ChannelsLast3d if the
/// strides look so, holes allowed, else Contiguous.
MemoryFormat suggestedFormat(const TensorLayout &tensor);

/// Strides of a fresh tensor of `sizes`. Absent if the rank does not allow
/// `format`, or for Preserve.
std::optional<std::vector<int64_t>>
stridesIn(MemoryFormat format, const std::vector<int64_t> &sizes);

/// Strides of `torch.empty_like(tensor)`: those of `tensor` when it is dense,
/// else dense ones that keep the order of its dimensions.
std::vector<int64_t> preservedStrides(const TensorLayout &tensor);

/// `torch.empty_like(tensor, dtype=dtype)`.
TensorLayout emptyLike(const TensorLayout &tensor, DType dtype);

/// `tensor.to(dtype)`: `tensor` itself when it has that dtype.
TensorLayout castTo(const TensorLayout &tensor, DType dtype);

/// Sizes to which both broadcast; absent if they do not.
std::optional<std::vector<int64_t>>
broadcastSizes(const std::vector<int64_t> &left,
               const std::vector<int64_t> &right);

/// `tensor.expand(sizes)`. Requires that `tensor` broadcasts to `sizes`.
TensorLayout expandTo(const TensorLayout &tensor,
                      const std::vector<int64_t> &sizes);

/// Layout of what an element-wise kernel (TensorIterator) returns for
/// `operands`, which it reads in this order; absent if they do not broadcast.
/// The result's dimensions are ordered as the first operand that tells orders
/// them. Numbers take part as tensors of rank 0.
std::optional<TensorLayout>
elementwiseLayout(DType dtype, const std::vector<TensorLayout> &operands);

/// Strides with which the same memory reads as `sizes`, a tensor of equally
/// many elements; absent if no view can do that.
std::optional<std::vector<int64_t>>
viewStrides(const TensorLayout &tensor, const std::vector<int64_t> &sizes);

/// `dim`, counted from the end when negative, as an index into a shape of
/// `rank` dimensions; absent when out of range. Rank 0 counts as 1.
std::optional<size_t> wrapDim(int64_t dim, int64_t rank);

/// True if sizes are not negative and their product fits 64 bits.
bool areValidSizes(const std::vector<int64_t> &sizes);

/// Elements that `tensor` really reads: expanded dimensions count once.
int64_t distinctElements(const TensorLayout &tensor);

} // namespace sfsdp::rules

#endif // SFSDP_PASSES_RULES_LAYOUTALGORITHMS_H
