//===- Copies.cpp - Operators that copy elements elsewhere ----------------===//
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

namespace sfsdp::rules {

namespace {

using Sizes = std::vector<int64_t>;

/// A copy of argument 0 in `dtype` and `format`; none means Preserve.
Results copyIn(const OperatorCall &call, DType dtype,
               std::optional<MemoryFormat> format) {
  const TensorLayout &self = call.tensor(0);
  if (!format || *format == MemoryFormat::Preserve) {
    return one(fresh(emptyLike(self, dtype)));
  }
  std::optional<Sizes> strides = stridesIn(*format, self.sizes);
  if (!strides) {
    return refuse(call,
                  "sizes " + shown(self.sizes) + " have no such memory format");
  }
  return one(fresh({dtype, self.sizes, *strides}));
}

Results clone(const OperatorCall &call) {
  return copyIn(call, call.tensor(0).dtype, call.memoryFormat(1));
}

Results toCopy(const OperatorCall &call) {
  return copyIn(call, call.dtype(1).value_or(call.tensor(0).dtype),
                call.memoryFormat(6));
}

/// lift_fresh_copy: row-major.
Results liftFreshCopy(const OperatorCall &call) {
  return copyIn(call, call.tensor(0).dtype, MemoryFormat::Contiguous);
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

/// cat skips tensors of sizes [0], whatever the rank of the others.
bool isSkipped(const TensorLayout &tensor) { return tensor.sizes == Sizes{0}; }

/// The format that all tensors suggest, else Contiguous.
MemoryFormat commonFormat(const TensorList &tensors) {
  MemoryFormat first = suggestedFormat(*tensors.front());
  bool same = std::ranges::all_of(tensors, [&](const auto &tensor) {
    return suggestedFormat(*tensor) == first;
  });
  return same ? first : MemoryFormat::Contiguous;
}

DType promotedType(const TensorList &tensors) {
  DType dtype = tensors.front()->dtype;
  for (const std::optional<TensorLayout> &tensor : tensors) {
    dtype = promoteTypes(dtype, tensor->dtype);
  }
  return dtype;
}

/// The joined sizes of tensors that cat does not skip; absent if all are
/// skipped.
Expected<std::optional<Sizes>> joinedSizes(const OperatorCall &call,
                                           const TensorList &tensors,
                                           int64_t askedDim) {
  std::optional<Sizes> sizes;
  size_t dim = 0;
  for (const std::optional<TensorLayout> &tensor : tensors) {
    if (isSkipped(*tensor)) {
      continue;
    }
    if (!sizes) {
      sizes = tensor->sizes;
      std::optional<size_t> wrapped = wrapDim(askedDim, tensor->rank());
      if (sizes->empty() || !wrapped) {
        return refuse(call, "expected 'dim' of sizes " + shown(*sizes) +
                                ", got " + std::to_string(askedDim));
      }
      dim = *wrapped;
      continue;
    }
    Sizes others = tensor->sizes;
    if (others.size() == sizes->size()) {
      others[dim] = (*sizes)[dim];
    }
    if (others != *sizes ||
        __builtin_add_overflow((*sizes)[dim], tensor->sizes[dim],
                               &(*sizes)[dim])) {
      return refuse(call, "sizes " + shown(*sizes) + " and " +
                              shown(tensor->sizes) + " do not join");
    }
  }
  return sizes;
}

Expected<TensorLayout> joined(const OperatorCall &call,
                              const TensorList &tensors, int64_t dim) {
  if (tensors.empty()) {
    return refuse(call, "expected at least 1 tensor, got none");
  }
  Expected<std::optional<Sizes>> sizes = joinedSizes(call, tensors, dim);
  if (!sizes) {
    return sizes.status();
  }
  DType dtype = promotedType(tensors);
  if (!*sizes) {
    return contiguousLayout(dtype, {0});
  }
  return TensorLayout{dtype, **sizes,
                      *stridesIn(commonFormat(tensors), **sizes)};
}

Results cat(const OperatorCall &call) {
  Expected<TensorLayout> result =
      joined(call, call.tensors(0), call.integer(1));
  return result ? one(fresh(std::move(*result))) : Results(result.status());
}

/// stack along the last dimension joins tensors of one more dimension.
Results stackLast(const OperatorCall &call) {
  TensorList tensors = call.tensors(0);
  for (std::optional<TensorLayout> &tensor : tensors) {
    tensor->sizes.push_back(1);
    tensor->strides.push_back(1);
  }
  Expected<TensorLayout> result = joined(call, tensors, -1);
  return result ? one(fresh(std::move(*result))) : Results(result.status());
}

/// stack: joins along `dim`, then splits that dimension.
Results stack(const OperatorCall &call) {
  const TensorList &tensors = call.tensors(0);
  if (tensors.empty()) {
    return refuse(call, "expected at least 1 tensor, got none");
  }
  const Sizes &sizes = tensors.front()->sizes;
  bool same = std::ranges::all_of(
      tensors, [&](const auto &tensor) { return tensor->sizes == sizes; });
  std::optional<size_t> dim =
      wrapDim(call.integer(1), tensors.front()->rank() + 1);
  if (!same || !dim) {
    return refuse(call, "expected tensors of sizes " + shown(sizes) +
                            " and one of their dimensions or the next");
  }
  if (*dim == sizes.size()) {
    return stackLast(call);
  }
  Expected<TensorLayout> whole =
      joined(call, tensors, static_cast<int64_t>(*dim));
  if (!whole) {
    return whole.status();
  }
  Sizes stacked = sizes;
  stacked.insert(stacked.begin() + static_cast<std::ptrdiff_t>(*dim),
                 static_cast<int64_t>(tensors.size()));
  std::optional<Sizes> strides = viewStrides(*whole, stacked);
  if (!strides) {
    return refuse(call, "sizes " + shown(whole->sizes) + " do not split");
  }
  return one(fresh({whole->dtype, std::move(stacked), std::move(*strides)}));
}

/// flip.
Results flip(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  for (int64_t dim : call.integers(1)) {
    if (!wrapDim(dim, self.rank())) {
      return refuse(call, "expected dimensions of sizes " + shown(self.sizes) +
                              ", got " + shown(call.integers(1)));
    }
  }
  return one(fresh(emptyLike(self, self.dtype)));
}

//===----------------------------------------------------------------------===//
// Padding and the backward of windows
//===----------------------------------------------------------------------===//

/// Sizes after padding: `pad` holds (before, after) pairs from the last
/// dimension on; negative numbers cut.
Expected<Sizes> paddedSizes(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Sizes pad = call.integers(1);
  Status failure = refuse(call, "sizes " + shown(self.sizes) +
                                    " do not pad by " + shown(pad));
  if (pad.size() % 2 != 0 || pad.size() / 2 > self.sizes.size()) {
    return failure;
  }
  Sizes sizes = self.sizes;
  for (size_t pair = 0; pair < pad.size() / 2; ++pair) {
    int64_t &size = sizes[sizes.size() - 1 - pair];
    if (__builtin_add_overflow(size, pad[2 * pair], &size) ||
        __builtin_add_overflow(size, pad[2 * pair + 1], &size) || size < 0) {
      return failure;
    }
  }
  return areValidSizes(sizes) ? Expected<Sizes>(sizes) : failure;
}

Results constantPad(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Expected<Sizes> sizes = paddedSizes(call);
  if (!sizes) {
    return sizes.status();
  }
  bool onlyCuts = std::ranges::all_of(call.integers(1),
                                      [](int64_t count) { return count <= 0; });
  if (onlyCuts) {
    TensorLayout window = self;
    window.sizes = *sizes;
    return one(fresh(emptyLike(window, self.dtype)));
  }
  std::optional<Sizes> strides = stridesIn(suggestedFormat(self), *sizes);
  return one(fresh({self.dtype, *sizes, *strides}));
}

/// slice_backward, select_backward, diagonal_backward: a row-major tensor of
/// the sizes asked for, zero outside of the window.
Results windowBackward(const OperatorCall &call) {
  Sizes sizes = call.integers(1);
  if (!areValidSizes(sizes)) {
    return refuse(call, "expected sizes, got " + shown(sizes));
  }
  return one(freshContiguous(call.tensor(0).dtype, std::move(sizes)));
}

/// slice_scatter, select_scatter: `self` with a window replaced. Keeps strides
/// and holes of `self`, unless elements overlap.
Results windowScatter(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  bool overlaps = distinctElements(self) != self.elementCount();
  return one(fresh(overlaps ? emptyLike(self, self.dtype) : self));
}

/// tril, triu.
Results triangle(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  if (self.rank() < 2) {
    return refuse(call, "expected at least 2 dimensions, got sizes " +
                            shown(self.sizes));
  }
  return one(freshContiguous(self.dtype, self.sizes));
}

Results repeat(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Sizes sizes = call.integers(1);
  size_t added = sizes.size() - std::min(sizes.size(), self.sizes.size());
  bool valid = sizes.size() >= self.sizes.size() && areValidSizes(sizes);
  for (size_t dim = added; valid && dim < sizes.size(); ++dim) {
    sizes[dim] = saturatingProduct(sizes[dim], self.sizes[dim - added]);
  }
  if (!valid || !areValidSizes(sizes)) {
    return refuse(call, "sizes " + shown(self.sizes) + " do not repeat by " +
                            shown(call.integers(1)));
  }
  return one(freshContiguous(self.dtype, std::move(sizes)));
}

constexpr Rule rule(std::string_view name,
                    Results (*layout)(const OperatorCall &)) {
  return {.name = name, .layout = layout, .cost = copyCost};
}

constexpr Rule castRule(std::string_view name,
                        Results (*layout)(const OperatorCall &)) {
  Rule cast = rule(name, layout);
  cast.isCast = true;
  return cast;
}

constexpr Rule kRules[] = {
    castRule("_to_copy.default", toCopy),
    rule("cat.default", cat),
    rule("clone.default", clone),
    rule("constant_pad_nd.default", constantPad),
    rule("diagonal_backward.default", windowBackward),
    rule("flip.default", flip),
    rule("lift_fresh_copy.default", liftFreshCopy),
    rule("repeat.default", repeat),
    rule("select_backward.default", windowBackward),
    rule("select_scatter.default", windowScatter),
    rule("slice_backward.default", windowBackward),
    rule("slice_scatter.default", windowScatter),
    rule("stack.default", stack),
    rule("tril.default", triangle),
    rule("triu.default", triangle),
};

} // namespace

std::span<const Rule> copyRules() { return kRules; }

} // namespace sfsdp::rules
