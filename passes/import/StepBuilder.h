//===- StepBuilder.h - IR of a captured step ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/tools/import-roles.test and import-operators.test.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_IMPORT_STEPBUILDER_H
#define SFSDP_PASSES_IMPORT_STEPBUILDER_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/import/CapturedStep.h"

namespace mlir::sfsdp {

/// The module of `step`, which came from `file`.
OwningOpRef<ModuleOp> buildStep(const ::sfsdp::exported::GraphFile &file,
                                const ::sfsdp::exported::CapturedStep &step,
                                MLIRContext &context);

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_IMPORT_STEPBUILDER_H
