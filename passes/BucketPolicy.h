//===- BucketPolicy.h - Which collectives should travel together ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/bucket*.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_BUCKETPOLICY_H
#define SFSDP_PASSES_BUCKETPOLICY_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

namespace mlir::sfsdp {

struct BucketPolicy {
  enum class Kind {
    None,
    Block, ///< by blocks of the model
    File,  ///< by the user's list
    Size,  ///< by bytes, in the order of the text
  };
  Kind kind = Kind::None;
  std::string path;        ///< File only
  int64_t bucketBytes = 0; ///< Size only
};

/// Reads none, block, block:FILE or size:N (MiB). Fails with a diagnostic on
/// other text.
FailureOr<BucketPolicy> parseBucketPolicy(ModuleOp module, StringRef text);

/// The bucket of each of `names` (parameters in registration order) under a
/// policy of kind Block or File. A file is a JSON list of lists of patterns
/// (* ? [...]) of names; it is recorded among the inputs of `module`. Fails
/// with a diagnostic unless every name is in exactly one bucket.
FailureOr<std::vector<uint32_t>> bucketsByName(ModuleOp module,
                                               const BucketPolicy &policy,
                                               ArrayRef<std::string> names);

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_BUCKETPOLICY_H
