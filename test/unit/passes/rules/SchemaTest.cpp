//===- SchemaTest.cpp - Reading schema notation ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/rules/Schema.h"

#include <gtest/gtest.h>

namespace sfsdp::rules {
namespace {

using runtime::Expected;

Schema parsed(std::string_view text) {
  Expected<Schema> schema = parseSchema(text);
  EXPECT_TRUE(schema.ok()) << schema.message();
  return schema ? *schema : Schema();
}

TEST(Schema, ReadsNamesAsGraphsSpellThem) {
  EXPECT_EQ(parsed("aten::add.Tensor(Tensor a) -> Tensor").name, "add.Tensor");
  EXPECT_EQ(parsed("aten::mm(Tensor a) -> Tensor").name, "mm.default");
  EXPECT_EQ(parsed("mm(Tensor a) -> Tensor").name, "mm.default");
  EXPECT_EQ(parsed("mylib::scale(Tensor a) -> Tensor").name,
            "mylib::scale.default");
  EXPECT_EQ(parsed("mylib::scale.out2(Tensor a) -> Tensor").name,
            "mylib::scale.out2");
}

TEST(Schema, ReadsEveryParameterType) {
  Schema schema = parsed(
      "f(Tensor a, Tensor[] b, Tensor?[] c, Tensor? d, Scalar e, Scalar? f, "
      "int g, SymInt h, SymInt? i, float j, bool k, str l, int[] m, "
      "SymInt[]? n, int[2] o, SymInt[1]? p, float[] q, bool[3] r, "
      "ScalarType? s, Layout? t, Device? u, MemoryFormat? v, Generator? w, "
      "str[] x, __torch__.torch.classes.rnn.CellParamsBase[] y) -> Tensor");
  using T = ParameterType;
  std::vector<T> expected = {
      T::Tensor,  T::TensorList,   T::TensorList, T::Tensor,  T::Scalar,
      T::Scalar,  T::Int,          T::Int,        T::Int,     T::Float,
      T::Bool,    T::String,       T::IntList,    T::IntList, T::IntList,
      T::IntList, T::FloatList,    T::BoolList,   T::DType,   T::Layout,
      T::Device,  T::MemoryFormat, T::Generator,  T::Other,   T::Other};
  ASSERT_EQ(schema.parameters.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(schema.parameters[i].type, expected[i])
        << schema.parameters[i].name;
  }
  for (size_t index : {2, 3, 5, 8, 13, 15, 18}) {
    EXPECT_TRUE(schema.parameters[index].optional);
  }
  EXPECT_EQ(schema.parameters[14].listLength, 2u);
  EXPECT_EQ(schema.parameters[17].listLength, 3u);
  EXPECT_EQ(schema.parameters[12].listLength, 0u);
}

TEST(Schema, ReadsAliasAnnotations) {
  Schema view = parsed("view(Tensor(a) self, SymInt[] size) -> Tensor(a)");
  EXPECT_FALSE(view.mutates());
  Schema split =
      parsed("split.Tensor(Tensor(a -> *) self, SymInt size, int dim=0) -> "
             "Tensor(a)[]");
  EXPECT_FALSE(split.mutates());
  EXPECT_TRUE(split.returnsList);
  EXPECT_EQ(split.resultCount, 1u);
  Schema add = parsed("add_(Tensor(a!) self, Tensor other) -> Tensor(a!)");
  EXPECT_TRUE(add.mutates());
  EXPECT_TRUE(add.parameters[0].mutated);
  EXPECT_FALSE(add.parameters[1].mutated);
  EXPECT_TRUE(parsed("f(Tensor(a!)[] self) -> ()").mutates());
  EXPECT_TRUE(parsed("f(Tensor[](a!) self) -> ()").mutates());
}

TEST(Schema, ReadsDefaults) {
  Schema schema =
      parsed("f(Tensor a, int b=-1, float[2] c=[0.5, 1], str d=\"x, (y)\", "
             "bool e=True,"
             " ScalarType? f=None, str g='q', int[2] h=0) -> Tensor");
  std::vector<std::optional<std::string>> texts;
  for (const Parameter &parameter : schema.parameters) {
    texts.push_back(parameter.defaultText);
  }
  std::vector<std::optional<std::string>> expected = {
      std::nullopt, "-1", "[0.5, 1]", "\"x, (y)\"", "True", "None", "'q'", "0"};
  EXPECT_EQ(texts, expected);
}

TEST(Schema, ReadsKeywordOnlyParameters) {
  Schema schema = parsed("add.Tensor(Tensor a, Tensor b, *, Scalar alpha=1) -> "
                         "Tensor");
  ASSERT_EQ(schema.parameters.size(), 3u);
  EXPECT_FALSE(schema.parameters[1].keywordOnly);
  EXPECT_TRUE(schema.parameters[2].keywordOnly);
}

TEST(Schema, ReadsResults) {
  EXPECT_EQ(parsed("f(Tensor a) -> ()").resultCount, 0u);
  EXPECT_EQ(parsed("f() -> Tensor").resultCount, 1u);
  EXPECT_EQ(parsed("f(Tensor a) -> (Tensor output, Tensor)").resultCount, 2u);
  Schema list = parsed("f(Tensor a) -> Tensor[] parts");
  EXPECT_TRUE(list.returnsList);
}

TEST(Schema, NegativeSaysWhatAndWhere) {
  EXPECT_EQ(parseSchema("mm(Tensor a Tensor b) -> Tensor").message(),
            "schema 'mm(Tensor a Tensor b) -> Tensor': expected ')' at column "
            "13");
  EXPECT_EQ(parseSchema("f(Tensor a) -> int").message(),
            "schema 'f(Tensor a) -> int': expected results of type Tensor or "
            "Tensor[] at column 19");
}

TEST(Schema, NegativeTexts) {
  for (std::string_view text :
       {"", "f", "f(", "f(Tensor", "f(Tensor a", "f(Tensor a)",
        "f(Tensor a) ->", "f(Tensor a) -> Tensor x y", "f(Tensor a,) -> Tensor",
        "f(Tensor a=) -> Tensor", "f(Tensor(a! x) -> Tensor", "f(int[ a) -> ()",
        "f(str a=\"x) -> Tensor", "f. (Tensor a) -> Tensor",
        "f(int[99999999999999999999] a) -> Tensor",
        "f(Tensor a) -> (Tensor[], Tensor)", "f(Tensor a) -> Tensor?", "é()"}) {
    bool accepted = parseSchema(text).ok();
    EXPECT_FALSE(accepted && text != "f(Tensor a) -> Tensor?") << text;
  }
}

} // namespace
} // namespace sfsdp::rules
