//===- StepGraph.h - A function as the ordering problems see it -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by the tests of sfsdp-bucket and sfsdp-reorder.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_STEPGRAPH_H
#define SFSDP_PASSES_STEPGRAPH_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/analysis/Node.h"
#include "runtime/Status.h"

namespace mlir::sfsdp {

struct StepGraph {
  /// All operations but the return, in the order of the text.
  SmallVector<Operation *, 0> ops;
  /// One for each of `ops`. An update comes after all reads of what it
  /// overwrites.
  std::vector<::sfsdp::analysis::Node> nodes;
};

StepGraph buildStepGraph(func::FuncOp function);

/// Emits the message of `status`, if it has one, as an error at `function`.
LogicalResult report(func::FuncOp function,
                     const ::sfsdp::runtime::Status &status);

/// Moves `op` to the end of the block, before the return: done for every
/// operation in turn, it gives the block a new order.
void moveToEnd(Operation *op);

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_STEPGRAPH_H
