//===- HeldRemarks.h - Errors first and alone -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who reads an error wants to read nothing before it. Remarks and warnings of
// a run therefore wait for its end, and only a run without errors shows them.
//
// Tested by test/tools/pipeline-remarks.test.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_HELDREMARKS_H
#define SFSDP_PASSES_HELDREMARKS_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassInstrumentation.h"

namespace mlir::sfsdp {

/// Holds remarks and warnings of a context back for as long as the pass manager
/// lives that owns this. Then it shows them, in their order, unless there was
/// an error. The context must outlive the pass manager.
class HeldRemarks final : public PassInstrumentation {
public:
  explicit HeldRemarks(DiagnosticEngine &engine);
  ~HeldRemarks() override;

private:
  DiagnosticEngine &engine;
  DiagnosticEngine::HandlerID handler;
  std::vector<Diagnostic> held;
  bool failed = false;
};

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_HELDREMARKS_H
