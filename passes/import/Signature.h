//===- Signature.h - What arguments and results are ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joins torch's signature and the manifest: the signature says the kind and the
// FQN of each input and output, the manifest adds Python's names, ties, and
// whether the graph is meant to train.
//
// Tested by test/unit/passes/import/SignatureTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_IMPORT_SIGNATURE_H
#define SFSDP_PASSES_IMPORT_SIGNATURE_H

#include "passes/import/Values.h"

namespace sfsdp::exported {

/// Fails for a graph that neither trains nor is captured for evaluation.
/// Sets CapturedStep::isTraining.
Status checkKind(const GraphFile &file, CapturedStep &step);

/// Defines the graph's inputs and fills in CapturedStep::arguments. Adds an
/// error to `report` for each input that can't be imported.
void assignArguments(const GraphFile &file, ValueTable &values,
                     CapturedStep &step, Report &report);

/// Fills in CapturedStep::results, and marks parameters without gradient.
/// Requires that all values are defined.
Status assignResults(const GraphFile &file, const ValueTable &values,
                     CapturedStep &step);

} // namespace sfsdp::exported

#endif // SFSDP_PASSES_IMPORT_SIGNATURE_H
