//===- ClipGradients.cpp - Clip gradients before their updates ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The norm of a parameter is made from the norms of the chunks that the ranks
// hold, also where every rank holds the whole: so sharding changes no bit. What
// is sharded needs the other ranks' norms, and gets them by one collective.
//
// Tested by test/passes/clip-gradients*.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/GradientNorms.h"
#include "passes/Passes.h"
#include "passes/TrainStep.h"

#include <cmath>

namespace mlir::sfsdp {
#define GEN_PASS_DEF_CLIPGRADIENTSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::sfsdp

using namespace mlir;
using namespace mlir::sfsdp;

/// The updates of `function`, in the order of their parameters.
static FailureOr<SmallVector<UpdateOpInterface>>
findUpdates(func::FuncOp function) {
  SmallVector<UpdateOpInterface> updates;
  for (auto update : function.getBody().front().getOps<UpdateOpInterface>()) {
    if (!isa<BlockArgument>(update.getUpdatedParameter())) {
      return update.emitOpError()
             << "expected to update an argument, got another value";
    }
    if (!update.getGuardOperand().empty()) {
      return update.emitOpError() << "expected no guard before "
                                  << kClipGradientsPassName << ", got one";
    }
    updates.push_back(update);
  }
  llvm::stable_sort(updates, [](UpdateOpInterface a, UpdateOpInterface b) {
    return cast<BlockArgument>(a.getUpdatedParameter()).getArgNumber() <
           cast<BlockArgument>(b.getUpdatedParameter()).getArgNumber();
  });
  return updates;
}

/// Moves every update that stands before `op` behind it; they keep their order.
static void moveBehind(Operation *op) {
  SmallVector<UpdateOpInterface> before;
  for (auto update : op->getBlock()->getOps<UpdateOpInterface>()) {
    if (update->isBeforeInBlock(op)) {
      before.push_back(update);
    }
  }
  for (UpdateOpInterface update : llvm::reverse(before)) {
    update->moveAfter(op);
  }
}

/// Lets `update` read its gradient times `coefficient`.
static void scaleGradient(UpdateOpInterface update, Value coefficient) {
  OpBuilder builder(update);
  OpOperand &gradient = update.getGradientOperand();
  ScopeAttr scope = scopeMovedBy(builder.getContext(), scopeOf(update),
                                 Phase::Optimizer, kClipGradientsPassName);
  Attribute marker = OperandAttr::get(builder.getContext());
  auto product =
      AtenOp::create(builder, update.getLoc(), gradient.get().getType(),
                     "mul.Tensor", ValueRange{gradient.get(), coefficient},
                     builder.getArrayAttr({marker, marker}), /*absent=*/nullptr,
                     OperatorEffect::Pure, /*random_id=*/nullptr, scope);
  gradient.set(product.getResult(0));
}

/// Returns `values` too, each with its role.
static void addResults(func::FuncOp function,
                       ArrayRef<std::pair<Value, RoleAttr>> values) {
  func::ReturnOp returned = returnOf(function);
  SmallVector<Value> operands(returned.getOperands());
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  for (auto [value, role] : values) {
    operands.push_back(value);
    types.push_back(value.getType());
    NamedAttribute attribute(
        StringAttr::get(function.getContext(), kRoleAttrName), role);
    attributes.push_back(
        DictionaryAttr::get(function.getContext(), {attribute}));
  }
  SmallVector<unsigned> positions(types.size(), function.getNumResults());
  (void)function.insertResults(positions, types, attributes);
  returned->setOperands(operands);
}

namespace {

struct ClipGradients final
    : mlir::sfsdp::impl::ClipGradientsPassBase<ClipGradients> {
  using ClipGradientsPassBase::ClipGradientsPassBase;

  void runOnOperation() override {
    FailureOr<std::optional<double>> max = readMax();
    FailureOr<SmallVector<func::FuncOp>> programs =
        findPrograms(getOperation());
    if (failed(max) || failed(programs)) {
      return signalPassFailure();
    }
    if (!*max && !skipNonfinite) {
      return;
    }
    func::FuncOp function = programs->back();
    FailureOr<SmallVector<UpdateOpInterface>> updates = findUpdates(function);
    if (failed(updates)) {
      return signalPassFailure();
    }
    if (updates->empty()) {
      mlir::emitWarning(function.getLoc())
          << "options clip-norm and skip-nonfinite change nothing: the step "
             "has no updates";
      return;
    }
    FailureOr<NormPlan> plan = planNorms(function, *updates);
    if (failed(plan)) {
      return signalPassFailure();
    }
    apply(function, *updates, *plan, *max);
  }

  void apply(func::FuncOp function, ArrayRef<UpdateOpInterface> updates,
             const NormPlan &plan, std::optional<double> max) {
    GradientNorms norms = writeNorms(function, updates, plan);
    OpBuilder builder(&getContext());
    builder.setInsertionPointAfterValue(norms.total);
    Location loc = function.getLoc();
    ScopeAttr scope = clippingScope(&getContext());
    SmallVector<std::pair<Value, RoleAttr>> results;
    auto add = [&](Value value, RoleKind kind, StringRef name) {
      results.emplace_back(value, RoleAttr::get(&getContext(), kind, name));
    };
    add(norms.total, RoleKind::GradientNorm, "grad_norm");
    Operation *last = norms.total.getDefiningOp();
    Value coefficient, guard;
    if (max) {
      coefficient = ClipCoefficientOp::create(builder, loc, norms.total,
                                              APFloat(*max), scope);
      last = coefficient.getDefiningOp();
    }
    if (skipNonfinite) {
      guard = IsFiniteOp::create(builder, loc, norms.total, scope);
      add(guard, RoleKind::Applied, "applied");
      last = guard.getDefiningOp();
    }
    moveBehind(last);
    for (auto [position, ofChunks] : llvm::enumerate(norms.ofChunks)) {
      UpdateOpInterface update = updates[position];
      if (coefficient) {
        scaleGradient(update, coefficient);
      }
      if (guard) {
        update.getGuardOperand().assign(guard);
      }
      auto parameter = cast<BlockArgument>(update.getUpdatedParameter());
      add(ofChunks, RoleKind::ChunkNorms,
          argumentRole(function, parameter.getArgNumber()).getName());
    }
    addResults(function, results);
  }

  /// The bound of the norm; absent when nothing is clipped.
  FailureOr<std::optional<double>> readMax() {
    if (clipNorm.empty()) {
      return std::optional<double>();
    }
    if (clipNorm.size() > 1 || !(clipNorm[0] > 0) ||
        !std::isfinite(clipNorm[0])) {
      InFlightDiagnostic error = getOperation().emitError()
                                 << "option clip-norm: expected one positive "
                                    "finite number, got ";
      llvm::interleaveComma(clipNorm, error);
      return error;
    }
    return std::optional<double>(clipNorm[0]);
  }
};

} // namespace
