//===- ShardGradients.cpp - Reductions of gradients -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/shard-gradients.mlir and shard-precision.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/Layout.h"
#include "passes/Operators.h"
#include "passes/Sharding.h"
#include "passes/TrainStep.h"

using namespace mlir;
using namespace mlir::sfsdp;

/// The sum of `gradient` over the data ranks, divided by `divisor`.
static Value reduce(OpBuilder &builder, Location loc, const Sharding &sharding,
                    const ShardedParameter &parameter, Value gradient,
                    double divisor, ScopeAttr scope) {
  auto type = cast<RankedTensorType>(gradient.getType());
  ArrayAttr names = builder.getStrArrayAttr({parameter.name});
  APFloat divided(divisor);
  if (parameter.holding == Holding::Replicated) {
    auto reduced =
        AllReduceOp::create(builder, loc, TypeRange(type), ValueRange(gradient),
                            sharding.axes.split, ReduceKind::Sum,
                            ReductionOrder::Ordered, divided, names, scope);
    return reduced.getResult(0);
  }
  auto chunk =
      RankedTensorType::get(parameter.local.getShape(), type.getElementType());
  auto reduced = ReduceScatterOp::create(
      builder, loc, TypeRange(chunk), ValueRange(gradient), sharding.axes.split,
      /*dim=*/0, ReduceKind::Sum, ReductionOrder::Ordered, divided, names,
      scope);
  return reduced.getResult(0);
}

void mlir::sfsdp::reduceGradient(const Sharding &sharding,
                                 const ShardedParameter &parameter) {
  func::FuncOp function = sharding.function;
  OpOperand &result = returnOf(function)->getOpOperand(*parameter.gradient);
  Value gradient = result.get();
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfterValue(gradient);
  Location loc = gradient.getLoc();
  ScopeAttr scope = scopeForParameter(function.getContext(), Phase::Backward,
                                      parameter.name, kShardPassName);

  Type stored = parameter.captured.getElementType();
  bool isReal = isa<FloatType>(stored);
  Type wire = isReal && sharding.reduceType ? sharding.reduceType : stored;
  Value sent = castTo(builder, loc, gradient, wire, scope);
  auto type = cast<RankedTensorType>(sent.getType());
  sent = copyTo(builder, loc, sent,
                RankedTensorType::get(type.getShape(), type.getElementType()),
                scope);
  // In f16 the transport divides before and after the sum: splitDivisor.
  auto divisor = static_cast<double>(sharding.axes.ranks);
  Value reduced =
      reduce(builder, loc, sharding, parameter, sent, divisor, scope);
  result.set(castTo(builder, loc, reduced, stored, scope));
}
