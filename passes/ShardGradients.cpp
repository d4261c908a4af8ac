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
                  const ShardedParameter &parameter, ScopeAttr scope)
      : builder(builder), loc(loc), sharding(sharding), parameter(parameter),
        names(builder.getStrArrayAttr({parameter.name})), scope(scope) {}

  /// The sum of the contiguous `gradient` over the data ranks, divided by
  /// sharding.divisor, as this rank holds it.
  Value reduce(Value gradient) {
    return parameter.holding == Holding::Sharded ? reduceSharded(gradient)
                                                 : reduceWhole(gradient);
  }

private:
  /// One collective: the sum within each replica first is a sum in rank order
  /// in blocks of a replica's ranks, the sum over replicas first the same with
  /// the axes exchanged.
  Value reduceWhole(Value gradient) {
    bool isHybrid = sharding.replica.ranks > 1 && sharding.shard.ranks > 1;
    ArrayAttr axes = sharding.data.split;
    int64_t ranksPerBlock = sharding.reduction.ranksPerBlock;
    if (isHybrid && sharding.reduction.kind == Reduction::Kind::Ordered) {
      ranksPerBlock = sharding.shard.ranks;
    }
    if (isHybrid &&
        sharding.reduction.kind == Reduction::Kind::AllreduceFirst) {
      ranksPerBlock = sharding.replica.ranks;
      SmallVector<Attribute> exchanged(sharding.shard.split.getValue());
      llvm::append_range(exchanged, sharding.replica.split);
      axes = builder.getArrayAttr(exchanged);
    }
    return allReduce(gradient, axes, sharding.divisor, ranksPerBlock);
  }

  Value reduceSharded(Value gradient) {
    const AxisGroup &shard = sharding.shard, &replica = sharding.replica;
    if (replica.ranks == 1) {
      return reduceScatter(gradient, sharding.divisor,
                           sharding.reduction.ranksPerBlock);
    }
    switch (sharding.reduction.kind) {
    case Reduction::Kind::Flat: {
      Value whole = allReduce(gradient, sharding.data.split, sharding.divisor);
      return localChunk(whole);
    }
    case Reduction::Kind::AllreduceFirst: {
      double first = firstDivisor(gradient, replica);
      Value sum = allReduce(gradient, replica.split, first);
      return reduceScatter(sum, sharding.divisor / first);
    }
    case Reduction::Kind::Ordered:
    case Reduction::Kind::Grouped:
      break;
    }
    double first = firstDivisor(gradient, shard);
    Value chunk = reduceScatter(gradient, first);
    return allReduce(chunk, replica.split, sharding.divisor / first);
  }

  /// What the first of two reductions divides by: nothing, since one division
  /// follows the last addition; but f16 would overflow on the way there.
  double firstDivisor(Value gradient, const AxisGroup &group) const {
    bool isHalf =
        cast<RankedTensorType>(gradient.getType()).getElementType().isF16();
    return isHalf && sharding.divisor != 1 ? double(group.ranks) : 1;
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
  ArrayAttr names;
  ScopeAttr scope;
};

} // namespace

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
  Value reduced =
      GradientReducer(builder, loc, sharding, parameter, scope).reduce(sent);
  result.set(castTo(builder, loc, reduced, stored, scope));
}
