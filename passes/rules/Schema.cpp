//===- Schema.cpp - Reads PyTorch's schema notation -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recursive-descent reader of
//
//     [namespace::]name[.overload](parameters) -> results
//
// Alias annotations matter for one thing only, whether an argument is written;
// symbolic integers (`SymInt`) read as plain ones, since every size in a graph
// is a number here.
//
// Tested by test/unit/passes/rules/SchemaTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/Schema.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace sfsdp::rules {

using runtime::Expected;
using runtime::Status;

namespace {

struct NamedType {
  std::string_view name;
  ParameterType single;
  ParameterType list;
};

constexpr std::array<NamedType, 13> kTypes = {{
    {"Tensor", ParameterType::Tensor, ParameterType::TensorList},
    {"Scalar", ParameterType::Scalar, ParameterType::Other},
    {"number", ParameterType::Scalar, ParameterType::Other},
    {"int", ParameterType::Int, ParameterType::IntList},
    {"SymInt", ParameterType::Int, ParameterType::IntList},
    {"float", ParameterType::Float, ParameterType::FloatList},
    {"bool", ParameterType::Bool, ParameterType::BoolList},
    {"str", ParameterType::String, ParameterType::Other},
    {"ScalarType", ParameterType::DType, ParameterType::Other},
    {"Layout", ParameterType::Layout, ParameterType::Other},
    {"Device", ParameterType::Device, ParameterType::Other},
    {"MemoryFormat", ParameterType::MemoryFormat, ParameterType::Other},
    {"Generator", ParameterType::Generator, ParameterType::Other},
}};

bool isNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

class SchemaReader {
public:
  explicit SchemaReader(std::string_view text) : text(text) {}

  Expected<Schema> read() {
    readName();
    readParameters();
    expect("->");
    readResults();
    skipSpace();
    if (position != text.size()) {
      fail("nothing more");
    }
    if (!status.ok()) {
      return status;
    }
    return std::move(schema);
  }

private:
  struct Type {
    ParameterType kind = ParameterType::Other;
    bool optional = false;
    bool mutated = false;
    size_t listLength = 0;
  };

  /// Keeps the first problem and moves to the end, so that readers stop.
  void fail(const std::string &expected) {
    if (status.ok()) {
      status = Status::error("schema '" + std::string(text) + "': expected " +
                             expected + " at column " +
                             std::to_string(position + 1));
    }
    position = text.size();
  }

  void skipSpace() {
    while (position < text.size() && text[position] == ' ') {
      ++position;
    }
  }

  bool accept(std::string_view token) {
    skipSpace();
    if (!text.substr(position).starts_with(token)) {
      return false;
    }
    position += token.size();
    return true;
  }

  void expect(std::string_view token) {
    if (!accept(token)) {
      fail("'" + std::string(token) + "'");
    }
  }

  std::string_view readWord(std::string_view extraCharacters = "") {
    skipSpace();
    size_t start = position;
    while (position < text.size() &&
           (isNameCharacter(text[position]) ||
            extraCharacters.find(text[position]) != std::string_view::npos)) {
      ++position;
    }
    if (position == start) {
      fail("a name");
      return {};
    }
    return text.substr(start, position - start);
  }

  void readName() {
    std::string library(readWord());
    std::string name = library;
    if (accept("::")) {
      name = readWord();
    } else {
      library = "aten";
    }
    std::string overload = accept(".") ? std::string(readWord()) : "default";
    schema.name = library == "aten" ? "" : library + "::";
    schema.name += name + "." + overload;
  }

  /// After an opening parenthesis: true if the annotation marks a write.
  bool readAliasAnnotation() {
    size_t close = text.find(')', position);
    if (close == std::string_view::npos) {
      fail("')' after an alias annotation");
      return false;
    }
    bool written = text.substr(position, close - position).find('!') !=
                   std::string_view::npos;
    position = close + 1;
    return written;
  }

  size_t readListLength() {
    size_t length = 0;
    const char *end = text.data() + text.size();
    auto [stop, problem] = std::from_chars(text.data() + position, end, length);
    if (problem == std::errc::result_out_of_range) {
      fail("a list length of 64 bits");
      return 0;
    }
    position = static_cast<size_t>(stop - text.data());
    return length;
  }

  Type readType() {
    std::string_view name = readWord(".");
    Type type;
    bool list = false;
    bool listOfLists = false;
    while (position < text.size()) {
      if (accept("(")) {
        type.mutated |= readAliasAnnotation();
      } else if (accept("[")) {
        type.listLength = readListLength();
        expect("]");
        listOfLists = list;
        list = true;
      } else if (accept("?")) {
        type.optional = true;
      } else {
        break;
      }
    }
    const auto *known = std::ranges::find(kTypes, name, &NamedType::name);
    if (known != kTypes.end() && !listOfLists) {
      type.kind = list ? known->list : known->single;
    }
    return type;
  }

  std::string readDefault() {
    skipSpace();
    size_t start = position;
    int depth = 0;
    while (position < text.size()) {
      char c = text[position];
      if (c == '"' || c == '\'') {
        skipQuoted(c);
        continue;
      }
      if (depth == 0 && (c == ',' || c == ')')) {
        break;
      }
      depth += c == '[' || c == '(';
      depth -= c == ']' || c == ')';
      ++position;
    }
    if (position == start) {
      fail("a default value");
    }
    return std::string(text.substr(start, position - start));
  }

  void skipQuoted(char quote) {
    for (++position; position < text.size(); ++position) {
      if (text[position] == '\\') {
        ++position;
      } else if (text[position] == quote) {
        ++position;
        return;
      }
    }
    fail("a closing quote");
  }

  void readParameters() {
    expect("(");
    if (accept(")")) {
      return;
    }
    bool keywordOnly = false;
    do {
      if (accept("*")) {
        keywordOnly = true;
        continue;
      }
      Parameter parameter;
      Type type = readType();
      parameter.type = type.kind;
      parameter.optional = type.optional;
      parameter.mutated = type.mutated;
      parameter.keywordOnly = keywordOnly;
      parameter.listLength = type.listLength;
      parameter.name = readWord();
      if (accept("=")) {
        parameter.defaultText = readDefault();
      }
      schema.parameters.push_back(std::move(parameter));
    } while (accept(","));
    expect(")");
  }

  void readResult() {
    ParameterType kind = readType().kind;
    if (kind != ParameterType::Tensor && kind != ParameterType::TensorList) {
      fail("results of type Tensor or Tensor[]");
      return;
    }
    schema.returnsList |= kind == ParameterType::TensorList;
    ++schema.resultCount;
    skipSpace();
    if (position < text.size() && isNameCharacter(text[position])) {
      readWord();
    }
  }

  void readResults() {
    if (!accept("(")) {
      readResult();
      return;
    }
    if (accept(")")) {
      return;
    }
    do {
      readResult();
    } while (accept(","));
    expect(")");
    if (schema.returnsList && schema.resultCount > 1) {
      fail("a list as the only result");
    }
  }

  std::string_view text;
  size_t position = 0;
  Schema schema;
  Status status;
};

} // namespace

bool Schema::mutates() const {
  return std::ranges::any_of(parameters, &Parameter::mutated);
}

Expected<Schema> parseSchema(std::string_view text) {
  return SchemaReader(text).read();
}

} // namespace sfsdp::rules
