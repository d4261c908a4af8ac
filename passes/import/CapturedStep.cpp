//===- CapturedStep.cpp - A training step as captured, resolved ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CapturedStep.h.
//
// Tested by test/unit/passes/import/CapturedStepTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/import/CapturedStep.h"

#include "passes/import/Attention.h"
#include "passes/import/Calls.h"
#include "passes/import/Operators.h"
#include "passes/import/Scopes.h"
#include "passes/import/Signature.h"

namespace sfsdp::exported {

/// Resolves the nodes in order; stops at the first that can't be.
static Status resolveCalls(const Program &program,
                           const std::vector<Scope> &scopes,
                           const std::vector<const rules::Schema *> &schemas,
                           ValueTable &values, CapturedStep &step) {
  CallResolver resolver(program, values);
  int64_t nextRandomId = 0;
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    const Node &node = program.nodes[i];
    Expected<CapturedCall> call = resolver.resolve(node, *schemas[i]);
    if (!call) {
      return call.status().within(describe(node, scopes[i]));
    }
    if (call->rule != nullptr && call->rule->isAssertion) {
      continue;
    }
    if (call->rule != nullptr && call->rule->effect == rules::Effect::Random) {
      call->randomId = nextRandomId++;
    }
    call->scope = scopes[i];
    step.calls.push_back(std::move(*call));
  }
  return Status();
}

std::optional<CapturedStep> resolveStep(const GraphFile &file,
                                        rules::SchemaTable &schemas,
                                        Report &report) {
  const Program &program = file.program;
  std::string where = file.entry.empty() ? "" : file.entry + ": ";
  auto fail = [&](const Status &status) {
    report.errors.push_back(where + status.message());
    return std::nullopt;
  };
  if (program.warning) {
    report.warnings.push_back(*program.warning);
  }
  CapturedStep step;
  if (Status status = checkKind(file, step); !status.ok()) {
    return fail(status);
  }
  Report found;
  ValueTable values(program);
  std::vector<Scope> scopes = scopesOf(program);
  assignArguments(file, values, step, found);
  std::vector<const rules::Schema *> known =
      findSchemas(program, scopes, schemas, found);
  for (std::string &error : found.errors) {
    report.errors.push_back(where + error);
  }
  for (std::string &warning : found.warnings) {
    report.warnings.push_back(where + warning);
  }
  if (found.hasErrors()) {
    return std::nullopt;
  }
  Status status = resolveCalls(program, scopes, known, values, step);
  if (status.ok()) {
    status = assignResults(file, values, step);
  }
  if (status.ok()) {
    step.values = values.take();
    status = matchAttention(step);
  }
  if (!status.ok()) {
    return fail(status);
  }
  return step;
}

} // namespace sfsdp::exported
