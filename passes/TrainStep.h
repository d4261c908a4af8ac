//===- TrainStep.h - Reading the function of a training step --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roles of arguments and results, phases and scopes of operations: what every
// pass asks before it decides anything.
//
// Tested by the tests of the passes in test/passes/.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_TRAINSTEP_H
#define SFSDP_PASSES_TRAINSTEP_H

#include "dialect/Sfsdp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sfsdp {

/// Names of the functions of a step with several micro-batches: all but the
/// last one, and the last one, which updates the parameters.
inline constexpr llvm::StringLiteral kMicroStepName = "micro_step";
inline constexpr llvm::StringLiteral kLastMicroStepName = "last_micro_step";

/// The one function of `module`. Fails with a diagnostic unless there is
/// exactly one and its body is one block.
FailureOr<func::FuncOp> findTrainStep(ModuleOp module);

/// The functions of a step in the order in which they run, each of one block:
/// the only one, or micro_step and last_micro_step. Fails with a diagnostic on
/// any other module.
FailureOr<SmallVector<func::FuncOp>> findPrograms(ModuleOp module);

/// The operands of the return are the results.
func::ReturnOp returnOf(func::FuncOp function);

/// Null for an argument or result without role.
RoleAttr argumentRole(func::FuncOp function, unsigned index);
RoleAttr resultRole(func::FuncOp function, unsigned index);

/// The arguments with role `kind`, in order.
SmallVector<BlockArgument> argumentsWithRole(func::FuncOp function,
                                             RoleKind kind);

/// Null for an operation without scope.
ScopeAttr scopeOf(Operation *op);

/// Forward for an operation without scope.
Phase phaseOf(Operation *op);

/// Module of a parameter: "layers.0.wq" of "layers.0.wq.weight".
StringRef moduleOfParameter(StringRef name);

/// Scope of an operation that `pass` makes for the parameter `name`.
ScopeAttr scopeForParameter(MLIRContext *context, Phase phase, StringRef name,
                            StringRef pass);

/// `scope` in another phase, made by `pass`; source line and module stay.
/// `scope` may be null.
ScopeAttr scopeMovedBy(MLIRContext *context, ScopeAttr scope, Phase phase,
                       StringRef pass);

/// The one that comes first in the text; null for an empty list. All are in one
/// block.
Operation *firstInBlock(ArrayRef<Operation *> ops);

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_TRAINSTEP_H
