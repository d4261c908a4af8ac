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
#include "passes/analysis/Blocks.h"

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

/// The first operation of forward that reads `argument`; null if none does.
static Operation *firstForwardUse(BlockArgument argument) {
  SmallVector<Operation *> readers;
  for (Operation *user : argument.getUsers()) {
    if (!isa<func::ReturnOp>(user) && phaseOf(user) == Phase::Forward) {
      readers.push_back(user);
    }
  }
  return firstInBlock(readers);
}

/// The block whose first gather comes last in forward.
static uint32_t lastBlock(const Sharding &sharding, ArrayRef<uint32_t> blocks) {
  // First use of each block.
  DenseMap<uint32_t, Operation *> first;
  for (auto [index, parameter] : llvm::enumerate(sharding.parameters)) {
    Operation *use = firstForwardUse(parameter.argument);
    Operation *&known = first[blocks[index]];
    if (use && (!known || use->isBeforeInBlock(known))) {
      known = use;
    }
  }
  uint32_t last = 0;
  Operation *latest = nullptr;
  for (uint32_t block : blocks) {
    Operation *use = first.lookup(block);
    if (use && (!latest || latest->isBeforeInBlock(use))) {
      latest = use;
      last = block;
    }
  }
  return last;
}

void mlir::sfsdp::chooseReshard(Sharding &sharding, Reshard reshard) {
  std::vector<std::string> names;
  for (const ShardedParameter &parameter : sharding.parameters) {
    names.push_back(parameter.name);
  }
  std::vector<uint32_t> blocks = ::sfsdp::analysis::numberBlocks(names);
  uint32_t kept = lastBlock(sharding, blocks);
  for (auto [index, parameter] : llvm::enumerate(sharding.parameters)) {
    parameter.isResharded = reshard == Reshard::Always ||
                            (reshard == Reshard::Auto && blocks[index] != kept);
  }
}

static bool isReturned(const OpOperand *use) {
  return isa<func::ReturnOp>(use->getOwner());
}

/// The uses of `argument` by gather, those of forward first. A return counts
/// to the last one.
static SmallVector<Readers> groupUses(const ShardedParameter &parameter) {
  Readers forward, backward{Phase::Backward};
  SmallVector<OpOperand *> returned;
  for (OpOperand &use : parameter.argument.getUses()) {
    if (isReturned(&use)) {
      returned.push_back(&use);
    } else if (parameter.isResharded &&
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
  SmallVector<Readers> groups = groupUses(parameter);
  argument.setType(parameter.local);
  for (const Readers &readers : groups) {
    gatherFor(sharding, parameter, readers);
  }
}
