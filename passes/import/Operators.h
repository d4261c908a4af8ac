//===- Operators.h - Which operator each node calls ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first look at a graph: all operators that can't be imported are reported
// at once, one message per kind.
//
// Tested by test/unit/passes/import/CapturedStepTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_IMPORT_OPERATORS_H
#define SFSDP_PASSES_IMPORT_OPERATORS_H

#include "passes/import/CapturedStep.h"

namespace sfsdp::exported {

/// The schema of each node of `program`, null where there is none. Adds to
/// `report` an error per kind of operator that has no schema or writes its
/// arguments, and a warning per kind that has no rule.
std::vector<const rules::Schema *> findSchemas(const Program &program,
                                               const std::vector<Scope> &scopes,
                                               rules::SchemaTable &schemas,
                                               Report &report);

} // namespace sfsdp::exported

#endif // SFSDP_PASSES_IMPORT_OPERATORS_H
