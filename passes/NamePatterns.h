//===- NamePatterns.h - Parameters chosen by patterns of names ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What several options take: patterns with *, ? and [...] over the names of the
// PyTorch model. A tied parameter is chosen by any of its names.
//
// Tested by test/passes/shard-keep-replicated.mlir and
// append-optimizer-patterns.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_NAMEPATTERNS_H
#define SFSDP_PASSES_NAMEPATTERNS_H

#include "dialect/Sfsdp.h"
#include "llvm/Support/GlobPattern.h"

#include <deque>

namespace mlir::sfsdp {

class NamePatterns {
public:
  /// `option` is what messages call the list.
  explicit NamePatterns(StringRef option) : option(option) {}

  /// Adds patterns, or says which one is none.
  LogicalResult parse(ModuleOp module, ArrayRef<std::string> added);

  /// The first pattern, by its position, that matches a name of the parameter
  /// with `role`; absent if none does.
  std::optional<size_t> match(RoleAttr role);

  /// Warns of each pattern that matched no name; `what` is what it should have
  /// named ("parameter").
  void warnOfUnused(ModuleOp module, StringRef what) const;

  /// Warns of each pattern that matched, but never as the first one.
  void warnOfHidden(ModuleOp module) const;

  bool empty() const { return patterns.empty(); }

private:
  struct Entry {
    StringRef text;
    llvm::GlobPattern pattern; ///< refers to `text`
    bool matched = false;
    bool wasFirst = false;
  };

  StringRef option;
  std::deque<std::string> texts; ///< stay where they are
  SmallVector<Entry> patterns;
};

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_NAMEPATTERNS_H
