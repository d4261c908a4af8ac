//===- Version.h - Version of the compiler ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/tools/pipeline.test.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_VERSION_H
#define SFSDP_PASSES_VERSION_H

namespace mlir::sfsdp {

/// What plans and `simplefsdp-opt --version` say.
inline constexpr const char *kVersion = "0.1.0";

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_VERSION_H
