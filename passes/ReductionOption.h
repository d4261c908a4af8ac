//===- ReductionOption.h - How gradients are summed and scaled ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options `reduction` and `gradient-scale` as data. docs/semantics.md says
// what each choice means for the bits.
//
// Tested by test/passes/shard-hybrid.mlir, shard-reduction.mlir and
// shard-options-invalid.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_REDUCTIONOPTION_H
#define SFSDP_PASSES_REDUCTIONOPTION_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Passes.h"

namespace mlir::sfsdp {

/// In which order the data ranks are summed.
struct Reduction {
  enum class Kind {
    Ordered,        ///< rank order; hybrid: within each replica, then replicas
    Flat,           ///< hybrid: rank order over all data ranks
    Grouped,        ///< blocks of `ranksPerBlock` ranks, then the blocks
    AllreduceFirst, ///< hybrid: over the replicas, then within each
  };
  Kind kind = Kind::Ordered;
  int64_t ranksPerBlock = 0; ///< Grouped only
};

/// What the sum over ranks and micro-batches is divided by.
struct GradientScale {
  enum class Kind {
    Mean,    ///< ranks times micro-batches
    Divisor, ///< `divisor`; 1 for the plain sum
    Global,  ///< the sum over all ranks of the step's output `output`
  };
  Kind kind = Kind::Mean;
  double divisor = 1;
  std::string output;
};

/// Reads auto, ordered, flat, grouped:K or allreduce_first, with a warning when
/// the choice changes nothing in `mode`. Fails with a diagnostic on other text.
FailureOr<Reduction> parseReduction(ModuleOp module, StringRef text,
                                    ShardMode mode);

/// Reads mean, sum, 1/F or global:NAME. Fails with a diagnostic on other text.
FailureOr<GradientScale> parseGradientScale(ModuleOp module, StringRef text);

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_REDUCTIONOPTION_H
