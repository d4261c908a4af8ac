//===- Scopes.h - Where nodes come from ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// simplefsdp_capture notes module, phase and source line at each node. Other
// archives have a module stack and a stack trace for forward nodes, or nothing
// at all; then the phase follows from the graph: backward are the nodes behind
// the loss that no result of forward needs.
//
// Tested by test/unit/passes/import/ScopesTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_IMPORT_SCOPES_H
#define SFSDP_PASSES_IMPORT_SCOPES_H

#include "passes/import/CapturedStep.h"

namespace sfsdp::exported {

/// One per node of `program`.
std::vector<Scope> scopesOf(const Program &program);

/// The phase of each node by the graph alone: true for backward.
std::vector<bool> guessBackward(const Program &program);

/// `node "mm_3" at model.py:42`, for messages.
std::string describe(const Node &node, const Scope &scope);

} // namespace sfsdp::exported

#endif // SFSDP_PASSES_IMPORT_SCOPES_H
