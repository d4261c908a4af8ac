//===- OperatorCall.h - An operator call as plain data ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a rule is asked about: a schema and one argument per schema parameter.
// The importer makes it from an archive, passes make it from `sfsdp.aten`; the
// rules see no difference and need no MLIR.
//
// Tested by test/unit/passes/rules/.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_RULES_OPERATORCALL_H
#define SFSDP_PASSES_RULES_OPERATORCALL_H

#include "passes/rules/Schema.h"
#include "runtime/Plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sfsdp::rules {

using runtime::DType;
using runtime::MemoryFormat;

/// `left` * `right` of non-negative numbers, at most the largest int64. Sizes
/// come from files, where a product may not fit.
int64_t saturatingProduct(int64_t left, int64_t right);
/// `left` + `right`, in the same way.
int64_t saturatingSum(int64_t left, int64_t right);

/// Shape, element type and strides (in elements) of a tensor.
struct TensorLayout {
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;

  bool operator==(const TensorLayout &) const = default;

  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
  /// Product of the sizes.
  int64_t elementCount() const;
  /// elementCount() times the element's bytes.
  int64_t bytes() const;
  /// As torch.Tensor.is_contiguous(): strides of dimensions of size 1, and of
  /// tensors without elements, do not matter.
  bool isContiguous() const;
};

/// True if both address the same elements in the same way: strides of
/// dimensions of size 1, and of tensors without elements, do not matter. Traced
/// graphs differ from PyTorch's kernels in those.
bool isSameLayout(const TensorLayout &left, const TensorLayout &right);

/// Row-major strides of `sizes`, as torch.empty makes them.
std::vector<int64_t> contiguousStrides(const std::vector<int64_t> &sizes);
TensorLayout contiguousLayout(DType dtype, std::vector<int64_t> sizes);

using TensorList = std::vector<std::optional<TensorLayout>>;
/// A host scalar that is known at run time only.
struct RuntimeScalar {
  bool operator==(const RuntimeScalar &) const = default;
};

/// monostate is None. A number in place of a tensor is what PyTorch calls a
/// wrapped number: it broadcasts, and it weighs less in type promotion than a
/// tensor of rank 0.
using Argument =
    std::variant<std::monostate, TensorLayout, TensorList, RuntimeScalar, bool,
                 int64_t, double, std::string, std::vector<bool>,
                 std::vector<int64_t>, std::vector<double>, DType, MemoryFormat,
                 runtime::TensorLayoutKind, runtime::DeviceArgument>;

/// A call with every argument of the schema in schema order, defaults filled.
struct OperatorCall {
  const Schema *schema = nullptr;
  std::vector<Argument> arguments;

  // Typed reads. The index must be in range; the kind is checked by
  // checkArguments (Rules.h), so a rule may rely on the schema's types. Rules
  // that accept a number for a tensor ask isTensor first.
  bool isTensor(size_t index) const;
  const TensorLayout &tensor(size_t index) const;
  /// Null for None.
  const TensorLayout *optionalTensor(size_t index) const;
  const TensorList &tensors(size_t index) const;
  int64_t integer(size_t index) const;
  std::optional<int64_t> optionalInteger(size_t index) const;
  /// An int or bool argument reads as a double too; absent for None and for a
  /// RuntimeScalar.
  std::optional<double> number(size_t index) const;
  bool boolean(size_t index) const;
  /// False for None.
  bool booleanOrFalse(size_t index) const;
  /// Empty for None.
  std::vector<int64_t> integers(size_t index) const;
  bool isNone(size_t index) const;
  std::optional<DType> dtype(size_t index) const;
  std::optional<MemoryFormat> memoryFormat(size_t index) const;
  /// Empty for None.
  std::string text(size_t index) const;
  /// Empty for None.
  std::vector<bool> booleans(size_t index) const;
};

/// One returned tensor: its layout, and which argument's storage it shares.
struct ResultLayout {
  TensorLayout tensor;
  /// The tensor argument (index into OperatorCall::arguments) that this result
  /// is a view of; absent for fresh memory.
  std::optional<size_t> aliasOf;
  /// Elements from the start of that argument's view to the start of this one.
  int64_t offset = 0;
  /// Of fresh memory: its bytes where a kernel takes more than the tensor
  /// spans, as some losses do for their samples.
  int64_t storageBytes = 0;
  /// The element type that tracing without data reports where it is not the
  /// kernel's; a capture may say either.
  std::optional<DType> traced;
};

} // namespace sfsdp::rules

#endif // SFSDP_PASSES_RULES_OPERATORCALL_H
