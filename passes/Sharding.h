//===- Sharding.h - The steps of sfsdp-shard ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is decided for each parameter, and the three edits that carry it out.
//
// Tested by test/passes/shard*.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_SHARDING_H
#define SFSDP_PASSES_SHARDING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/MeshOption.h"
#include "passes/Passes.h"
#include "passes/ReductionOption.h"

namespace mlir::sfsdp {

inline constexpr llvm::StringLiteral kShardPassName = "sfsdp-shard";

/// How the data ranks hold one parameter.
enum class Holding {
  Sharded,    ///< each rank of the shard axes its chunk of dimension 0
  Replicated, ///< each the whole
  Alone,      ///< as captured: one rank, or no elements; nothing is sent
};

struct ShardedParameter {
  BlockArgument argument;
  std::string name;
  Holding holding = Holding::Replicated;
  RankedTensorType captured;
  /// Type of the argument under `holding`.
  RankedTensorType local;
  /// Backward gathers it again.
  bool isResharded = true;
  /// Position of its gradient among the results; absent if there is none.
  std::optional<unsigned> gradient;
};

/// What follows from the options for all parameters.
struct Sharding {
  func::FuncOp function;
  /// All data axes, those that split parameters, and those that repeat them.
  /// The shard axes are inside the replica axes.
  AxisGroup data, shard, replica;
  Reduction reduction;
  GradientScale scale;
  /// The sum of gradients is divided by it, after the last addition; 1 when
  /// `count` is the divisor.
  double divisor = 1;
  /// The global count of `scale` in the last micro-batch of a step.
  Value count;
  bool broadcastsBuffers = false;
  int64_t microBatches = 1;
  /// What is reduced before the last micro-batch; not Auto.
  Sync sync = Sync::Each;
  /// `function` is all of the step or its last micro-batch.
  bool isLast = true;
  /// Placement of what is sharded.
  PlacementAttr placement;
  /// Null: the parameter's own.
  Type reduceType;
  /// In the order of the arguments.
  SmallVector<ShardedParameter> parameters;
};

/// Decides which parameters backward gathers again. `Auto` keeps the block that
/// forward gathers last: its backward follows at once, so that a second gather
/// would bring back what was just freed. Blocks are those of sfsdp-bucket.
void chooseReshard(Sharding &sharding, Reshard reshard);

/// Gives backward its own copies of what forward derives from sharded
/// parameters alone, so that a second gather can serve backward.
void recomputeSavedValues(const Sharding &sharding);

/// Lets the step read the buffers of the first data rank instead of this
/// rank's own: one broadcast at its start. What the step returns for a buffer
/// comes from these too.
void broadcastBuffers(const Sharding &sharding);

/// Makes the argument this rank's chunk, with gathers before its uses.
/// Requires holding Sharded.
void gatherAtUse(const Sharding &sharding, const ShardedParameter &parameter);

/// When the gradient of a parameter is added to those of the micro-batches
/// before it.
enum class AccumulationPoint {
  BeforeReduction,   ///< as this rank computed it
  BetweenReductions, ///< hybrid_shard: the sum within a replica
  AfterReduction,    ///< the sum over all data ranks
};
AccumulationPoint accumulationPoint(const Sharding &sharding,
                                    const ShardedParameter &parameter);

/// Element type that the gradient of `parameter` is reduced in.
Type reduceTypeOf(const Sharding &sharding, const ShardedParameter &parameter);

/// Fails with a diagnostic unless the step has the output that `scale` names,
/// and a loss that is no mean.
LogicalResult checkGlobalScale(const Sharding &sharding);

/// The sum of that output over ranks and micro-batches; null before the last
/// micro-batch, where it is accumulated.
Value globalScale(const Sharding &sharding, Value microBatch);

/// Reduces the gradient result of `parameter`, which it must have; with several
/// micro-batches, accumulates it in an argument appended to the function. In
/// all micro-batches but the last the result becomes the accumulator's.
/// `microBatch` is the number of the micro-batch there, else null.
void reduceGradient(const Sharding &sharding, const ShardedParameter &parameter,
                    Value microBatch);

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_SHARDING_H
