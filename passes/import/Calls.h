//===- Calls.h - From a node to an operator call ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A node names some of the operator's arguments; a call has all of them in
// schema order. The rule of the operator then computes the layout of each
// result, which must be the captured one: strides decide bits, so a difference
// is an error here and not a surprise later.
//
// Tested by test/unit/passes/import/CapturedStepTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_IMPORT_CALLS_H
#define SFSDP_PASSES_IMPORT_CALLS_H

#include "passes/import/Values.h"

namespace sfsdp::exported {

class CallResolver {
public:
  CallResolver(const Program &program, ValueTable &values)
      : program(program), values(values) {}

  /// The call of `node`; defines its results. Without scope and ids. Errors
  /// name the operator, not the node.
  Expected<CapturedCall> resolve(const Node &node, const rules::Schema &schema);

private:
  using Defaults = std::vector<std::optional<rules::Argument>>;
  /// What the operator's rule says; absent without a rule.
  using OptionalLayouts = std::optional<rules::ResultLayouts>;

  const Defaults &defaultsOf(const rules::Schema &schema);
  Status placeArguments(const Node &node, CapturedCall &call);
  Status defineResults(const Node &node, const OptionalLayouts &expected,
                       CapturedCall &call);
  /// Gives results the kernel's element type where tracing reports another.
  void correctTracedTypes(const CapturedCall &call,
                          const rules::ResultLayouts &expected);
  Status checkLayouts(const CapturedCall &call,
                      const rules::ResultLayouts &expected) const;
  Status checkLayout(const CapturedCall &call, size_t position,
                     const std::optional<rules::ResultLayout> &expected) const;

  const Program &program;
  ValueTable &values;
  std::unordered_map<const rules::Schema *, Defaults> defaults;
};

} // namespace sfsdp::exported

#endif // SFSDP_PASSES_IMPORT_CALLS_H
