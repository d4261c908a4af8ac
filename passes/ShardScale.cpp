//===- ShardScale.cpp - Gradients divided by a count over all ranks -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With gradient-scale=global:NAME a gradient is the sum over ranks and
// micro-batches, divided by the sum of the step's output NAME: the number of
// valid tokens, say, of which ranks may have different ones.
//
// Tested by test/passes/shard-scale.mlir and test/e2e/token-counts.py.
//
//===----------------------------------------------------------------------===//

#include "passes/OperatorBridge.h"
#include "passes/Operators.h"
#include "passes/Sharding.h"
#include "passes/TrainStep.h"

using namespace mlir;
using namespace mlir::sfsdp;

/// The result of that kind and name; absent if there is none.
static std::optional<unsigned> resultNamed(func::FuncOp function, RoleKind kind,
                                           StringRef name) {
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    RoleAttr role = resultRole(function, index);
    if (role && role.getKind() == kind && role.getName() == name) {
      return index;
    }
  }
  return std::nullopt;
}

static std::string outputNames(func::FuncOp function) {
  std::string names;
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    RoleAttr role = resultRole(function, index);
    if (role && role.getKind() == RoleKind::Output) {
      names += (names.empty() ? "" : ", ") + role.getName().str();
    }
  }
  return names.empty() ? "none" : names;
}

/// Whether `value` is a mean: by the operator, or by its argument `reduction`.
static bool isMean(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && (isCast(op) || isIdentity(op))) {
    op = op->getOperand(0).getDefiningOp();
  }
  const rules::Rule *rule = op ? ruleOf(op) : nullptr;
  if (!rule) {
    return false;
  }
  rules::SchemaTable schemas;
  FailureOr<rules::OperatorCall> call = callOf(op, schemas);
  if (failed(call)) {
    return false;
  }
  constexpr int64_t kMean = 1; // at::Reduction::Mean
  for (size_t i = 0; i < call->arguments.size(); ++i) {
    if (call->schema->parameters[i].name == "reduction") {
      auto *reduction = std::get_if<int64_t>(&call->arguments[i]);
      return reduction && *reduction == kMean;
    }
  }
  return rule->isMean;
}

LogicalResult mlir::sfsdp::checkGlobalScale(const Sharding &sharding) {
  func::FuncOp function = sharding.function;
  const std::string &name = sharding.scale.output;
  if (sharding.scale.kind != GradientScale::Kind::Global) {
    return success();
  }
  std::optional<unsigned> output =
      resultNamed(function, RoleKind::Output, name);
  if (!output) {
    return function.emitError()
           << "option gradient-scale: expected the name of an output ("
           << outputNames(function) << "), got '" << name << "'";
  }
  auto type = dyn_cast<RankedTensorType>(function.getResultTypes()[*output]);
  if (!type || type.getRank() != 0 || type.getElementType().isInteger(1)) {
    return function.emitError()
           << "option gradient-scale: expected output '" << name
           << "' to be a number, got " << function.getResultTypes()[*output];
  }
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    RoleAttr role = resultRole(function, index);
    if (role && role.getKind() == RoleKind::Loss &&
        isMean(returnOf(function).getOperand(index))) {
      return function.emitError()
             << "option gradient-scale: the loss is a mean already, so its "
                "gradients would be divided twice; return the sum over tokens "
                "as the loss, or use gradient-scale=mean";
    }
  }
  return success();
}

Value mlir::sfsdp::globalScale(const Sharding &sharding, Value microBatch) {
  func::FuncOp function = sharding.function;
  const std::string &name = sharding.scale.output;
  unsigned index = *resultNamed(function, RoleKind::Output, name);
  Value count = returnOf(function).getOperand(index);
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfterValue(count);
  Location loc = count.getLoc();
  ScopeAttr scope = scopeMovedBy(builder.getContext(), ScopeAttr(),
                                 Phase::Forward, kShardPassName);
  if (sharding.data.ranks > 1) {
    count = AllReduceOp::create(
                builder, loc, TypeRange(count.getType()), ValueRange(count),
                sharding.data.split, ReduceKind::Sum, ReductionOrder::Ordered,
                /*grouped=*/0, APFloat(1.0), /*names=*/nullptr, scope)
                .getResult(0);
  }
  if (sharding.microBatches == 1) {
    return count;
  }
  RoleAttr role =
      RoleAttr::get(builder.getContext(), RoleKind::Accumulator, name);
  DictionaryAttr attributes =
      builder.getDictionaryAttr(builder.getNamedAttr(kRoleAttrName, role));
  unsigned last = function.getNumArguments();
  (void)function.insertArgument(last, count.getType(), attributes, loc);
  Value total = function.getArgument(last);
  if (sharding.isLast) {
    return add(builder, loc, total, count, scope);
  }
  Value sum = AccumulateOp::create(builder, loc, count.getType(), total, count,
                                   microBatch, scope);
  returnOf(function)->insertOperands(function.getNumResults(), sum);
  (void)function.insertResult(function.getNumResults(), sum.getType(),
                              attributes);
  return Value();
}
