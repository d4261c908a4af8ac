//===- TrainStep.cpp - Reading the function of a training step ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by the tests of the passes in test/passes/.
//
//===----------------------------------------------------------------------===//

#include "passes/TrainStep.h"

using namespace mlir;
using namespace mlir::sfsdp;

static LogicalResult expectOneBlock(func::FuncOp function) {
  if (!llvm::hasSingleElement(function.getBody())) {
    return function.emitError() << "expected a body of one block, got "
                                << function.getBody().getBlocks().size();
  }
  return success();
}

FailureOr<func::FuncOp> mlir::sfsdp::findTrainStep(ModuleOp module) {
  auto functions = module.getOps<func::FuncOp>();
  size_t count = std::distance(functions.begin(), functions.end());
  if (count != 1) {
    return module.emitError()
           << "expected one function, the training step, got " << count;
  }
  func::FuncOp function = *functions.begin();
  if (failed(expectOneBlock(function))) {
    return failure();
  }
  return function;
}

FailureOr<SmallVector<func::FuncOp>>
mlir::sfsdp::findPrograms(ModuleOp module) {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  bool isMicro = functions.size() == 2 &&
                 functions[0].getName() == kMicroStepName &&
                 functions[1].getName() == kLastMicroStepName;
  if (functions.size() != 1 && !isMicro) {
    return module.emitError()
           << "expected one function, the training step, or " << kMicroStepName
           << " and " << kLastMicroStepName << ", got " << functions.size();
  }
  if (isMicro != module->hasAttr(kMicroBatchesAttrName)) {
    return module.emitError()
           << "expected " << kMicroBatchesAttrName << " on the module of "
           << kMicroStepName << " and " << kLastMicroStepName
           << ", and on no other";
  }
  for (func::FuncOp function : functions) {
    if (failed(expectOneBlock(function))) {
      return failure();
    }
  }
  return functions;
}

func::ReturnOp mlir::sfsdp::returnOf(func::FuncOp function) {
  return cast<func::ReturnOp>(function.getBody().front().getTerminator());
}

RoleAttr mlir::sfsdp::argumentRole(func::FuncOp function, unsigned index) {
  return function.getArgAttrOfType<RoleAttr>(index, kRoleAttrName);
}

RoleAttr mlir::sfsdp::resultRole(func::FuncOp function, unsigned index) {
  return function.getResultAttrOfType<RoleAttr>(index, kRoleAttrName);
}

SmallVector<BlockArgument> mlir::sfsdp::argumentsWithRole(func::FuncOp function,
                                                          RoleKind kind) {
  return llvm::filter_to_vector(
      function.getArguments(), [&](BlockArgument argument) {
        RoleAttr role = argumentRole(function, argument.getArgNumber());
        return role && role.getKind() == kind;
      });
}

ScopeAttr mlir::sfsdp::scopeOf(Operation *op) {
  return op->getAttrOfType<ScopeAttr>("scope");
}

Phase mlir::sfsdp::phaseOf(Operation *op) {
  ScopeAttr scope = scopeOf(op);
  return scope ? scope.getPhase() : Phase::Forward;
}

StringRef mlir::sfsdp::moduleOfParameter(StringRef name) {
  size_t dot = name.rfind('.');
  return dot == StringRef::npos ? StringRef() : name.take_front(dot);
}

ScopeAttr mlir::sfsdp::scopeForParameter(MLIRContext *context, Phase phase,
                                         StringRef name, StringRef pass) {
  return ScopeAttr::get(context, phase,
                        StringAttr::get(context, moduleOfParameter(name)),
                        StringAttr(), StringAttr::get(context, pass));
}

ScopeAttr mlir::sfsdp::scopeMovedBy(MLIRContext *context, ScopeAttr scope,
                                    Phase phase, StringRef pass) {
  return ScopeAttr::get(
      context, phase, scope ? scope.getModule() : StringAttr::get(context, ""),
      scope ? scope.getSource() : StringAttr(), StringAttr::get(context, pass));
}

Operation *mlir::sfsdp::firstInBlock(ArrayRef<Operation *> ops) {
  Operation *first = nullptr;
  for (Operation *op : ops) {
    if (!first || op->isBeforeInBlock(first)) {
      first = op;
    }
  }
  return first;
}
