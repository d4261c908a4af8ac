//===- Assertions.cpp - Operators that only check -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Import recomputes and checks every layout, so these are dropped.
//
// Tested by test/unit/passes/rules/RegistryTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/Costs.h"
#include "passes/rules/Families.h"
#include "passes/rules/Results.h"

namespace sfsdp::rules {

namespace {

Results nothing(const OperatorCall &) { return ResultLayouts(); }

constexpr Rule kRules[] = {
    {.name = "_assert_tensor_metadata.default",
     .layout = nothing,
     .cost = viewCost,
     .isAssertion = true},
};

} // namespace

std::span<const Rule> assertionRules() { return kRules; }

} // namespace sfsdp::rules
