//===- AppendOptimizer.cpp - Update parameters in the training step -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An update overwrites memory, so it comes after everything that reads the old
// value: reads of the parameter, of its views, and of results that share its
// memory, which become copies first.
//
// Tested by test/passes/append-optimizer*.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/Names.h"
#include "passes/Operators.h"
#include "passes/OptimizerUpdates.h"
#include "passes/SharedMemory.h"
#include "passes/TrainStep.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::sfsdp {
#define GEN_PASS_DEF_APPENDOPTIMIZERPASS
#include "passes/Passes.h.inc"
} // namespace mlir::sfsdp

using namespace mlir;
using namespace mlir::sfsdp;

/// The parameters with a gradient, in the order of the arguments.
static FailureOr<SmallVector<TrainedParameter>>
findTrained(func::FuncOp function) {
  llvm::StringMap<unsigned> gradients;
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    RoleAttr role = resultRole(function, index);
    if (role && role.getKind() == RoleKind::Gradient) {
      gradients[role.getName()] = index;
    }
  }
  SmallVector<TrainedParameter> trained;
  for (BlockArgument argument :
       argumentsWithRole(function, RoleKind::Parameter)) {
    RoleAttr role = argumentRole(function, argument.getArgNumber());
    auto gradient = gradients.find(role.getName());
    if (gradient == gradients.end()) {
      continue;
    }
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !isa<FloatType>(type.getElementType())) {
      return function.emitError()
             << "parameter " << role.getName()
             << ": expected a tensor of floats to update, got "
             << argument.getType();
    }
    trained.push_back({argument, role, gradient->second});
  }
  return trained;
}

/// One remark on all results that became copies.
static void remarkOnCopies(func::FuncOp function,
                           ArrayRef<std::pair<unsigned, StringAttr>> copies) {
  if (copies.empty()) {
    return;
  }
  auto remark = mlir::emitRemark(function.getLoc());
  if (copies.size() == 1) {
    remark << "result " << copies.front().first
           << " is a copy: it shares memory with parameter "
           << copies.front().second << ", which the step updates";
    return;
  }
  SmallVector<std::string> names;
  for (auto [result, parameter] : copies) {
    names.push_back(
        (Twine(result) + " with \"" + parameter.getValue() + "\"").str());
  }
  remark << copies.size()
         << " results are copies, as they share memory with parameters that "
            "the step updates: "
         << listNames(names);
}

/// Makes each result that shares memory with a trained parameter a copy: it
/// means the value before the update.
static void copySharedResults(func::FuncOp function,
                              ArrayRef<TrainedParameter> trained,
                              const SharedMemory &memory) {
  SmallVector<std::pair<unsigned, StringAttr>> copies;
  for (OpOperand &result : returnOf(function)->getOpOperands()) {
    auto *parameter = llvm::find_if(trained, [&](const TrainedParameter &it) {
      return memory.share(result.get(), it.argument);
    });
    if (parameter == trained.end()) {
      continue;
    }
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfterValue(result.get());
    ScopeAttr scope =
        scopeForParameter(function.getContext(), Phase::Forward,
                          parameter->name(), kAppendOptimizerPassName);
    result.set(cloneOf(builder, result.get().getLoc(), result.get(), scope));
    copies.emplace_back(result.getOperandNumber(), parameter->name());
  }
  remarkOnCopies(function, copies);
}

/// The last operation that must come before the update of `parameter`; null if
/// there is none.
static Operation *lastBefore(const TrainedParameter &parameter,
                             const SharedMemory &memory, Value gradient) {
  Operation *last = gradient.getDefiningOp();
  for (Value value : memory.sharersOf(parameter.argument)) {
    for (Operation *user : value.getUsers()) {
      if (!last || last->isBeforeInBlock(user)) {
        last = user;
      }
    }
  }
  return last;
}

/// Drops the gradient results.
static void dropGradients(func::FuncOp function) {
  llvm::BitVector dropped(function.getNumResults());
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    RoleAttr role = resultRole(function, index);
    if (role && role.getKind() == RoleKind::Gradient) {
      dropped.set(index);
    }
  }
  returnOf(function)->eraseOperands(dropped);
  (void)function.eraseResults(dropped);
}

static LogicalResult checkUntrained(func::FuncOp function) {
  if (!argumentsWithRole(function, RoleKind::State).empty() ||
      !argumentsWithRole(function, RoleKind::HyperParameter).empty()) {
    return function.emitError()
           << "expected a step without optimizer, got one with optimizer state "
              "or hyper-parameters";
  }
  return success();
}

/// The new values of each trained parameter, in the order of `trained`.
static void appendUpdates(func::FuncOp function,
                          ArrayRef<TrainedParameter> trained,
                          const UpdateRule &rule) {
  SharedMemory memory(function);
  copySharedResults(function, trained, memory);
  // All anchors are found before anything is inserted, so that updates do not
  // count as reads of each other's parameters.
  SmallVector<Operation *> anchors;
  SmallVector<Value> gradients;
  for (const TrainedParameter &parameter : trained) {
    gradients.push_back(returnOf(function).getOperand(parameter.gradient));
    anchors.push_back(lastBefore(parameter, memory, gradients.back()));
  }
  UpdateWriter writer(function, rule, trained);
  for (auto [parameter, gradient, anchor] :
       llvm::zip(trained, gradients, anchors)) {
    writer.update(parameter, gradient, anchor);
  }
  writer.finish();
}

namespace {

struct AppendOptimizer final
    : mlir::sfsdp::impl::AppendOptimizerPassBase<AppendOptimizer> {
  using AppendOptimizerPassBase::AppendOptimizerPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        findPrograms(getOperation());
    FailureOr<UpdateRule> rule = readRule();
    if (failed(programs) || failed(rule)) {
      return signalPassFailure();
    }
    func::FuncOp function = programs->back();
    if (rule->optimizer == Optimizer::None) {
      return;
    }
    FailureOr<SmallVector<TrainedParameter>> trained = findTrained(function);
    if (failed(checkUntrained(function)) || failed(trained)) {
      return signalPassFailure();
    }
    GroupOptions groups{noDecay, lrScale};
    if (failed(chooseGroups(getOperation(), *rule, groups, *trained))) {
      return signalPassFailure();
    }
    if (trained->empty()) {
      mlir::emitRemark(function.getLoc())
          << "nothing to update: no parameter has a gradient";
      return;
    }
    appendUpdates(function, *trained, *rule);
    if (results == StepResults::None) {
      dropGradients(function);
    }
  }

  FailureOr<UpdateRule> readRule() {
    UpdateRule rule;
    rule.optimizer = optimizer;
    if (weightDecay.size() > 1) {
      return getOperation().emitError()
             << "option weight-decay: expected one number, got "
             << weightDecay.size();
    }
    rule.weightDecay = !weightDecay.empty()            ? weightDecay[0]
                       : optimizer == Optimizer::AdamW ? 0.01
                                                       : 0.0;
    rule.eps = eps;
    rule.momentum = momentum;
    rule.nesterov = nesterov;
    rule.hasOwnBetas = !betas.empty();
    if (betas.empty()) {
      return checkRule(getOperation(), rule);
    }
    if (betas.size() != 2) {
      return getOperation().emitError()
             << "option betas: expected two numbers, got " << betas.size();
    }
    rule.beta1 = betas[0];
    rule.beta2 = betas[1];
    return checkRule(getOperation(), rule);
  }
};

} // namespace
