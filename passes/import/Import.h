//===- Import.h - From a captured graph to IR ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/tools/import-roles.test, import-operators.test,
// import-refusals.test and their neighbours.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_IMPORT_IMPORT_H
#define SFSDP_PASSES_IMPORT_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <vector>

namespace mlir::sfsdp {

struct ImportOptions {
  /// Schemas of the user's own operators, in PyTorch's notation.
  std::vector<std::string> allowedOperators;
};

/// True for the first bytes of a `.pt2` archive, or of its bare JSON.
bool looksLikeArchive(StringRef bytes);

/// Reads the graph in the file at `path` and makes a module of it: one function
/// `train_step`, or `eval_step` for a graph without backward, whose arguments
/// and results have their roles. Weights stay in the file. Loads the dialects
/// that it needs into `context`. Null after an error; all messages are
/// diagnostics at the location of the file.
OwningOpRef<ModuleOp> importGraph(const std::string &path, MLIRContext &context,
                                  const ImportOptions &options = {});

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_IMPORT_IMPORT_H
