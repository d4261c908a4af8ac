//===- ShardParameters.cpp - Gathers before the uses of a parameter -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/shard.mlir and shard-precision.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/Layout.h"
#include "passes/Operators.h"
#include "passes/Sharding.h"
#include "passes/TrainStep.h"

using namespace mlir;
using namespace mlir::sfsdp;

namespace {

/// The uses of a parameter that one gather serves.
struct Readers {
  Phase phase = Phase::Forward;
  bool isSecond = false;
  SmallVector<OpOperand *> uses;

  Operation *first() const {
    return firstInBlock(llvm::map_to_vector(
        uses, [](OpOperand *use) { return use->getOwner(); }));
  }
};

} // namespace

static bool isReturned(const OpOperand *use) {
  return isa<func::ReturnOp>(use->getOwner());
}

/// The uses of `argument` by gather, those of forward first. A return counts
/// to the last one.
static SmallVector<Readers> groupUses(BlockArgument argument, Reshard reshard) {
  Readers forward, backward{Phase::Backward};
  SmallVector<OpOperand *> returned;
  for (OpOperand &use : argument.getUses()) {
    if (isReturned(&use)) {
      returned.push_back(&use);
    } else if (reshard == Reshard::Always &&
               phaseOf(use.getOwner()) == Phase::Backward) {
      backward.uses.push_back(&use);
    } else {
      forward.uses.push_back(&use);
    }
  }
  llvm::append_range(backward.uses.empty() ? forward.uses : backward.uses,
                     returned);
  backward.isSecond = !forward.uses.empty();
  SmallVector<Readers> groups;
  for (Readers &group : {std::ref(forward), std::ref(backward)}) {
    if (!group.uses.empty()) {
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

/// The cast that all `uses` share, if it makes the bytes fewer and keeps the
/// strides; null otherwise.
static AtenOp sharedNarrowingCast(ArrayRef<OpOperand *> uses) {
  auto first = dyn_cast<AtenOp>(uses.front()->getOwner());
  if (!first || !isCast(first)) {
    return AtenOp();
  }
  auto from = cast<RankedTensorType>(first.getInputs()[0].getType());
  auto to = cast<RankedTensorType>(first.getResult(0).getType());
  bool isNarrower =
      elementBytes(to.getElementType()) < elementBytes(from.getElementType());
  if (!isNarrower || stridesOf(from) != stridesOf(to)) {
    return AtenOp();
  }
  bool isShared = llvm::all_of(uses, [&](OpOperand *use) {
    auto other = dyn_cast<AtenOp>(use->getOwner());
    return other && other.getCallee() == first.getCallee() &&
           other.getArguments() == first.getArguments() &&
           other->getResultTypes() == first->getResultTypes();
  });
  return isShared ? first : AtenOp();
}

/// `shard`, gathered into the shape and strides of `full`.
static Value gather(OpBuilder &builder, Location loc, const Sharding &sharding,
                    const ShardedParameter &parameter, const Readers &readers,
                    Value shard, RankedTensorType full) {
  MLIRContext *context = builder.getContext();
  ScopeAttr scope =
      scopeForParameter(context, readers.phase, parameter.name, kShardPassName);
  auto contiguous =
      RankedTensorType::get(full.getShape(), full.getElementType());
  auto gathered = AllGatherOp::create(
      builder, loc, TypeRange(contiguous), ValueRange(shard),
      sharding.shard.split, /*dim=*/0, readers.isSecond,
      builder.getStrArrayAttr({parameter.name}), scope);
  return copyTo(builder, loc, gathered.getResult(0), full, scope);
}

static void gatherFor(const Sharding &sharding,
                      const ShardedParameter &parameter,
                      const Readers &readers) {
  Operation *first = readers.first();
  OpBuilder builder(first);
  Location loc = first->getLoc();
  if (AtenOp narrowing = sharedNarrowingCast(readers.uses)) {
    auto full = cast<RankedTensorType>(narrowing.getResult(0).getType());
    ScopeAttr scope =
        scopeMovedBy(builder.getContext(), narrowing.getScopeAttr(),
                     readers.phase, kShardPassName);
    Value shard =
        castTo(builder, loc, parameter.argument, full.getElementType(), scope);
    Value whole =
        gather(builder, loc, sharding, parameter, readers, shard, full);
    for (OpOperand *use : readers.uses) {
      use->getOwner()->getResult(0).replaceAllUsesWith(whole);
    }
    for (OpOperand *use : readers.uses) {
      use->getOwner()->erase();
    }
    return;
  }
  Value whole = gather(builder, loc, sharding, parameter, readers,
                       parameter.argument, parameter.captured);
  for (OpOperand *use : readers.uses) {
    use->set(whole);
  }
}

void mlir::sfsdp::gatherAtUse(const Sharding &sharding,
                              const ShardedParameter &parameter) {
  BlockArgument argument = parameter.argument;
  SmallVector<Readers> groups = groupUses(argument, sharding.reshard);
  argument.setType(parameter.local);
  for (const Readers &readers : groups) {
    gatherFor(sharding, parameter, readers);
  }
}
