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

namespace {

/// Writes the collectives that reduce one gradient, each right after the other.
class GradientReducer {
public:
  GradientReducer(OpBuilder &builder, Location loc, const Sharding &sharding,
                  const ShardedParameter &parameter, Value microBatch,
                  ScopeAttr scope)
      : builder(builder), loc(loc), sharding(sharding), parameter(parameter),
        microBatch(microBatch),
        names(builder.getStrArrayAttr({parameter.name})), scope(scope) {}

  /// The sum of the contiguous `gradient` over data ranks and micro-batches,
  /// divided by sharding.divisor, as this rank holds it; before the last
  /// micro-batch the new value of the accumulator.
  Value reduce(Value gradient) {
    Value total = reduceAndAccumulate(gradient);
    if (sharding.count) {
      return divideBy(builder, loc, total, sharding.count, scope);
    }
    bool isOpen = sharding.isLast && !lastReductionDivides();
    return isOpen && sharding.divisor != 1
               ? divide(builder, loc, total, sharding.divisor, scope)
               : total;
  }

private:
  AccumulationPoint point() const {
    return accumulationPoint(sharding, parameter);
  }
  bool accumulatesAt(AccumulationPoint where) const {
    return sharding.microBatches > 1 && point() == where;
  }
  /// The division follows the last addition.
  bool lastReductionDivides() const {
    return parameter.holding != Holding::Alone &&
           !accumulatesAt(AccumulationPoint::AfterReduction);
  }
  double lastDivisor() const {
    return lastReductionDivides() ? sharding.divisor : 1;
  }

  Value reduceAndAccumulate(Value gradient) {
    if (accumulatesAt(AccumulationPoint::BeforeReduction)) {
      gradient = accumulate(gradient);
      if (!sharding.isLast) {
        return gradient;
      }
    }
    Value reduced = gradient;
    if (parameter.holding != Holding::Alone) {
      reduced = parameter.holding == Holding::Sharded ? reduceSharded(gradient)
                                                      : reduceWhole(gradient);
    }
    return accumulatesAt(AccumulationPoint::AfterReduction)
               ? accumulate(reduced)
               : reduced;
  }

  /// Appends the accumulator to the arguments.
  Value accumulator(RankedTensorType type) {
    func::FuncOp function = sharding.function;
    NamedAttrList attributes;
    attributes.set(kRoleAttrName,
                   RoleAttr::get(builder.getContext(), RoleKind::Accumulator,
                                 parameter.name));
    unsigned index = function.getNumArguments();
    (void)function.insertArgument(
        index, type, attributes.getDictionary(builder.getContext()),
        parameter.argument.getLoc());
    return function.getArgument(index);
  }

  Value accumulate(Value value) {
    Value total = accumulator(cast<RankedTensorType>(value.getType()));
    if (sharding.isLast) {
      return add(builder, loc, total, value, scope);
    }
    return AccumulateOp::create(builder, loc, value.getType(), total, value,
                                microBatch, scope);
  }

  /// In the order of a sharded parameter. The sum within each replica first is
  /// one collective, in rank order in blocks of a replica's ranks.
  Value reduceWhole(Value gradient) {
    const AxisGroup &shard = sharding.shard, &replica = sharding.replica;
    bool isHybrid = replica.ranks > 1 && shard.ranks > 1;
    if (isHybrid &&
        sharding.reduction.kind == Reduction::Kind::AllreduceFirst) {
      double first = firstDivisor(gradient, replica);
      Value sum = allReduce(gradient, replica.split, first);
      return allReduce(sum, shard.split, lastDivisor() / first);
    }
    bool isByReplica =
        isHybrid && sharding.reduction.kind == Reduction::Kind::Ordered;
    return allReduce(gradient, sharding.data.split, lastDivisor(),
                     isByReplica ? shard.ranks
                                 : sharding.reduction.ranksPerBlock);
  }

  Value reduceSharded(Value gradient) {
    const AxisGroup &shard = sharding.shard, &replica = sharding.replica;
    if (replica.ranks == 1) {
      return reduceScatter(gradient, lastDivisor(),
                           sharding.reduction.ranksPerBlock);
    }
    switch (sharding.reduction.kind) {
    case Reduction::Kind::Flat: {
      Value whole = allReduce(gradient, sharding.data.split, lastDivisor());
      return localChunk(whole);
    }
    case Reduction::Kind::AllreduceFirst: {
      double first = firstDivisor(gradient, replica);
      Value sum = allReduce(gradient, replica.split, first);
      return reduceScatter(sum, lastDivisor() / first);
    }
    case Reduction::Kind::Ordered:
    case Reduction::Kind::Grouped:
      break;
    }
    double first = firstDivisor(gradient, shard);
    Value chunk = reduceScatter(gradient, first);
    if (accumulatesAt(AccumulationPoint::BetweenReductions)) {
      chunk = accumulate(chunk);
      if (!sharding.isLast) {
        return chunk;
      }
    }
    return allReduce(chunk, replica.split, lastDivisor() / first);
  }

