//===- SharedMemory.cpp - Which values of a function share memory ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/append-optimizer-aliases.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/SharedMemory.h"

#include "passes/OperatorBridge.h"
#include "passes/Operators.h"
#include "llvm/ADT/IntEqClasses.h"

using namespace mlir;
using namespace mlir::sfsdp;

/// Calls `join` with each pair of a result and an operand that share memory.
static void visitShared(Operation *op, rules::SchemaTable &schemas,
                        function_ref<void(Value, Value)> join) {
  if (auto inPlace = dyn_cast<InPlaceOpInterface>(op)) {
    for (OpResult result : op->getResults()) {
      join(result, inPlace.getTiedOperand(result.getResultNumber()).get());
    }
    return;
  }
  if (isBarrier(op)) {
    for (Value result : op->getResults()) {
      for (Value operand : op->getOperands()) {
        join(result, operand);
      }
    }
    return;
  }
  for (auto [result, view] :
       llvm::zip(op->getResults(), viewsOf(op, schemas))) {
    if (view) {
      join(result, view->operand->get());
    }
  }
}

SharedMemory::SharedMemory(func::FuncOp function) {
  SmallVector<Value> values;
  auto add = [&](Value value) {
    classOf[value] = values.size();
    values.push_back(value);
  };
  Block &block = function.getBody().front();
  llvm::for_each(block.getArguments(), add);
  for (Operation &op : block) {
    llvm::for_each(op.getResults(), add);
  }
  llvm::IntEqClasses classes(values.size());
  rules::SchemaTable schemas;
  for (Operation &op : block) {
    visitShared(&op, schemas, [&](Value a, Value b) {
      classes.join(classOf[a], classOf[b]);
    });
  }
  classes.compress();
  members.resize(classes.getNumClasses());
  for (auto [position, value] : llvm::enumerate(values)) {
    classOf[value] = classes[position];
    members[classes[position]].push_back(value);
  }
}

bool SharedMemory::share(Value a, Value b) const {
  return classOf.lookup(a) == classOf.lookup(b);
}

ArrayRef<Value> SharedMemory::sharersOf(Value value) const {
  return members[classOf.lookup(value)];
}
