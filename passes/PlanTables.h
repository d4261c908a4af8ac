//===- PlanTables.h - From IR to the tables of a plan -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Translates a verified @train_step into the arguments, values, scalars and
// instructions of a plan. Operations become instructions in text order; which
// result shares which storage follows from the operator rules.
//
// Tested by test/passes/emit-plan.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_PLANTABLES_H
#define SFSDP_PASSES_PLANTABLES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/rules/Schema.h"
#include "runtime/Plan.h"

namespace mlir::sfsdp {

/// The plan of `programs` (findPrograms), complete but for lifetimes, proofs
/// and the header's compiler, options and device. Fails with a diagnostic at
/// the operation that a plan cannot hold.
FailureOr<::sfsdp::runtime::Plan>
buildPlanTables(ArrayRef<func::FuncOp> programs,
                ::sfsdp::rules::SchemaTable &schemas);

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_PLANTABLES_H
