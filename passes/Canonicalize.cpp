//===- Canonicalize.cpp - Remove what changes no bits ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/canonicalize*.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/OperatorBridge.h"
#include "passes/Operators.h"
#include "passes/Passes.h"
#include "passes/TrainStep.h"

namespace mlir::sfsdp {
#define GEN_PASS_DEF_CANONICALIZEPASS
#include "passes/Passes.h.inc"
} // namespace mlir::sfsdp

using namespace mlir;
using namespace mlir::sfsdp;

/// Removes operators that only rename their operand.
static void dropIdentities(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isIdentity(&op) &&
        op.getOperand(0).getType() == op.getResult(0).getType()) {
      op.getResult(0).replaceAllUsesWith(op.getOperand(0));
      op.erase();
    }
  }
}

static bool isView(Operation &op, rules::SchemaTable &schemas) {
  return llvm::any_of(viewsOf(&op, schemas),
                      [](const auto &view) { return view.has_value(); });
}

/// Whether both call the same operator with the same arguments in one phase.
static bool isSameCall(AtenOp a, AtenOp b) {
  return a.getCallee() == b.getCallee() && phaseOf(a) == phaseOf(b) &&
         a.getInputs() == b.getInputs() &&
         a.getArguments() == b.getArguments() &&
         a->getResultTypes() == b->getResultTypes() &&
         a.getAbsentAttr() == b.getAbsentAttr();
}

/// Merges views and casts with an earlier equal one of their phase. Merging
/// across phases would keep the value alive between them.
static void mergeDuplicates(Block &block) {
  rules::SchemaTable schemas;
  std::unordered_map<size_t, SmallVector<AtenOp, 1>> seen;
  for (AtenOp op : llvm::make_early_inc_range(block.getOps<AtenOp>())) {
    if (!isRepeatable(op) || !(isCast(op) || isView(*op, schemas))) {
      continue;
    }
    size_t hash = llvm::hash_combine(
        op.getCalleeAttr(), op.getArgumentsAttr(), phaseOf(op),
        llvm::hash_combine_range(op->operand_begin(), op->operand_end()));
    SmallVector<AtenOp, 1> &alike = seen[hash];
    auto *earlier =
        llvm::find_if(alike, [&](AtenOp it) { return isSameCall(it, op); });
    if (earlier == alike.end()) {
      alike.push_back(op);
      continue;
    }
    op->replaceAllUsesWith((*earlier)->getResults());
    op->erase();
  }
}

/// Removes operations without effects that nothing reads, users first.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
    }
  }
}

namespace {

struct Canonicalize final
    : mlir::sfsdp::impl::CanonicalizePassBase<Canonicalize> {
  using CanonicalizePassBase::CanonicalizePassBase;

  void runOnOperation() override {
    FailureOr<func::FuncOp> function = findTrainStep(getOperation());
    if (failed(function)) {
      return signalPassFailure();
    }
    Block &block = function->getBody().front();
    dropIdentities(block);
    mergeDuplicates(block);
    eraseDead(block);
  }
};

} // namespace
