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

/// The mesh that `text` ("dp:2,tp:2") and `ranks` (may be empty) describe, or
/// the module's own when `text` is empty. Fails with a diagnostic on text that
/// is no mesh, on a mesh that differs from the module's, and when there is
/// neither.
FailureOr<MeshAttr> chooseMesh(ModuleOp module, StringRef text,
                               ArrayRef<int64_t> ranks);

/// The axes that split the batch, and how many ranks they make.
struct DataAxes {
  SmallVector<StringAttr> all;
  /// Those with more than one rank: the group of collectives.
  ArrayAttr split;
  int64_t ranks = 1;
};

DataAxes dataAxesOf(MeshAttr mesh);

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_MESHOPTION_H
