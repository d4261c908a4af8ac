//===- LayoutFixtureTest.cpp - Rules say what PyTorch does ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replays the calls that were recorded from PyTorch: each rule must give the
// sizes, strides, element type and aliasing that the operator really returned,
// and must refuse what PyTorch refused.
//
//===----------------------------------------------------------------------===//

#include "test/support/LayoutFixtures.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

namespace sfsdp::test {
namespace {

using namespace sfsdp::rules;
using runtime::Expected;

std::string folder() { return std::string(SFSDP_TEST_INPUTS) + "/rules/"; }

std::vector<std::string> fixtureNames() {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(folder())) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Strides where a size is 1, and the storage, do not count.
bool agreesRoughly(const std::string &recorded, const ResultLayout &result) {
  Expected<TensorLayout> layout =
      parseLayout(recorded.substr(0, recorded.find('@')));
  return layout && isSameLayout(*layout, result.tensor);
}

bool agrees(const std::optional<std::string> &recorded,
            const std::optional<ResultLayout> &result) {
  if (!recorded || !result) {
    return !recorded && !result;
  }
  if (recorded->ends_with("@?")) {
    return agreesRoughly(*recorded, *result);
  }
  return *recorded == textOf(*result);
}

std::string shown(const ResultLayouts &results) {
  std::string text;
  for (const std::optional<ResultLayout> &result : results) {
    text += (text.empty() ? "" : ", ") + (result ? textOf(*result) : "none");
  }
  return "[" + text + "]";
}

/// Empty if the rule gives what was recorded.
std::string disagreement(const RecordedCall &recorded) {
  const Rule *rule = findRule(recorded.call.schema->name);
  if (rule == nullptr) {
    return "no rule";
  }
  runtime::Status status = checkArguments(recorded.call);
  Expected<ResultLayouts> results =
      status.ok() ? rule->layout(recorded.call)
                  : Expected<ResultLayouts>(std::move(status));
  if (!results) {
    return recorded.results ? "refused: " + results.message() : "";
  }
  if (!recorded.results) {
    return "expected a refusal, got " + shown(*results);
  }
  bool same = results->size() == recorded.results->size();
  for (size_t i = 0; same && i < results->size(); ++i) {
    same = agrees((*recorded.results)[i], (*results)[i]);
  }
  return same ? "" : "got " + shown(*results);
}

class LayoutFixture : public testing::TestWithParam<std::string> {};

TEST_P(LayoutFixture, RulesAgreeWithPyTorch) {
  SchemaTable schemas;
  Expected<std::vector<RecordedCall>> calls =
      readRecordedCalls(folder() + GetParam() + ".json", schemas);
  ASSERT_TRUE(calls.ok()) << calls.message();
  std::map<std::string, int> failures;
  for (const RecordedCall &recorded : *calls) {
    std::string problem = disagreement(recorded);
    if (problem.empty()) {
      continue;
    }
    // A wrong rule fails many calls; a few of each operator say enough.
    if (++failures[recorded.call.schema->name] <= 3) {
      ADD_FAILURE() << recorded.text << "\n  " << problem;
    }
  }
  for (const auto &[name, count] : failures) {
    ADD_FAILURE() << name << ": " << count << " calls disagree";
  }
}

INSTANTIATE_TEST_SUITE_P(Families, LayoutFixture,
                         testing::ValuesIn(fixtureNames()),
                         [](const testing::TestParamInfo<std::string> &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace
} // namespace sfsdp::test
