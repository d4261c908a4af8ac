//===- Import.cpp - From a captured graph to IR -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Import.h.
//
// Tested by test/tools/import-refusals.test.
//
//===----------------------------------------------------------------------===//

#include "passes/import/Import.h"

#include "dialect/Sfsdp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "passes/import/StepBuilder.h"

using namespace mlir;
using namespace mlir::sfsdp;

namespace exported = ::sfsdp::exported;
namespace rules = ::sfsdp::rules;
namespace runtime = ::sfsdp::runtime;

/// Emits `message` at the file; a message that names the file first, as those
/// of archives do, names it once.
static void emitFailure(Location file, StringRef path, StringRef message) {
  if (message.consume_front(path)) {
    message.consume_front(": ");
  }
  emitError(file) << message;
}

/// Allows the operators of `options`; false after an error.
static bool allowOperators(const ImportOptions &options, Location file,
                           rules::SchemaTable &schemas) {
  for (const std::string &schema : options.allowedOperators) {
    runtime::Status status = schemas.allow(schema);
    if (!status.ok()) {
      emitError(file) << status.message();
      return false;
    }
  }
  return true;
}

bool mlir::sfsdp::looksLikeArchive(StringRef bytes) {
  return exported::looksLikeGraph(bytes);
}

OwningOpRef<ModuleOp> mlir::sfsdp::importGraph(const std::string &path,
                                               MLIRContext &context,
                                               const ImportOptions &options) {
  context.loadDialect<func::FuncDialect, SfsdpDialect>();
  Location location = FileLineColLoc::get(&context, path, /*line=*/0,
                                          /*column=*/0);
  rules::SchemaTable schemas;
  if (!allowOperators(options, location, schemas)) {
    return nullptr;
  }
  runtime::Expected<exported::GraphFile> file = exported::readGraphFile(path);
  if (!file) {
    emitFailure(location, path, file.message());
    return nullptr;
  }
  exported::Report report;
  std::optional<exported::CapturedStep> step =
      exported::resolveStep(*file, schemas, report);
  for (const std::string &warning : report.warnings) {
    emitWarning(location) << warning;
  }
  for (const std::string &error : report.errors) {
    emitError(location) << error;
  }
  if (!step) {
    return nullptr;
  }
  OwningOpRef<ModuleOp> module = buildStep(*file, *step, context);
  if (failed(verify(*module))) {
    return nullptr;
  }
  return module;
}
