//===- JsonParse.cpp - The limited JSON parser ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nlohmann/json does the lexing and the grammar through its event interface,
// which keeps its state on the heap and never recurses; this file builds the
// values and refuses what the format allows but a reader should not: deep
// nesting, a name twice in one object (which of the two counts differs between
// readers), integers beyond 64 bits (silently rounded otherwise).
//
// Tested by test/unit/runtime/JsonTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/File.h"
#include "runtime/Json.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

using namespace sfsdp::runtime;

namespace {

/// Objects with more members than this are indexed by name.
constexpr size_t kLargestUnindexedObject = 16;

/// Reads the text and tells how far reading has come.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  const char *at;
  size_t *bytesRead;

  reference operator*() const { return *at; }
  CountingIterator &operator++() {
    ++at;
    ++*bytesRead;
    return *this;
  }
  bool operator==(const CountingIterator &other) const {
    return at == other.at;
  }
  bool operator!=(const CountingIterator &other) const {
    return at != other.at;
  }
};

/// An array or object whose end has not been seen.
struct OpenValue {
  Json::Array items;
  Json::Object object;
  std::vector<size_t> nameEnds; ///< bytes read up to each member's name
  bool isObject = false;
};

/// Receives the parser's events. Every handler returns false to stop.
class Builder {
public:
  Builder(JsonLimits limits, const size_t &bytesRead)
      : limits(limits), bytesRead(bytesRead) {}

  Json root;
  std::string problem;  ///< empty while there is none
  size_t problemAt = 0; ///< bytes read when it showed

  // Names that the parser calls.
  // NOLINTBEGIN(readability-identifier-naming)
  bool null() { return put(Json()); }
  bool boolean(bool value) { return put(Json(value)); }
  bool number_integer(int64_t value) { return put(Json(value)); }
  bool number_unsigned(uint64_t value) {
    return std::in_range<int64_t>(value) ? put(Json(value)) : tooLarge();
  }
  bool number_float(double value, const std::string &digits) {
    bool isInteger = digits.find_first_of(".eE") == std::string::npos;
    return isInteger ? tooLarge() : put(Json(value));
  }
  bool string(std::string &value) { return put(Json(std::move(value))); }
  bool binary(nlohmann::json::binary_t &) {
    return fail("unexpected binary value", bytesRead);
  }

  bool start_object(size_t) { return open(/*isObject=*/true); }
  bool start_array(size_t) { return open(/*isObject=*/false); }

  bool key(std::string &name) {
    OpenValue &object = stack.back();
    object.object.names.push_back(std::move(name));
    object.nameEnds.push_back(bytesRead);
    return true;
  }

  bool end_object() {
    OpenValue closed = std::move(stack.back());
    stack.pop_back();
    return indexByName(closed) && put(Json(std::move(closed.object)));
  }

  bool end_array() {
    Json::Array items = std::move(stack.back().items);
    stack.pop_back();
    return put(Json(std::move(items)));
  }

  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &error) {
    std::string_view message = error.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 2:
    // syntax error ...": the place is said in our own way.
    if (size_t end = message.find("] "); end != std::string_view::npos) {
      message.remove_prefix(end + 2);
    }
    if (message.starts_with("parse error at ")) {
      size_t end = message.find(": ");
      message.remove_prefix(end == std::string_view::npos ? 0 : end + 2);
    }
    return fail(std::string(message), position);
  }
  // NOLINTEND(readability-identifier-naming)

private:
  bool fail(std::string message, size_t at) {
    problem = std::move(message);
    problemAt = at;
    return false;
  }

  bool tooLarge() {
    return fail("integer does not fit 64 bits, expected one from "
                "-9223372036854775808 to 9223372036854775807",
                bytesRead);
  }

  bool open(bool isObject) {
    if (stack.size() >= static_cast<size_t>(limits.maxDepth)) {
      return fail("nested too deep, expected at most " +
                      std::to_string(limits.maxDepth) + " levels",
                  bytesRead);
    }
    stack.emplace_back().isObject = isObject;
    return true;
  }

  bool put(Json value) {
    if (stack.empty()) {
      root = std::move(value);
    } else if (stack.back().isObject) {
      stack.back().object.values.push_back(std::move(value));
    } else {
      stack.back().items.push_back(std::move(value));
    }
    return true;
  }

  /// Finds names that occur twice; keeps the order for large objects.
  bool indexByName(OpenValue &open) {
    const std::vector<std::string> &names = open.object.names;
    std::vector<uint32_t> order(names.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      int compared = names[a].compare(names[b]);
      return compared != 0 ? compared < 0 : a < b;
    });
    auto twice = std::adjacent_find(
        order.begin(), order.end(),
        [&](uint32_t a, uint32_t b) { return names[a] == names[b]; });
    if (twice != order.end()) {
      uint32_t second = *std::next(twice);
      return fail("member " + writeJson(Json(names[second])) +
                      " occurs twice in one object",
                  open.nameEnds[second]);
    }
    if (names.size() > kLargestUnindexedObject) {
      open.object.byName = std::move(order);
    }
    return true;
  }

  JsonLimits limits;
  const size_t &bytesRead;
  std::vector<OpenValue> stack;
};

/// `bytesRead` ends with the byte that showed the problem.
Status errorAt(std::string_view text, size_t bytesRead, std::string_view name,
               std::string_view problem) {
  std::string_view before = text.substr(0, bytesRead > 0 ? bytesRead - 1 : 0);
  size_t line = 1 + std::count(before.begin(), before.end(), '\n');
  size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return Status::error(std::string(name) + ":" + std::to_string(line) + ":" +
                       std::to_string(column) + ": " + std::string(problem));
}

} // namespace

Expected<JsonDocument> sfsdp::runtime::parseJson(std::string_view text,
                                                 std::string_view name,
                                                 JsonLimits limits) {
  if (text.size() > limits.maxBytes) {
    return Status::error(std::string(name) + ": expected at most " +
                         std::to_string(limits.maxBytes) +
                         " bytes of JSON, got " + std::to_string(text.size()));
  }
  size_t bytesRead = 0;
  Builder builder(limits, bytesRead);
  CountingIterator begin{text.data(), &bytesRead};
  CountingIterator end{text.data() + text.size(), &bytesRead};
  try {
    nlohmann::json::sax_parse(begin, end, &builder);
  } catch (const std::exception &error) {
    return errorAt(text, bytesRead, name, error.what());
  }
  if (!builder.problem.empty()) {
    return errorAt(text, builder.problemAt, name, builder.problem);
  }
  return JsonDocument{std::string(name), std::move(builder.root)};
}

Expected<JsonDocument> sfsdp::runtime::readJsonFile(const std::string &path,
                                                    JsonLimits limits) {
  Expected<std::string> text = readFile(path, limits.maxBytes);
  if (!text) {
    return text.status();
  }
  return parseJson(*text, path, limits);
}
