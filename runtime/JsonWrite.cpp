//===- JsonWrite.cpp - The deterministic JSON writer ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans are compared byte by byte between compiles, so nothing here depends on
// locale, addresses or time.
//
// Tested by test/unit/runtime/JsonTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

using namespace sfsdp::runtime;

namespace {

bool isPlain(unsigned char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

class Writer {
public:
  explicit Writer(JsonLayout layout) : layout(layout) {}

  std::string text;

  void write(const Json &value, int depth) {
    switch (value.kind()) {
    case Json::Kind::Null:
      text += "null";
      break;
    case Json::Kind::Bool:
      text += *value.asBool() ? "true" : "false";
      break;
    case Json::Kind::Integer:
      text += std::to_string(*value.asInteger());
      break;
    case Json::Kind::Double:
      writeDouble(*value.asDouble());
      break;
    case Json::Kind::String:
      writeString(*value.asString());
      break;
    case Json::Kind::Array:
      writeArray(*value.asArray(), depth);
      break;
    case Json::Kind::Object:
      writeObject(*value.asObject(), depth);
      break;
    }
  }

private:
  void writeArray(const Json::Array &items, int depth) {
    writeList("[]", items.size(), depth,
              [&](size_t i) { write(items[i], depth + 1); });
  }

  void writeObject(const Json::Object &object, int depth) {
    writeList("{}", object.values.size(), depth, [&](size_t i) {
      writeString(object.names[i]);
      text += ": ";
      write(object.values[i], depth + 1);
    });
  }

  template <typename WriteItem>
  void writeList(const char *brackets, size_t size, int depth,
                 WriteItem writeItem) {
    bool expanded = depth < layout.expandedDepth && size > 0;
    text += brackets[0];
    for (size_t i = 0; i < size; ++i) {
      text += i == 0 ? "" : expanded ? "," : ", ";
      if (expanded) {
        startLine(depth + 1);
      }
      writeItem(i);
    }
    if (expanded) {
      startLine(depth);
    }
    text += brackets[1];
  }

  void startLine(int depth) {
    text += '\n';
    text.append(static_cast<size_t>(depth) * 2, ' ');
  }

  void writeDouble(double number) {
    if (!std::isfinite(number)) {
      text += std::isnan(number) ? "\"NaN\""
              : number > 0       ? "\"Infinity\""
                                 : "\"-Infinity\"";
      return;
    }
    char digits[32];
    char *end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
    std::string_view shortest(digits, static_cast<size_t>(end - digits));
    text += shortest;
    if (shortest.find_first_of(".e") == std::string_view::npos) {
      text += ".0";
    }
  }

  void writeString(const std::string &string) {
    if (std::all_of(string.begin(), string.end(), isPlain)) {
      text += '"';
      text += string;
      text += '"';
      return;
    }
    using Library = nlohmann::json;
    text += Library(string).dump(/*indent=*/-1, /*indent_char=*/' ',
                                 /*ensure_ascii=*/false,
                                 Library::error_handler_t::replace);
  }

  JsonLayout layout;
};

} // namespace

std::string sfsdp::runtime::writeJson(const Json &value, JsonLayout layout) {
  Writer writer(layout);
  writer.write(value, /*depth=*/0);
  return std::move(writer.text);
}
