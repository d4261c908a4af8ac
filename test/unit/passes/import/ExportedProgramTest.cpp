//===- ExportedProgramTest.cpp - torch.export's JSON is read ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the text says arrives in the structs; what it should not say is refused
// with the place.
//
//===----------------------------------------------------------------------===//

#include "passes/import/ExportedProgram.h"

#include "test/support/ProgramText.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sfsdp::test {
namespace {

using namespace sfsdp::exported;
using runtime::DType;
using runtime::JsonDocument;

Expected<Program> read(const std::string &text) {
  Expected<JsonDocument> document = runtime::parseJson(text, "graph");
  return document ? readProgram(document->root()) : document.status();
}

Expected<Argument> readArgument(const std::string &text) {
  Expected<JsonDocument> document = runtime::parseJson(text, "graph");
  if (!document) {
    return document.status();
  }
  Argument argument;
  Status status = readJson(document->root(), argument);
  return status.ok() ? Expected<Argument>(argument) : status;
}

template <typename T>
T argumentAs(const std::string &text) {
  Expected<Argument> argument = readArgument(text);
  EXPECT_TRUE(argument.ok()) << argument.message();
  const T *content = argument ? std::get_if<T>(&*argument) : nullptr;
  EXPECT_NE(content, nullptr) << text;
  return content ? *content : T();
}

/// `text` with the first `from` replaced, which must be there.
std::string replaced(std::string text, std::string_view from,
                     std::string_view to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

void expectError(const std::string &text, std::string_view part) {
  Expected<Program> program = read(text);
  ASSERT_FALSE(program.ok()) << "expected an error with: " << part;
  EXPECT_NE(program.message().find(part), std::string::npos)
      << program.message();
}

TEST(ExportedProgramTest, ReadsGraphAndSignature) {
  Expected<Program> program = read(smallStep().text());
  ASSERT_TRUE(program.ok()) << program.message();
  ASSERT_EQ(program->nodes.size(), 5u);
  const Node &node = program->nodes[3];
  EXPECT_EQ(node.name, "grad");
  EXPECT_EQ(node.target, "torch.ops.aten.expand.default");
  EXPECT_EQ(node.inputs[1].name, "size");
  EXPECT_EQ(std::get<std::vector<int64_t>>(node.inputs[1].value),
            std::vector<int64_t>{4});
  const TensorMetadata &metadata = program->tensors.at("grad");
  EXPECT_EQ(metadata.dtype, DType::Float32);
  EXPECT_EQ(metadata.sizes, std::vector<int64_t>{4});
  EXPECT_EQ(metadata.strides, std::vector<int64_t>{0});
  EXPECT_EQ(program->inputSpecs[0].kind, InputKind::Parameter);
  EXPECT_EQ(program->inputSpecs[0].target, "w");
  EXPECT_EQ(program->outputSpecs[1].kind, OutputKind::ParameterGradient);
  EXPECT_EQ(program->outputSpecs[1].target, "w");
  EXPECT_FALSE(program->warning);
}

TEST(ExportedProgramTest, ReadsPlainArguments) {
  EXPECT_EQ(argumentAs<int64_t>(R"({"as_int": -3})"), -3);
  EXPECT_EQ(argumentAs<double>(R"({"as_float": 1.0})"), 1.0);
  EXPECT_EQ(argumentAs<bool>(R"({"as_bool": true})"), true);
  EXPECT_EQ(argumentAs<std::string>(R"({"as_string": "mean"})"), "mean");
  EXPECT_EQ(argumentAs<std::vector<bool>>(R"({"as_bools": [true, false]})"),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(argumentAs<std::vector<double>>(R"({"as_floats": [1.5, 2]})"),
            (std::vector<double>{1.5, 2}));
  argumentAs<std::monostate>(R"({"as_none": true})");
}

TEST(ExportedProgramTest, InfinitiesAreStrings) {
  EXPECT_EQ(argumentAs<double>(R"({"as_float": "-Infinity"})"), -INFINITY);
  EXPECT_TRUE(std::isnan(argumentAs<double>(R"({"as_float": "NaN"})")));
}

TEST(ExportedProgramTest, ReadsTensorArguments) {
  EXPECT_EQ(argumentAs<TensorName>(R"({"as_tensor": {"name": "x"}})").name,
            "x");
  TensorNames tensors = argumentAs<TensorNames>(
      R"({"as_optional_tensors": [{"as_none": true},
                                  {"as_tensor": {"name": "y"}}]})");
  ASSERT_EQ(tensors.size(), 2u);
  EXPECT_FALSE(tensors[0]);
  EXPECT_EQ(tensors[1]->name, "y");
  EXPECT_EQ(argumentAs<TensorNames>(R"({"as_tensors": [{"name": "a"},
                                                       {"name": "b"}]})")
                .size(),
            2u);
  argumentAs<std::monostate>(R"({"as_optional_tensor": {"as_none": true}})");
}

