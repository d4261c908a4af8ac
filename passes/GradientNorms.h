//===- GradientNorms.h - The norm of all gradients ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/clip-gradients*.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_GRADIENTNORMS_H
#define SFSDP_PASSES_GRADIENTNORMS_H

#include "dialect/Sfsdp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sfsdp {

inline constexpr llvm::StringLiteral kClipGradientsPassName =
    "sfsdp-clip-gradients";

/// How the norms are made, decided before anything is edited.
struct NormPlan {
  /// The axes whose ranks each hold a chunk, with more than one rank; they also
  /// cut the gradients that every rank holds whole.
  SmallVector<StringAttr> axes;
  int64_t chunks = 1;         ///< product of their sizes
  bool hasPlacements = false; ///< some parameter has one, on whatever ranks
  Type elementType;           ///< of all norms
  /// For each update: rows of the whole parameter, if this rank holds a chunk.
  SmallVector<std::optional<int64_t>> shardedRows;
};

/// Fails with a diagnostic if parameters are sharded in ways that one
/// collective cannot serve.
FailureOr<NormPlan> planNorms(func::FuncOp function,
                              ArrayRef<UpdateOpInterface> updates);

struct GradientNorms {
  SmallVector<Value> ofChunks; ///< of all ranks, for each update
  Value total;
};

/// Writes the norms of the gradients that `updates` read: those of chunks
/// right after each gradient, the rest after the last of them.
GradientNorms writeNorms(func::FuncOp function,
                         ArrayRef<UpdateOpInterface> updates,
                         const NormPlan &plan);

/// Scope of what clips all gradients.
ScopeAttr clippingScope(MLIRContext *context);

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_GRADIENTNORMS_H
