//===- Registry.cpp - All rules by name -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/passes/rules/RegistryTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/Families.h"

#include <algorithm>

namespace sfsdp::rules {

namespace {

std::vector<Rule> collectRules() {
  std::vector<Rule> rules;
  for (std::span<const Rule> family :
       {advancedIndexingRules(), assertionRules(), attentionRules(),
        convolutionRules(), copyRules(), creationRules(), dropoutRules(),
        gatherRules(), lossRules(), matmulRules(), normalizationRules(),
        pointwiseRules(), poolingRules(), reductionRules(), viewRules(),
        windowRules()}) {
    rules.insert(rules.end(), family.begin(), family.end());
  }
  std::ranges::sort(rules, {}, &Rule::name);
  return rules;
}

} // namespace

const std::vector<Rule> &allRules() {
  static const std::vector<Rule> rules = collectRules();
  return rules;
}

const Rule *findRule(std::string_view name) {
  const std::vector<Rule> &rules = allRules();
  auto found = std::ranges::lower_bound(rules, name, {}, &Rule::name);
  return found != rules.end() && found->name == name ? &*found : nullptr;
}

} // namespace sfsdp::rules
