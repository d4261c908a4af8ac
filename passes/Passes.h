//===- Passes.h - Passes on the sfsdp dialect -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constructors, option structs and registration of all passes; what each does
// stands in Passes.td.
//
// Tested by test/passes/.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_PASSES_H
#define SFSDP_PASSES_PASSES_H

#include "dialect/Sfsdp.h"
#include "mlir/Pass/Pass.h"

namespace mlir::sfsdp {

enum class ShardMode { Replicate, FullyShard, HybridShard };
enum class Reshard { Auto, Always, Never };
enum class BufferSync { Local, Broadcast };
enum class Sync { Auto, Each, Last, ShardEachReplicaLast };
enum class Optimizer { None, Sgd, Adam, AdamW };
enum class StepResults { None, Gradients };
enum class ReorderPolicy { None, Prefetch, Auto };

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_PASSES_H