TEST(ExportedProgramTest, ReadsEnumerations) {
  EXPECT_EQ(argumentAs<DType>(R"({"as_scalar_type": 13})"), DType::BFloat16);
  EXPECT_EQ(argumentAs<runtime::MemoryFormat>(R"({"as_memory_format": 4})"),
            runtime::MemoryFormat::Preserve);
  argumentAs<runtime::TensorLayoutKind>(R"({"as_layout": 7})");
  argumentAs<runtime::DeviceArgument>(
      R"({"as_device": {"type": "cpu", "index": null}})");
}

TEST(ExportedProgramTest, KeepsWhatNoPlanCanHold) {
  EXPECT_EQ(argumentAs<Unsupported>(R"({"as_scalar_type": 29})").what,
            "a dtype of code 29");
  EXPECT_EQ(
      argumentAs<Unsupported>(R"({"as_graph": {"name": "g", "graph": {}}})")
          .what,
      "a graph");
}

TEST(ExportedProgramTest, SymbolsKeepTheirName) {
  EXPECT_EQ(argumentAs<Symbol>(R"({"as_sym_int": {"as_name": "s0"}})").name,
            "s0");
  EXPECT_EQ(argumentAs<int64_t>(R"({"as_sym_int": {"as_int": 3}})"), 3);
  EXPECT_EQ(argumentAs<Symbol>(
                R"({"as_sym_ints": [{"as_int": 2}, {"as_name": "s1"}]})")
                .name,
            "s1");
  EXPECT_EQ(
      argumentAs<std::vector<int64_t>>(R"({"as_sym_ints": [{"as_int": 2}]})"),
      std::vector<int64_t>{2});
}

TEST(ExportedProgramTest, F52UnknownTagsFailByName) {
  Expected<Argument> argument = readArgument(R"({"as_quaternion": 1})");
  ASSERT_FALSE(argument.ok());
  EXPECT_EQ(argument.message(),
            "graph: unknown kind of argument \"as_quaternion\"; capture with a "
            "supported torch");
  expectError(replaced(smallStep().text(), "user_input", "user_wish"),
              "unknown kind of specification \"user_wish\"");
}

TEST(ExportedProgramTest, UnionsHaveOneMember) {
  EXPECT_FALSE(readArgument(R"({"as_int": 1, "as_float": 1.0})").ok());
  EXPECT_FALSE(readArgument("{}").ok());
  EXPECT_FALSE(readArgument("3").ok());
}

TEST(ExportedProgramTest, UnknownKeysAreIgnored) {
  std::string text = smallStep().text();
  EXPECT_TRUE(read(replaced(text, "{\"graph_module\":",
                            "{\"new\": 1, "
                            "\"graph_module\":"))
                  .ok());
}

TEST(ExportedProgramTest, F47VersionsAreChecked) {
  ProgramText program = smallStep();
  program.major = 9;
  expectError(program.text(), "too new");
  program.major = 7;
  expectError(program.text(), "too old");
  program.hasVersion = false;
  expectError(program.text(), "no schema_version");
}

TEST(ExportedProgramTest, F47NewerMinorVersionWarns) {
  ProgramText program = smallStep();
  program.minor = 21;
  Expected<Program> read_ = read(program.text());
  ASSERT_TRUE(read_.ok()) << read_.message();
  ASSERT_TRUE(read_->warning);
  EXPECT_NE(read_->warning->find("8.21"), std::string::npos) << *read_->warning;
}

TEST(ExportedProgramTest, NamesThePlaceOfAnError) {
  std::string text = smallStep().text();
  expectError(replaced(text, "\"target\":", "\"goal\":"),
              "graph_module.graph.nodes[0]");
  expectError(
      replaced(text, "\"strides\": [{\"as_int\": 1}]", "\"strides\": []"),
      "expected a stride per size, got 1 sizes and 0 strides");
  expectError("[]", "graph");
  expectError("{", "graph");
}

TEST(ExportedProgramTest, OneSpecificationPerInputAndOutput) {
  ProgramText program = smallStep();
  program.inputSpecs.pop_back();
  expectError(program.text(),
              "expected one specification per graph input, got 1 for 2");
}

TEST(ExportedProgramTest, ReadsSymbolicSizes) {
  std::string text = replaced(
      smallStep().text(), "\"sizes\": [{\"as_int\": 4}]",
      R"("sizes":[{"as_expr":{"expr_str":"s0","hint":{"as_int":4}}}])");
  text = replaced(text, "\"range_constraints\": {}",
                  R"("range_constraints":{"s0":{"min_val":2,"max_val":null}})");
  Expected<Program> program = read(text);
  ASSERT_TRUE(program.ok()) << program.message();
  EXPECT_EQ(program->tensors.at("p_w").symbol->name, "s0");
  EXPECT_EQ(program->ranges.at("s0").least, 2);
  EXPECT_FALSE(program->ranges.at("s0").most);
}

} // namespace
} // namespace sfsdp::test
