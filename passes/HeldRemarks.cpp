//===- HeldRemarks.cpp - Errors first and alone ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/tools/pipeline-remarks.test.
//
//===----------------------------------------------------------------------===//

#include "passes/HeldRemarks.h"

using namespace mlir;
using namespace mlir::sfsdp;

HeldRemarks::HeldRemarks(DiagnosticEngine &engine) : engine(engine) {
  handler = engine.registerHandler([this](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
      failed = true;
      return failure();
    }
    held.push_back(std::move(diagnostic));
    return success();
  });
}

HeldRemarks::~HeldRemarks() {
  engine.eraseHandler(handler);
  if (failed) {
    return;
  }
  for (Diagnostic &diagnostic : held) {
    engine.emit(std::move(diagnostic));
  }
}
