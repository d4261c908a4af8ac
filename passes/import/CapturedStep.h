//===- CapturedStep.h - A training step as captured, resolved -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last form of a graph before it becomes IR: names are indices, every
// argument and result has its role, every call its schema, its arguments in
// schema order, its scope, and results whose layout the rules confirm.
//
// Tested by test/unit/passes/import/CapturedStepTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_IMPORT_CAPTUREDSTEP_H
#define SFSDP_PASSES_IMPORT_CAPTUREDSTEP_H

#include "passes/import/GraphFile.h"
#include "passes/rules/Rules.h"

namespace sfsdp::exported {

/// Index into CapturedStep::values.
using ValueId = size_t;

struct CapturedValue {
  std::string name; ///< in the graph
  rules::TensorLayout layout;
};

struct CapturedArgument {
  runtime::Role role = runtime::Role::Input;
  std::string name;                 ///< FQN, or Python's name of an input
  std::vector<std::string> aliases; ///< further names of a tied parameter
  bool frozen = false;              ///< a parameter without gradient
  ValueId value = 0;
};

struct CapturedResult {
  runtime::Role role = runtime::Role::Output;
  std::string name;
  ValueId value = 0;
};

/// Where a node comes from.
struct Scope {
  std::string module; ///< FQN; empty for the root
  std::string source; ///< "model.py:42"; empty when unknown
  bool isBackward = false;
};

/// What a call has to do with attention.
enum class AttentionPart { None, Forward, Backward };

struct CapturedCall {
  std::string node; ///< "mm_3"
  Scope scope;
  rules::OperatorCall call;
  const rules::Rule *rule = nullptr; ///< null for an unknown operator
  /// Arguments of `call` that are not trailing defaults.
  size_t writtenArguments = 0;
  /// Values of the tensors among the arguments, in order.
  std::vector<ValueId> operands;
  /// One per tensor of the schema's results; absent for None.
  std::vector<std::optional<ValueId>> results;
  std::optional<int64_t> randomId; ///< of a random operator, in graph order
  AttentionPart attention = AttentionPart::None;
  /// The call whose results an attention backward reads.
  size_t attentionForward = 0;
};

struct CapturedStep {
  bool isTraining = true; ///< false for a graph without backward
  std::vector<CapturedValue> values;
  std::vector<CapturedArgument> arguments; ///< in graph order
  /// Loss, gradients, outputs, updated buffers and parameters; in graph order
  /// within each.
  std::vector<CapturedResult> results;
  std::vector<CapturedCall> calls; ///< in graph order
};

/// What import has to say; all of it concerns the file as a whole, so a message
/// names the record, the node and the source line itself.
struct Report {
  std::vector<std::string> errors;
  std::vector<std::string> warnings;

  bool hasErrors() const { return !errors.empty(); }
};

/// Resolves the graph of `file`. Absent after an error. The calls point into
/// `schemas`.
std::optional<CapturedStep>
resolveStep(const GraphFile &file, rules::SchemaTable &schemas, Report &report);

} // namespace sfsdp::exported

#endif // SFSDP_PASSES_IMPORT_CAPTUREDSTEP_H
