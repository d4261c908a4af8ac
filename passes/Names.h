//===- Names.h - Names in messages ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/tools/pipeline-remarks.test and pipeline-invalid.test.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_NAMES_H
#define SFSDP_PASSES_NAMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::sfsdp {

/// Whether who wrote `given` may have meant `name`: one letter in three
/// differs, or a single one.
bool isNearName(llvm::StringRef given, llvm::StringRef name);

/// `a, b, c and 5 more`: at most the first three.
std::string listNames(llvm::ArrayRef<std::string> names);

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_NAMES_H
