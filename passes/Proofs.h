//===- Proofs.h - What is proved before anything runs ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of a finished training step that trust no pass: they read the IR
// alone and share no code with what made it. Each fails with one diagnostic
// that names the operation and the parameter.
//
// Tested by test/passes/verify-order.mlir and verify-lifetimes.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_PROOFS_H
#define SFSDP_PASSES_PROOFS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sfsdp {

/// Every start has one wait, both in the function's own block, so that all
/// ranks issue the same collectives in the order of the text; nothing with
/// unknown effects stands between a start and its wait.
LogicalResult proveOrder(func::FuncOp function);

/// Nothing is read after it was overwritten, nothing that a collective in
/// flight reads is overwritten, and each gradient and each updated parameter,
/// buffer or state is there, with the placement of its argument.
LogicalResult proveLifetimes(func::FuncOp function);

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_PROOFS_H
