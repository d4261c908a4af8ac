//===- SfsdpOptimizers.cpp - Updates and clipping -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each verifier follows the constraint list of its operation item by item.
//
// Tested by test/dialect/optimizers*.mlir and clipping*.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/Sfsdp.h"

using namespace mlir;
using namespace mlir::sfsdp;

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// Fails unless all tensor operands and results but the guard have one type.
static LogicalResult verifyOneType(Operation *op) {
  Type expected = op->getResult(0).getType();
  OpOperand *guard = nullptr;
  if (auto update = dyn_cast<UpdateOpInterface>(op)) {
    MutableOperandRange given = update.getGuardOperand();
    guard = given.empty() ? nullptr : &given[0];
  }
  auto check = [&](Type type) -> LogicalResult {
    if (isa<RankedTensorType>(type) && type != expected) {
      return op->emitOpError()
             << "expected all tensors to be " << expected << ", got " << type;
    }
    return success();
  };
  for (OpOperand &operand : op->getOpOperands()) {
    if (&operand != guard && failed(check(operand.get().getType()))) {
      return failure();
    }
  }
  for (Type type : op->getResultTypes()) {
    if (failed(check(type))) {
      return failure();
    }
  }
  return success();
}

LogicalResult AccumulateOp::verify() {
  return verifyOneType(*this); // accumulate_c1
}

OpOperand &AccumulateOp::getTiedOperand(unsigned) {
  return getAccumulatorMutable();
}

LogicalResult AdamWOp::verify() {
  return verifyOneType(*this); // adamw_c1
}

OpOperand &AdamWOp::getTiedOperand(unsigned index) {
  OpOperand *tied[] = {&getParameterMutable(), &getExpAvgMutable(),
                       &getExpAvgSqMutable()};
  return *tied[index];
}

LogicalResult AdamOp::verify() {
  return verifyOneType(*this); // adam_c1
}

OpOperand &AdamOp::getTiedOperand(unsigned index) {
  OpOperand *tied[] = {&getParameterMutable(), &getExpAvgMutable(),
                       &getExpAvgSqMutable()};
  return *tied[index];
}

LogicalResult SgdOp::verify() {
  // sgd_c2
  bool needsBuffer = !getMomentum().isZero();
  if (needsBuffer != static_cast<bool>(getMomentumBuffer()) ||
      needsBuffer != static_cast<bool>(getNewMomentumBuffer())) {
    return emitOpError() << "expected a momentum buffer and its new value "
                            "exactly if momentum is not 0, got momentum "
                         << getMomentumAttr();
  }
  // sgd_c3
  if (getNesterov() && !needsBuffer) {
    return emitOpError() << "expected momentum with nesterov, got momentum 0";
  }
  return verifyOneType(*this); // sgd_c1
}

OpOperand &SgdOp::getTiedOperand(unsigned index) {
  return index == 0 ? getParameterMutable() : getMomentumBufferMutable()[0];
}

//===----------------------------------------------------------------------===//
// Clipping
//===----------------------------------------------------------------------===//

LogicalResult ChunkNormsOp::verify() {
  // chunk_norms_c1
  auto gradient = cast<RankedTensorType>(getGradient().getType());
  auto norms = cast<RankedTensorType>(getNorms().getType());
  if (getRows() && (norms.getDimSize(0) != 1 || gradient.getRank() == 0)) {
    return emitOpError() << "expected one norm of a tensor with rows, got "
                         << norms << " of " << gradient;
  }
  return success();
}

LogicalResult TotalNormOp::verify() {
  // total_norm_c1
  if (getNorms().empty() || !llvm::all_equal(getNorms().getTypes())) {
    return emitOpError() << "expected one type for all operands, at least one, "
                            "got "
                         << getNorms().getTypes();
  }
  // total_norm_c2
  auto norms = cast<RankedTensorType>(getNorms().front().getType());
  auto norm = cast<RankedTensorType>(getNorm().getType());
  if (norm.getElementType() != norms.getElementType()) {
    return emitOpError() << "expected a result of element type "
                         << norms.getElementType() << ", got " << norm;
  }
  return success();
}

LogicalResult ClipCoefficientOp::verify() {
  // clip_coefficient_c1
  APFloat max = getMax();
  if (!max.isFinite() || max.isNegative() || max.isZero()) {
    return emitOpError() << "expected a positive finite max, got "
                         << getMaxAttr();
  }
  return success();
}
