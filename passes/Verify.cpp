//===- Verify.cpp - Prove order and lifetimes -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/verify*.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/Proofs.h"

namespace mlir::sfsdp {
#define GEN_PASS_DEF_VERIFYPASS
#include "passes/Passes.h.inc"
} // namespace mlir::sfsdp

using namespace mlir;
using namespace mlir::sfsdp;

namespace {

struct Verify final : mlir::sfsdp::impl::VerifyPassBase<Verify> {
  using VerifyPassBase::VerifyPassBase;

  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      if (failed(proveOrder(function)) || failed(proveLifetimes(function))) {
        return signalPassFailure();
      }
    }
    markAllAnalysesPreserved();
  }
};

} // namespace
