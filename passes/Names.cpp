//===- Names.cpp - Names in messages --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/tools/pipeline-remarks.test and pipeline-invalid.test.
//
//===----------------------------------------------------------------------===//

#include "passes/Names.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

bool mlir::sfsdp::isNearName(llvm::StringRef given, llvm::StringRef name) {
  return given.edit_distance(name) <= std::max<size_t>(given.size() / 3, 1);
}

std::string mlir::sfsdp::listNames(llvm::ArrayRef<std::string> names) {
  constexpr size_t kShown = 3;
  std::string text = llvm::join(names.take_front(kShown), ", ");
  if (names.size() > kShown) {
    text += " and " + std::to_string(names.size() - kShown) + " more";
  }
  return text;
}
