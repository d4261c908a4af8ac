//===- Json.cpp - JSON values and typed reading --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsing is in JsonParse.cpp, writing in JsonWrite.cpp.
//
// A place does not carry its path: it would be built for every field read and
// used for none. A message finds it by looking for the value in the document.
//
// Tested by test/unit/runtime/JsonTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Json.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace sfsdp::runtime;

namespace {

/// Names longer than this are cut in messages.
constexpr size_t kShownNameBytes = 80;

/// Integers of at most this size are exact as a double.
constexpr int64_t kLargestExactInteger = int64_t{1} << 53;

std::string_view describe(Json::Kind kind) {
  switch (kind) {
  case Json::Kind::Null:
    return "null";
  case Json::Kind::Bool:
    return "a boolean";
  case Json::Kind::Integer:
    return "an integer";
  case Json::Kind::Double:
    return "a number with a fraction or exponent";
  case Json::Kind::String:
    return "a string";
  case Json::Kind::Array:
    return "an array";
  case Json::Kind::Object:
    return "an object";
  }
  return "a value";
}

std::string quoted(std::string_view text) {
  bool cut = text.size() > kShownNameBytes;
  std::string shown = writeJson(Json(text.substr(0, kShownNameBytes)));
  return cut ? shown + "..." : shown;
}

bool isIdentifier(std::string_view name) {
  auto isLetter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  auto isLetterOrDigit = [&](char c) {
    return isLetter(c) || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= kShownNameBytes &&
         isLetter(name.front()) &&
         std::all_of(name.begin(), name.end(), isLetterOrDigit);
}

void appendName(std::string &path, std::string_view name) {
  if (isIdentifier(name)) {
    path += path.empty() ? "" : ".";
    path += name;
  } else {
    path += "[" + quoted(name) + "]";
  }
}

/// Appends the steps from `value` to `target`; false when it isn't inside.
bool findPath(const Json &value, const Json *target, std::string &path) {
  if (&value == target) {
    return true;
  }
  size_t length = path.size();
  if (const Json::Array *items = value.asArray()) {
    for (size_t i = 0; i < items->size(); ++i) {
      path += "[" + std::to_string(i) + "]";
      if (findPath((*items)[i], target, path)) {
        return true;
      }
      path.resize(length);
    }
  }
  if (const Json::Object *object = value.asObject()) {
    for (size_t i = 0; i < object->values.size(); ++i) {
      appendName(path, object->names[i]);
      if (findPath(object->values[i], target, path)) {
        return true;
      }
      path.resize(length);
    }
  }
  return false;
}

template <typename T, typename U>
Status assign(Expected<T> value, U &out) {
  if (value) {
    out = static_cast<U>(*value);
  }
  return value.status();
}

} // namespace

//===----------------------------------------------------------------------===//
// Json
//===----------------------------------------------------------------------===//

// Out of line: they are large, and inlined everywhere they tell nothing.
Json::Json() = default;
Json::Json(const Json &other) = default;
Json::Json(Json &&other) noexcept = default;
Json &Json::operator=(const Json &other) = default;
Json &Json::operator=(Json &&other) noexcept = default;
Json::~Json() = default;
Json::Json(Array items) : value(std::move(items)) {}
Json::Json(Object members) : value(std::move(members)) {}

void Json::push(Json item) {
  Array *items = std::get_if<Array>(&value);
  assert(items && "only an array has items");
  items->push_back(std::move(item));
}

void Json::add(std::string name, Json member) {
  Object *object = std::get_if<Object>(&value);
  assert(object && "only an object has members");
  object->byName.clear();
  object->names.push_back(std::move(name));
  object->values.push_back(std::move(member));
}

const Json *Json::find(std::string_view name) const {
  const Object *object = asObject();
  if (!object) {
    return nullptr;
  }
  const std::vector<std::string> &names = object->names;
  if (object->byName.empty()) {
    auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? nullptr
                                : &object->values[found - names.begin()];
  }
  auto found = std::lower_bound(
      object->byName.begin(), object->byName.end(), name,
      [&](uint32_t i, std::string_view key) { return names[i] < key; });
  if (found == object->byName.end() || names[*found] != name) {
    return nullptr;
  }
  return &object->values[*found];
}

//===----------------------------------------------------------------------===//
// JsonPlace
//===----------------------------------------------------------------------===//

JsonPlace JsonDocument::root() const { return JsonPlace(*this, value); }

std::string JsonPlace::path() const {
  std::string path;
  findPath(document->value, value, path);
  return path;
}

Status JsonPlace::error(std::string_view message) const {
  std::string where = path();
  return Status::error(document->name + ": " +
                       (where.empty() ? "" : where + ": ") +
                       std::string(message));
}

Status JsonPlace::wrongKind(std::string_view expected) const {
  return error("expected " + std::string(expected) + ", got " +
               std::string(describe(kind())));
}

Expected<bool> JsonPlace::boolean() const {
  if (const bool *boolean = value->asBool()) {
    return *boolean;
  }
  return wrongKind("a boolean");
}

Expected<int64_t> JsonPlace::integer() const {
  if (const int64_t *integer = value->asInteger()) {
    return *integer;
  }
  return wrongKind("an integer");
}

Expected<int64_t> JsonPlace::integerWithin(int64_t least, int64_t most) const {
  Expected<int64_t> number = integer();
  if (number && (*number < least || *number > most)) {
    return error("expected an integer from " + std::to_string(least) + " to " +
                 std::to_string(most) + ", got " + std::to_string(*number));
  }
  return number;
}

Expected<double> JsonPlace::number() const {
  if (const double *number = value->asDouble()) {
    return *number;
  }
  const int64_t *integer = value->asInteger();
  if (!integer) {
    return wrongKind("a number");
  }
  if (*integer > kLargestExactInteger || *integer < -kLargestExactInteger) {
    return error("expected a number that a double holds exactly, got " +
                 std::to_string(*integer));
  }
  return static_cast<double>(*integer);
}

Expected<double> JsonPlace::extendedNumber() const {
  const std::string *text = value->asString();
  if (!text) {
    return number();
  }
  if (*text == "NaN") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (*text == "Infinity") {
    return std::numeric_limits<double>::infinity();
  }
  if (*text == "-Infinity") {
    return -std::numeric_limits<double>::infinity();
  }
  return error("expected a number, NaN, Infinity or -Infinity, got " +
               quoted(*text));
}

Expected<std::string_view> JsonPlace::string() const {
  if (const std::string *text = value->asString()) {
    return std::string_view(*text);
  }
  return wrongKind("a string");
}

Expected<std::vector<JsonPlace>> JsonPlace::items() const {
  const Json::Array *array = value->asArray();
  if (!array) {
    return wrongKind("an array");
  }
  std::vector<JsonPlace> places;
  places.reserve(array->size());
  for (const Json &item : *array) {
    places.emplace_back(*document, item);
  }
  return places;
}

Expected<std::vector<JsonMember>> JsonPlace::members() const {
  const Json::Object *object = value->asObject();
  if (!object) {
    return wrongKind("an object");
  }
  std::vector<JsonMember> places;
  places.reserve(object->values.size());
  for (size_t i = 0; i < object->values.size(); ++i) {
    places.push_back(
        {object->names[i], JsonPlace(*document, object->values[i])});
  }
  return places;
}

Expected<JsonPlace> JsonPlace::member(std::string_view name) const {
  if (kind() != Json::Kind::Object) {
    return wrongKind("an object");
  }
  if (const Json *found = value->find(name)) {
    return JsonPlace(*document, *found);
  }
  return error("missing member " + quoted(name));
}

std::optional<JsonPlace> JsonPlace::find(std::string_view name) const {
  if (const Json *found = value->find(name)) {
    return JsonPlace(*document, *found);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Reading into variables
//===----------------------------------------------------------------------===//

Status sfsdp::runtime::readJson(JsonPlace place, bool &out) {
  return assign(place.boolean(), out);
}

Status sfsdp::runtime::readJson(JsonPlace place, int64_t &out) {
  return assign(place.integer(), out);
}

Status sfsdp::runtime::readJson(JsonPlace place, int32_t &out) {
  using Limits = std::numeric_limits<int32_t>;
  return assign(place.integerWithin(Limits::min(), Limits::max()), out);
}

Status sfsdp::runtime::readJson(JsonPlace place, double &out) {
  return assign(place.extendedNumber(), out);
}

Status sfsdp::runtime::readJson(JsonPlace place, std::string &out) {
  return assign(place.string(), out);
}

Status JsonFields::finishStrictly() const {
  if (!status.ok()) {
    return status;
  }
  for (const std::string &name : object.json().asObject()->names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return object.error("unknown member " + quoted(name));
    }
  }
  return Status();
}
