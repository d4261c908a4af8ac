//===- EmitPlan.cpp - Write the plan of a training step -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables from the IR, lifetimes from the tables, proofs from both, one file.
//
// Tested by test/passes/emit-plan.mlir and emit-plan-invalid.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/PlanTables.h"
#include "passes/Proofs.h"
#include "passes/TrainStep.h"
#include "passes/Version.h"
#include "passes/analysis/Lifetimes.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::sfsdp {
#define GEN_PASS_DEF_EMITPLANPASS
#include "passes/Passes.h.inc"
} // namespace mlir::sfsdp

using namespace mlir;
using namespace mlir::sfsdp;
namespace plan = ::sfsdp::runtime;

namespace {

/// Proves order on the IR and memory on the plan, and records both.
LogicalResult recordProofs(ArrayRef<func::FuncOp> programs,
                           plan::Plan &tables) {
  for (func::FuncOp program : programs) {
    if (failed(proveOrder(program)) || failed(proveLifetimes(program))) {
      return failure();
    }
  }
  if (plan::Status proof = ::sfsdp::analysis::proveLifetimes(tables);
      !proof.ok()) {
    return programs.front()->getParentOp()->emitError() << proof.message();
  }
  std::string digest = plan::digestOf(tables);
  tables.header.proved = {{"order", digest}, {"memory", digest}};
  return success();
}

/// Writes into what is no file, as a device or pipe: a rename would replace it.
llvm::Error writeDevice(StringRef path, StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream << text;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  return llvm::errorCodeToError(error);
}

/// Writes the whole file or nothing.
LogicalResult writeFile(Location location, StringRef path, StringRef text) {
  llvm::sys::fs::file_status status;
  bool isDevice =
      !llvm::sys::fs::status(path, status) && llvm::sys::fs::is_other(status);
  llvm::Error failed =
      isDevice ? writeDevice(path, text)
               : llvm::writeToOutput(path, [&](raw_ostream &stream) {
                   stream << text;
                   return llvm::Error::success();
                 });
  if (failed) {
    return emitError(location) << "could not write '" << path
                               << "': " << llvm::toString(std::move(failed));
  }
  return success();
}

struct EmitPlanPass final : mlir::sfsdp::impl::EmitPlanPassBase<EmitPlanPass> {
  using EmitPlanPassBase::EmitPlanPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        findPrograms(getOperation());
    if (failed(programs)) {
      return signalPassFailure();
    }
    ::sfsdp::rules::SchemaTable schemas;
    FailureOr<plan::Plan> tables = buildPlanTables(*programs, schemas);
    if (failed(tables)) {
      return signalPassFailure();
    }
    tables->header.compiler = std::string("simplefsdp-opt ") + kVersion;
    if (auto options =
            getOperation()->getAttrOfType<StringAttr>(kOptionsAttrName)) {
      tables->header.options = options.str();
    }
    tables->header.device = "cpu";
    if (auto count =
            getOperation()->getAttrOfType<IntegerAttr>(kMicroBatchesAttrName)) {
      tables->header.microBatches = count.getInt();
    }
    ::sfsdp::analysis::assignLifetimes(*tables);
    if (failed(recordProofs(*programs, *tables)) ||
        failed(writeFile(getOperation().getLoc(), output.getValue(),
                         plan::writePlan(*tables)))) {
      return signalPassFailure();
    }
  }
};

} // namespace
