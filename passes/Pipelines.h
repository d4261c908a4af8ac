//===- Pipelines.h - The whole compiler as one option -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `--simplefsdp="mesh=dp:2 mode=fully_shard …"`: every pass in its order, every
// option under the name that users know; docs/command-line.md lists them.
//
// Tested by test/tools/pipeline.test and pipeline-invalid.test.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_PIPELINES_H
#define SFSDP_PASSES_PIPELINES_H

#include "mlir/Pass/PassManager.h"

namespace mlir::sfsdp {

/// Adds the passes that `options` ("key=value key=value …") ask for to
/// `manager`. Fails with one message to `errors` on an unknown option, a value
/// that no pass takes, or an option whose part is not built yet.
LogicalResult buildPipeline(OpPassManager &manager, StringRef options,
                            function_ref<void(const Twine &)> errors);

/// Registers the pipeline under `--simplefsdp`.
void registerPipelines();

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_PIPELINES_H
