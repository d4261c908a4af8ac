//===- Operators.cpp - Which operator each node calls -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Operators.h.
//
// Tested by test/unit/passes/import/CapturedStepTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/import/Operators.h"

#include "passes/import/Scopes.h"

namespace sfsdp::exported {

namespace {

constexpr std::string_view kOperatorPrefix = "torch.ops.";
constexpr std::string_view kHigherOrderPrefix = "torch.ops.higher_order.";

/// "mm.default" for "torch.ops.aten.mm.default", "mylib::scale.default" for
/// "torch.ops.mylib.scale.default"; a target of another form as it is.
std::string operatorName(std::string_view target) {
  if (!target.starts_with(kOperatorPrefix)) {
    return std::string(target);
  }
  target.remove_prefix(kOperatorPrefix.size());
  size_t dot = std::min(target.find('.'), target.size());
  std::string_view library = target.substr(0, dot);
  std::string_view name = target.substr(std::min(dot + 1, target.size()));
  if (library == "aten") {
    return std::string(name);
  }
  return std::string(library) + "::" + std::string(name);
}

/// All nodes of one operator.
struct OperatorUse {
  std::string_view target;
  size_t first = 0; ///< node
  size_t count = 0;
  const rules::Schema *schema = nullptr;
};

/// `3 nodes, first node "mm" at model.py:42`.
std::string describeUse(const OperatorUse &use, const Program &program,
                        const std::vector<Scope> &scopes) {
  return std::to_string(use.count) + (use.count == 1 ? " node" : " nodes") +
         ", first " + describe(program.nodes[use.first], scopes[use.first]);
}

void checkUse(const OperatorUse &use, const std::string &where,
              Report &report) {
  std::string subject = "operator " + operatorName(use.target);
  if (use.target.starts_with(kHigherOrderPrefix)) {
    report.errors.push_back(
        subject + " can't be imported (" + where +
        "): expected a graph without control flow and without regions; remove "
        "them from forward and capture again");
    return;
  }
  if (use.schema == nullptr) {
    report.errors.push_back(subject + " is in no schema table (" + where +
                            "): give its schema by --allow-op, or capture "
                            "with a supported torch");
    return;
  }
  if (use.schema->mutates()) {
    report.errors.push_back(
        subject + " writes its arguments (" + where +
        "): expected a functional graph; capture with simplefsdp_capture, or "
        "call run_decompositions({}) before saving");
    return;
  }
  if (rules::findRule(use.schema->name) == nullptr) {
    report.warnings.push_back(
        subject + " has no rule (" + where +
        "): it keeps its captured layout, and nothing that it touches is "
        "sharded or reordered");
  }
}

} // namespace

std::vector<const rules::Schema *> findSchemas(const Program &program,
                                               const std::vector<Scope> &scopes,
                                               rules::SchemaTable &schemas,
                                               Report &report) {
  std::vector<OperatorUse> uses;
  std::unordered_map<std::string_view, size_t> byTarget;
  std::vector<const rules::Schema *> found;
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    std::string_view target = program.nodes[i].target;
    auto [position, isNew] = byTarget.try_emplace(target, uses.size());
    if (isNew) {
      uses.push_back({target, i, 0, schemas.find(operatorName(target))});
    }
    OperatorUse &use = uses[position->second];
    ++use.count;
    found.push_back(use.schema);
  }
  for (const OperatorUse &use : uses) {
    checkUse(use, describeUse(use, program, scopes), report);
  }
  return found;
}

} // namespace sfsdp::exported
