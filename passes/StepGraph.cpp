//===- StepGraph.cpp - A function as the ordering problems see it ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by the tests of sfsdp-bucket and sfsdp-reorder.
//
//===----------------------------------------------------------------------===//

#include "passes/StepGraph.h"

#include "dialect/Sfsdp.h"
#include "passes/Operators.h"
#include "passes/SharedMemory.h"

using namespace mlir;
using namespace mlir::sfsdp;

using NodeIds = DenseMap<Operation *, ::sfsdp::analysis::NodeId>;

/// Adds the readers of `value` that have an id.
static void addReaders(Value value, const NodeIds &ids,
                       std::vector<::sfsdp::analysis::NodeId> &after) {
  for (Operation *reader : value.getUsers()) {
    if (auto id = ids.find(reader); id != ids.end()) {
      after.push_back(id->second);
    }
  }
}

/// Adds the earlier readers of what `op` overwrites: neither `op` nor what
/// follows it has an id yet.
static void addEarlierReaders(InPlaceOpInterface op, const NodeIds &ids,
                              const SharedMemory &memory,
                              std::vector<::sfsdp::analysis::NodeId> &after) {
  for (OpResult result : op->getResults()) {
    Value tied = op.getTiedOperand(result.getResultNumber()).get();
    for (Value value : memory.sharersOf(tied)) {
      addReaders(value, ids, after);
    }
  }
}

StepGraph mlir::sfsdp::buildStepGraph(func::FuncOp function) {
  StepGraph graph;
  NodeIds ids;
  SharedMemory memory(function);
  for (Operation &op : function.getBody().front().without_terminator()) {
    ::sfsdp::analysis::Node node;
    node.isBarrier = isBarrier(&op);
    node.isCommunication = isa<CollectiveOpInterface, WaitOp>(op);
    for (Value operand : op.getOperands()) {
      if (Operation *maker = operand.getDefiningOp()) {
        node.after.push_back(ids.lookup(maker));
      }
    }
    if (auto inPlace = dyn_cast<InPlaceOpInterface>(op)) {
      addEarlierReaders(inPlace, ids, memory, node.after);
    }
    llvm::sort(node.after);
    node.after.erase(llvm::unique(node.after), node.after.end());
    ids[&op] = graph.ops.size();
    graph.ops.push_back(&op);
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

LogicalResult mlir::sfsdp::report(func::FuncOp function,
                                  const ::sfsdp::runtime::Status &status) {
  return status.ok() ? success()
                     : LogicalResult(function.emitError() << status.message());
}

void mlir::sfsdp::moveToEnd(Operation *op) {
  op->moveBefore(op->getBlock()->getTerminator());
}
