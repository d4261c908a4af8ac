//===- ShardSavedValues.cpp - What backward derives from parameters again -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forward computes values from parameters alone (casts, views, copies) that
// backward reads. Kept, they would keep the gathered parameter, or as many
// bytes, alive until then. So backward computes them again from its own gather,
// except what has memory of its own and is no larger than the shards that it
// comes from.
//
// Tested by test/passes/shard-saved.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/Layout.h"
#include "passes/OperatorBridge.h"
#include "passes/Operators.h"
#include "passes/Sharding.h"
#include "passes/TrainStep.h"

using namespace mlir;
using namespace mlir::sfsdp;

static int64_t bytesOf(RankedTensorType type) {
  return type.getNumElements() * elementBytes(type.getElementType());
}

namespace {

/// A value that comes from parameters and constants alone.
struct Derived {
  /// Positions of the sharded parameters among the arguments, ascending.
  SmallVector<unsigned, 2> sources;
  /// Bytes of the value's memory; 0 if it is, or will be, a gathered parameter.
  int64_t ownBytes = 0;

  bool isGathered() const { return ownBytes == 0; }
};

class SavedValues {
public:
  explicit SavedValues(const Sharding &sharding) {
    for (const ShardedParameter &parameter : sharding.parameters) {
      bool isSharded =
          parameter.holding == Holding::Sharded && parameter.isResharded;
      unsigned index = parameter.argument.getArgNumber();
      SmallVector<unsigned, 2> sources;
      if (isSharded) {
        shardBytes[index] = bytesOf(parameter.local);
        sources.push_back(index);
      }
      derived[parameter.argument] = {
          sources, isSharded ? 0 : bytesOf(parameter.captured)};
    }
    for (BlockArgument constant :
         argumentsWithRole(sharding.function, RoleKind::Constant)) {
      derived[constant] = {{}, 1};
    }
  }

  /// Records the results of `op` if they come from parameters alone.
  void visit(Operation &op) {
    if (phaseOf(&op) != Phase::Forward || !isRepeatable(&op) ||
        isa<CollectiveOpInterface, WaitOp>(op)) {
      return;
    }
    SmallVector<unsigned, 2> sources;
    for (Value operand : op.getOperands()) {
      auto found = derived.find(operand);
      if (found == derived.end()) {
        return;
      }
      llvm::append_range(sources, found->second.sources);
    }
    llvm::sort(sources);
    sources.erase(llvm::unique(sources), sources.end());
    for (OpResult result : op.getResults()) {
      derived[result] = {sources, ownBytes(result)};
    }
  }

  /// Whether backward should compute `value` again.
  bool isWorthRepeating(Value value) const {
    auto found = derived.find(value);
    if (found == derived.end() || found->second.sources.empty()) {
      return false;
    }
    int64_t shards = 0;
    for (unsigned source : found->second.sources) {
      shards += shardBytes.lookup(source);
    }
    return found->second.isGathered() || found->second.ownBytes > shards;
  }

private:
  int64_t ownBytes(OpResult result) {
    Operation *op = result.getOwner();
    if (std::optional<ViewSource> view = viewSource(result, schemas)) {
      return derived.lookup(view->operand->get()).ownBytes;
    }
    // A cast of a parameter becomes the gathered tensor itself.
    if (isCast(op) && derived.lookup(op->getOperand(0)).isGathered()) {
      return 0;
    }
    auto type = dyn_cast<RankedTensorType>(result.getType());
    return type ? std::max<int64_t>(bytesOf(type), 1) : 1;
  }

  DenseMap<Value, Derived> derived;
  DenseMap<unsigned, int64_t> shardBytes;
  rules::SchemaTable schemas;
};

} // namespace

/// The operations of backward that read a result of `op` worth repeating.
static SmallVector<Operation *> backwardReaders(Operation &op,
                                                const SavedValues &saved) {
  SmallVector<Operation *> readers;
  for (OpResult result : op.getResults()) {
    if (!saved.isWorthRepeating(result)) {
      continue;
    }
    for (Operation *user : result.getUsers()) {
      if (phaseOf(user) == Phase::Backward && !isa<func::ReturnOp>(user)) {
        readers.push_back(user);
      }
    }
  }
  return readers;
}

/// Computes `op` again before the first of `readers`, for all of them.
static void repeatFor(Operation &op, ArrayRef<Operation *> readers,
                      const SavedValues &saved) {
  OpBuilder builder(firstInBlock(readers));
  Operation *copy = builder.clone(op);
  copy->setAttr("scope", scopeMovedBy(op.getContext(), scopeOf(&op),
                                      Phase::Backward, kShardPassName));
  llvm::SmallPtrSet<Operation *, 8> isReader(readers.begin(), readers.end());
  for (auto [result, again] : llvm::zip(op.getResults(), copy->getResults())) {
    if (saved.isWorthRepeating(result)) {
      result.replaceUsesWithIf(again, [&](OpOperand &use) {
        return isReader.contains(use.getOwner());
      });
    }
  }
}

void mlir::sfsdp::recomputeSavedValues(const Sharding &sharding) {
  func::FuncOp function = sharding.function;
  Block &block = function.getBody().front();
  SavedValues saved(sharding);
  for (Operation &op : block) {
    saved.visit(op);
  }
  // Last to first: when an operation's turn comes, what reads it has its copy,
  // which is one of the readers in backward.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    SmallVector<Operation *> readers = backwardReaders(op, saved);
    if (phaseOf(&op) == Phase::Forward && !readers.empty()) {
      repeatFor(op, readers, saved);
    }
  }
}
