//===- SchemaTableTest.cpp - The table of ATen's signatures ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/rules/Rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace sfsdp::rules {
namespace {

TEST(SchemaTable, HoldsValidSchemasByAscendingName) {
  SchemaTable table;
  std::vector<std::string_view> names = SchemaTable::atenNames();
  EXPECT_GT(names.size(), 1500u);
  EXPECT_TRUE(std::ranges::is_sorted(names));
  for (std::string_view name : names) {
    const Schema *schema = table.find(name);
    ASSERT_NE(schema, nullptr) << name;
    EXPECT_EQ(schema->name, name);
  }
}

TEST(SchemaTable, FillsEveryDefaultThatAPlanCanHold) {
  SchemaTable table;
  for (std::string_view name : SchemaTable::atenNames()) {
    OperatorCall call;
    call.schema = table.find(name);
    for (const Parameter &parameter : call.schema->parameters) {
      bool hasDefault =
          parameter.defaultText && parameter.type != ParameterType::Other;
      if (hasDefault) {
        break;
      }
      call.arguments.emplace_back();
    }
    size_t given = call.arguments.size();
    runtime::Status status = fillDefaults(call);
    bool mayFail = std::any_of(
        call.schema->parameters.begin() + static_cast<std::ptrdiff_t>(given),
        call.schema->parameters.end(), [](const Parameter &parameter) {
          return !parameter.defaultText ||
                 parameter.type == ParameterType::Other;
        });
    EXPECT_TRUE(status.ok() || mayFail) << status.message();
  }
}

TEST(SchemaTable, KnowsSignaturesThatGraphsNeed) {
  SchemaTable table;
  const Schema *add = table.find("add.Tensor");
  ASSERT_NE(add, nullptr);
  ASSERT_EQ(add->parameters.size(), 3u);
  EXPECT_EQ(add->parameters[2].name, "alpha");
  EXPECT_EQ(add->parameters[2].defaultText, "1");
  EXPECT_EQ(table.find("add.Tensor"), add);
  EXPECT_EQ(table.find("native_layer_norm.default")->resultCount, 3u);
  EXPECT_TRUE(table.find("split.Tensor")->returnsList);
  EXPECT_TRUE(table.find("add_.Tensor")->mutates());
  EXPECT_EQ(table.find("_assert_tensor_metadata.default")->resultCount, 0u);
}

TEST(SchemaTable, LacksWhatNoGraphCalls) {
  SchemaTable table;
  EXPECT_EQ(table.find("add.out"), nullptr);
  EXPECT_EQ(table.find("add"), nullptr);
  EXPECT_EQ(table.find("from_file.nonsense"), nullptr);
  EXPECT_EQ(table.find(""), nullptr);
}

TEST(SchemaTable, TakesTheUsersOwnOperators) {
  SchemaTable table;
  EXPECT_EQ(table.find("mylib::scale.default"), nullptr);
  EXPECT_TRUE(
      table.allow("mylib::scale(Tensor x, float by=2.0) -> Tensor").ok());
  const Schema *schema = table.find("mylib::scale.default");
  ASSERT_NE(schema, nullptr);
  EXPECT_EQ(schema->parameters[1].defaultText, "2.0");
}

TEST(SchemaTable, NegativeSecondDefinition) {
  SchemaTable table;
  EXPECT_TRUE(table.allow("mylib::scale(Tensor x) -> Tensor").ok());
  EXPECT_EQ(table.allow("mylib::scale(Tensor y) -> Tensor").message(),
            "schema 'mylib::scale(Tensor y) -> Tensor': operator "
            "mylib::scale.default is known already; give it another name");
  EXPECT_FALSE(table.allow("aten::mm(Tensor x) -> Tensor").ok());
  EXPECT_FALSE(table.allow("nonsense").ok());
}

TEST(SchemaTable, StartsInLessThanAMillisecond) {
  auto begin = std::chrono::steady_clock::now();
  SchemaTable table;
  table.find("mm.default");
  std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - begin;
  // Measured 0.01 ms; the margin is for a busy machine.
  EXPECT_LT(elapsed.count(), 50);
}

} // namespace
} // namespace sfsdp::rules