  /// What the first of two reductions divides by: nothing, since one division
  /// follows the last addition; but f16 would overflow on the way there.
  double firstDivisor(Value gradient, const AxisGroup &group) const {
    bool isHalf =
        cast<RankedTensorType>(gradient.getType()).getElementType().isF16();
    return isHalf && lastDivisor() != 1 ? double(group.ranks) : 1;
  }

  Value allReduce(Value value, ArrayAttr axes, double divisor,
                  int64_t ranksPerBlock = 0) {
    auto reduced = AllReduceOp::create(builder, loc, TypeRange(value.getType()),
                                       ValueRange(value), axes, ReduceKind::Sum,
                                       ReductionOrder::Ordered, ranksPerBlock,
                                       APFloat(divisor), names, scope);
    return reduced.getResult(0);
  }

  Value reduceScatter(Value value, double divisor, int64_t ranksPerBlock = 0) {
    auto reduced = ReduceScatterOp::create(
        builder, loc, TypeRange(chunkType(value)), ValueRange(value),
        sharding.shard.split, /*dim=*/0, ReduceKind::Sum,
        ReductionOrder::Ordered, ranksPerBlock, APFloat(divisor), names, scope);
    return reduced.getResult(0);
  }

  Value localChunk(Value whole) {
    auto axis = cast<StringAttr>(sharding.shard.split[0]);
    return LocalChunkOp::create(builder, loc, chunkType(whole), whole,
                                MeshCoordinateOp::create(builder, loc, axis),
                                axis, scope);
  }

  RankedTensorType chunkType(Value whole) const {
    auto type = cast<RankedTensorType>(whole.getType());
    return RankedTensorType::get(parameter.local.getShape(),
                                 type.getElementType());
  }

  OpBuilder &builder;
  Location loc;
  const Sharding &sharding;
  const ShardedParameter &parameter;
  Value microBatch;
  ArrayAttr names;
  ScopeAttr scope;
};

} // namespace

AccumulationPoint
mlir::sfsdp::accumulationPoint(const Sharding &sharding,
                               const ShardedParameter &parameter) {
  if (sharding.sync == Sync::Last) {
    return AccumulationPoint::BeforeReduction;
  }
  if (sharding.sync == Sync::Each || sharding.replica.ranks == 1) {
    return AccumulationPoint::AfterReduction;
  }
  return parameter.holding == Holding::Sharded
             ? AccumulationPoint::BetweenReductions
             : AccumulationPoint::BeforeReduction;
}

Type mlir::sfsdp::reduceTypeOf(const Sharding &sharding,
                               const ShardedParameter &parameter) {
  Type stored = parameter.captured.getElementType();
  return isa<FloatType>(stored) && sharding.reduceType ? sharding.reduceType
                                                       : stored;
}

void mlir::sfsdp::reduceGradient(const Sharding &sharding,
                                 const ShardedParameter &parameter,
                                 Value microBatch) {
  bool isUntouched = parameter.holding == Holding::Alone &&
                     sharding.microBatches == 1 && sharding.divisor == 1 &&
                     !sharding.count;
  if (isUntouched) {
    return;
  }
  func::FuncOp function = sharding.function;
  OpOperand &result = returnOf(function)->getOpOperand(*parameter.gradient);
  Value gradient = result.get();
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfterValue(gradient);
  Operation *counted =
      sharding.count ? sharding.count.getDefiningOp() : nullptr;
  Operation *computed = gradient.getDefiningOp();
  if (counted && (!computed || computed->isBeforeInBlock(counted))) {
    builder.setInsertionPointAfter(counted);
  }
  Location loc = gradient.getLoc();
  ScopeAttr scope = scopeForParameter(function.getContext(), Phase::Backward,
                                      parameter.name, kShardPassName);

  Value sent =
      castTo(builder, loc, gradient, reduceTypeOf(sharding, parameter), scope);
  auto type = cast<RankedTensorType>(sent.getType());
  sent = copyTo(builder, loc, sent,
                RankedTensorType::get(type.getShape(), type.getElementType()),
                scope);
  Value reduced =
      GradientReducer(builder, loc, sharding, parameter, microBatch, scope)
          .reduce(sent);
  result.set(sharding.isLast
                 ? castTo(builder, loc, reduced,
                          parameter.captured.getElementType(), scope)
                 : reduced);
}
