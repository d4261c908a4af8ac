//===- NamePatterns.cpp - Parameters chosen by patterns of names ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/shard-keep-replicated.mlir and
// append-optimizer-patterns.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/NamePatterns.h"

using namespace mlir;
using namespace mlir::sfsdp;

LogicalResult NamePatterns::parse(ModuleOp module,
                                  ArrayRef<std::string> added) {
  for (const std::string &each : added) {
    StringRef text = texts.emplace_back(each);
    auto pattern = llvm::GlobPattern::create(text);
    if (!pattern) {
      return module.emitError()
             << "option " << option << ": "
             << llvm::toString(pattern.takeError()) << ", got '" << text << "'";
    }
    patterns.push_back({text, std::move(*pattern)});
  }
  return success();
}

std::optional<size_t> NamePatterns::match(RoleAttr role) {
  std::optional<size_t> first;
  for (auto [position, entry] : llvm::enumerate(patterns)) {
    auto matches = [&pattern = entry.pattern](StringAttr name) {
      return pattern.match(name);
    };
    if (!matches(role.getName()) && !llvm::any_of(role.getAliases(), matches)) {
      continue;
    }
    entry.matched = true;
    if (!first) {
      first = position;
      entry.wasFirst = true;
    }
  }
  return first;
}

void NamePatterns::warnOfUnused(ModuleOp module, StringRef what) const {
  for (const Entry &entry : patterns) {
    if (!entry.matched) {
      module.emitWarning() << "option " << option << ": '" << entry.text
                           << "' names no " << what;
    }
  }
}

void NamePatterns::warnOfHidden(ModuleOp module) const {
  for (const Entry &entry : patterns) {
    if (entry.matched && !entry.wasFirst) {
      module.emitWarning() << "option " << option << ": '" << entry.text
                           << "' changes nothing, as earlier patterns name "
                              "the same parameters";
    }
  }
}
