//===- Families.h - The operator families ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function per family file, which returns its rules. A family is added by
// one line here and one in Registry.cpp.
//
// Tested by test/unit/passes/rules/RegistryTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_RULES_FAMILIES_H
#define SFSDP_PASSES_RULES_FAMILIES_H

#include "passes/rules/Rules.h"

#include <span>

namespace sfsdp::rules {

std::span<const Rule> advancedIndexingRules();
std::span<const Rule> assertionRules();
std::span<const Rule> attentionRules();
std::span<const Rule> convolutionRules();
std::span<const Rule> copyRules();
std::span<const Rule> creationRules();
std::span<const Rule> dropoutRules();
std::span<const Rule> gatherRules();
std::span<const Rule> lossRules();
std::span<const Rule> matmulRules();
std::span<const Rule> normalizationRules();
std::span<const Rule> pointwiseRules();
std::span<const Rule> poolingRules();
std::span<const Rule> reductionRules();
std::span<const Rule> viewRules();
std::span<const Rule> windowRules();

} // namespace sfsdp::rules

#endif // SFSDP_PASSES_RULES_FAMILIES_H
