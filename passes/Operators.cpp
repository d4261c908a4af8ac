//===- Operators.cpp - Operators as passes see and make them --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by the tests of the passes in test/passes/.
//
//===----------------------------------------------------------------------===//

#include "passes/Operators.h"

#include "dialect/Layout.h"
#include "passes/OperatorBridge.h"

using namespace mlir;
using namespace mlir::sfsdp;

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

bool mlir::sfsdp::isRepeatable(Operation *op) {
  if (auto aten = dyn_cast<AtenOp>(op)) {
    return aten.getEffect() == OperatorEffect::Pure;
  }
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         !isa<InPlaceOpInterface>(op);
}

bool mlir::sfsdp::isBarrier(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() || isa<WaitOp>(op) ||
      isa<CollectiveOpInterface>(op)) {
    return false;
  }
  return op->getNumRegions() != 0 || !isMemoryEffectFree(op);
}

bool mlir::sfsdp::isCast(Operation *op) {
  const rules::Rule *rule = ruleOf(op);
  return rule && rule->isCast && op->getNumOperands() == 1 &&
         op->getNumResults() == 1;
}

bool mlir::sfsdp::isIdentity(Operation *op) {
  const rules::Rule *rule = ruleOf(op);
  return rule && rule->isIdentity && op->getNumOperands() == 1 &&
         op->getNumResults() == 1;
}

//===----------------------------------------------------------------------===//
// Operators that passes make
//===----------------------------------------------------------------------===//

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// `callee`(operands..., arguments...).
static Value call(OpBuilder &builder, Location loc, StringRef callee,
                  ValueRange operands, ArrayRef<Attribute> arguments,
                  RankedTensorType type, ScopeAttr scope) {
  SmallVector<Attribute> all(operands.size(),
                             OperandAttr::get(builder.getContext()));
  llvm::append_range(all, arguments);
  auto op = AtenOp::create(builder, loc, TypeRange(type), callee, operands,
                           builder.getArrayAttr(all),
                           /*absent=*/nullptr, OperatorEffect::Pure,
                           /*random_id=*/nullptr, scope);
  return op.getResult(0);
}

Value mlir::sfsdp::castTo(OpBuilder &builder, Location loc, Value value,
                          Type elementType, ScopeAttr scope) {
  RankedTensorType type = typeOf(value);
  if (type.getElementType() == elementType) {
    return value;
  }
  if (isDense(type)) {
    return call(
        builder, loc, "_to_copy.default", value, {TypeAttr::get(elementType)},
        tensorType(type.getShape(), elementType, stridesOf(type)), scope);
  }
  // self, dtype, layout, device, pin_memory, non_blocking, memory_format
  Attribute none = builder.getUnitAttr();
  return call(
      builder, loc, "_to_copy.default", value,
      {TypeAttr::get(elementType), none, none, none, builder.getBoolAttr(false),
       MemoryFormatAttr::get(builder.getContext(), MemoryFormat::Contiguous)},
      RankedTensorType::get(type.getShape(), elementType), scope);
}

/// The dimensions of `type` from the largest stride to the smallest.
static SmallVector<int64_t> dimsByStride(RankedTensorType type) {
  SmallVector<int64_t> strides = stridesOf(type);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  llvm::stable_sort(
      order, [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  return order;
}

static Value permute(OpBuilder &builder, Location loc, Value value,
                     ArrayRef<int64_t> dims, ScopeAttr scope) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape, strides;
  for (int64_t dim : dims) {
    shape.push_back(type.getDimSize(dim));
    strides.push_back(stridesOf(type)[dim]);
  }
  return call(builder, loc, "permute.default", value,
              {builder.getDenseI64ArrayAttr(dims)},
              tensorType(shape, type.getElementType(), strides), scope);
}

static Value contiguousClone(OpBuilder &builder, Location loc, Value value,
                             ScopeAttr scope) {
  RankedTensorType type = typeOf(value);
  auto contiguous =
      RankedTensorType::get(type.getShape(), type.getElementType());
  return call(
      builder, loc, "clone.default", value,
      {MemoryFormatAttr::get(builder.getContext(), MemoryFormat::Contiguous)},
      contiguous, scope);
}

Value mlir::sfsdp::add(OpBuilder &builder, Location loc, Value a, Value b,
                       ScopeAttr scope) {
  return call(builder, loc, "add.Tensor", {a, b}, {}, typeOf(a), scope);
}

Value mlir::sfsdp::divide(OpBuilder &builder, Location loc, Value value,
                          double divisor, ScopeAttr scope) {
  return call(builder, loc, "div.Scalar", value,
              {builder.getF64FloatAttr(divisor)}, typeOf(value), scope);
}

Value mlir::sfsdp::divideBy(OpBuilder &builder, Location loc, Value value,
                            Value divisor, ScopeAttr scope) {
  return call(builder, loc, "div.Tensor", {value, divisor}, {}, typeOf(value),
              scope);
}

Value mlir::sfsdp::cloneOf(OpBuilder &builder, Location loc, Value value,
                           ScopeAttr scope) {
  if (!isDense(typeOf(value))) {
    return contiguousClone(builder, loc, value, scope);
  }
  return call(
      builder, loc, "clone.default", value,
      {MemoryFormatAttr::get(builder.getContext(), MemoryFormat::Preserve)},
      typeOf(value), scope);
}

// A copy in another order of dimensions is a contiguous copy of the permuted
// tensor, seen through the inverse permutation.
Value mlir::sfsdp::copyTo(OpBuilder &builder, Location loc, Value value,
                          RankedTensorType type, ScopeAttr scope) {
  if (value.getType() == type) {
    return value;
  }
  if (isContiguous(type)) {
    return contiguousClone(builder, loc, value, scope);
  }
  SmallVector<int64_t> order = dimsByStride(type);
  SmallVector<int64_t> inverse(order.size());
  for (auto [position, dim] : llvm::enumerate(order)) {
    inverse[dim] = position;
  }
  Value ordered = permute(builder, loc, value, order, scope);
  Value copy = contiguousClone(builder, loc, ordered, scope);
  return permute(builder, loc, copy, inverse, scope);
}
