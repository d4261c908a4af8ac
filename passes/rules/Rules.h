//===- Rules.h - What passes may know of an operator --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The answers to every question that a pass may ask about an operator: layout
// of its results, cost facts, effects, shape-independent traits. One small file
// per operator family registers its rules here; passes never compare operator
// names in place. An operator with a schema but without a rule is *unknown*: it
// keeps its captured layout and is a full barrier.
//
// Tested by test/unit/passes/rules/, which compares every layout with PyTorch.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_RULES_RULES_H
#define SFSDP_PASSES_RULES_RULES_H

#include "passes/rules/OperatorCall.h"

#include <string_view>
#include <vector>

namespace sfsdp::rules {

enum class Effect {
  None,   ///< same arguments, same bits; may be moved, merged, recomputed
  Random, ///< None once its generator is seeded by the operator's id
  Unknown,
};

/// Layouts of the results in schema order; absent for a result that this call
/// does not return. A list result has one entry per tensor.
using ResultLayouts = std::vector<std::optional<ResultLayout>>;

struct Rule {
  /// "mm.default", as Schema::name.
  std::string_view name;
  /// Fails with what PyTorch would refuse: sizes that do not fit, and so on.
  runtime::Expected<ResultLayouts> (*layout)(const OperatorCall &call);
  /// FLOPs, bytes and GEMM sizes. Given the results of `layout`.
  runtime::CostFacts (*cost)(const OperatorCall &call,
                             const ResultLayouts &results);
  Effect effect = Effect::None;
  /// True for an operator that only renames its operand: `alias`, `detach`.
  bool isIdentity = false;
  /// True for an operator that returns the mean of its operand.
  bool isMean = false;
  /// True for a dtype or device conversion, `_to_copy`.
  bool isCast = false;
  /// True if numbers may stand for tensors, as in `x + 1`.
  bool acceptsNumbers = false;
  /// True for an operator without results, kept out of the graph:
  /// `_assert_tensor_metadata`.
  bool isAssertion = false;
};

/// Null for an unknown operator.
const Rule *findRule(std::string_view name);

/// Every rule, sorted by name; for tests and docs.
const std::vector<Rule> &allRules();

/// Checks count and kinds of `call.arguments` against the schema, and that
/// tensors have possible sizes and strides. A rule may be asked about a call
/// that passed, and only then.
runtime::Status checkArguments(const OperatorCall &call);

/// Appends the default of each missing argument at the end of `call`, and makes
/// a single number for a list of fixed length (`int[2]`) that list; an
/// argument without a default is an error naming it.
runtime::Status fillDefaults(OperatorCall &call);

} // namespace sfsdp::rules

#endif // SFSDP_PASSES_RULES_RULES_H
