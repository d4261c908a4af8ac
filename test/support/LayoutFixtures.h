//===- LayoutFixtures.h - Operator calls recorded from PyTorch ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the files of test/Inputs/rules; make_layout_fixtures.py describes them
// and writes them.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_TEST_SUPPORT_LAYOUTFIXTURES_H
#define SFSDP_TEST_SUPPORT_LAYOUTFIXTURES_H

#include "passes/rules/Rules.h"
#include "runtime/Json.h"

#include <optional>
#include <string>
#include <vector>

namespace sfsdp::test {

/// One recorded call.
struct RecordedCall {
  rules::OperatorCall call;
  /// Absent if PyTorch refused the call. A result is absent for None, else
  /// written as in "f32[2,3|1,2]@0+4".
  std::optional<std::vector<std::optional<std::string>>> results;
  std::string text; ///< for messages
};

/// All calls of a file. `schemas` owns what they point to.
runtime::Expected<std::vector<RecordedCall>>
readRecordedCalls(const std::string &path, rules::SchemaTable &schemas);

/// "f32[2,3|1,2]" or "f32[2,3]".
runtime::Expected<rules::TensorLayout> parseLayout(std::string_view text);
std::string textOf(const rules::TensorLayout &tensor);
/// With "@I+O" for a view.
std::string textOf(const rules::ResultLayout &result);

} // namespace sfsdp::test

#endif // SFSDP_TEST_SUPPORT_LAYOUTFIXTURES_H
