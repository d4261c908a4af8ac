//===- MeshOption.h - The mesh of a module, from options ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/shard-mesh.mlir and shard-invalid.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_MESHOPTION_H
#define SFSDP_PASSES_MESHOPTION_H

#include "dialect/Sfsdp.h"

namespace mlir::sfsdp {

/// The axis of tensor parallelism; every other axis is a data axis.
inline constexpr llvm::StringLiteral kTensorAxis = "tp";

/// The data axes of mode hybrid_shard, outermost first.
inline constexpr llvm::StringLiteral kReplicaAxis = "dp_replicate";
inline constexpr llvm::StringLiteral kShardAxis = "dp_shard";

/// The mesh that `text` ("dp:2,tp:2") and `ranks` (may be empty) describe, or
/// the module's own when `text` is empty. Fails with a diagnostic on text that
/// is no mesh, on a mesh that differs from the module's, and when there is
/// neither.
FailureOr<MeshAttr> chooseMesh(ModuleOp module, StringRef text,
                               ArrayRef<int64_t> ranks);

/// Mesh axes that one group of ranks differs on.
struct AxisGroup {
  SmallVector<StringAttr> all;
  /// Those with more than one rank: what collectives name.
  ArrayAttr split;
  int64_t ranks = 1;
};

/// The axes that split the batch.
AxisGroup dataAxesOf(MeshAttr mesh);

/// The axes of `group` that `keep` says yes to.
AxisGroup axesWhere(const AxisGroup &group, MeshAttr mesh,
                    function_ref<bool(StringAttr)> keep);

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_MESHOPTION_H
