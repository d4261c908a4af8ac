//===- Json.h - The one JSON reader and writer ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every JSON text that this project reads goes through `parseJson`, because a
// file is input from anywhere: nesting is limited, a name may occur once in an
// object, numbers are finite and integers fit 64 bits, and text is UTF-8.
//
// Reading is done from a `JsonPlace`, a value that knows where it stands, so an
// error names file and path: `a.plan.json: storages[3].bytes: expected an
// integer, got a string`. A struct is read by overloading `readJson`:
//
//     Status readJson(JsonPlace place, Storage &storage) {
//       JsonFields fields(place);
//       fields.required("bytes", storage.bytes);
//       fields.optional("role", storage.role);
//       return fields.finish();
//     }
//
// after which `std::vector<Storage>` can be read too. This header needs neither
// exceptions nor RTTI, and does not include the JSON library behind it.
//
// Tested by test/unit/runtime/JsonTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_JSON_H
#define SFSDP_RUNTIME_JSON_H

#include "runtime/Status.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sfsdp::runtime {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A JSON value. Objects keep the order in which members were added.
class Json {
public:
  enum class Kind : uint8_t {
    Null,
    Bool,
    Integer,
    Double,
    String,
    Array,
    Object
  };

  using Array = std::vector<Json>;

  /// Member i is called `names[i]`.
  struct Object {
    std::vector<std::string> names;
    std::vector<Json> values;
    /// Members by ascending name. Filled for large parsed objects only and
    /// dropped when a member is added; see `Json::find`.
    std::vector<uint32_t> byName;
  };

  Json(); ///< null
  Json(const Json &other);
  Json(Json &&other) noexcept;
  Json &operator=(const Json &other);
  Json &operator=(Json &&other) noexcept;
  ~Json();

  template <std::same_as<bool> T>
  Json(T boolean) : value(boolean) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Json(T integer) : value(static_cast<int64_t>(integer)) {
    assert(std::in_range<int64_t>(integer) && "JSON integers have 64 bits");
  }
  Json(double number) : value(number) {}
  Json(std::string text) : value(std::move(text)) {}
  Json(std::string_view text) : value(std::string(text)) {}
  Json(const char *text) : value(std::string(text)) {}
  Json(Array items);
  Json(Object members);

  static Json array() { return Array(); }
  static Json object() { return Object(); }

  /// An array of what `Json` can be made from.
  template <typename T>
  static Json listOf(const std::vector<T> &items) {
    return Array(items.begin(), items.end());
  }

  /// Appends to an array. Requires kind() == Array.
  void push(Json item);

  /// Adds a member to an object, which must not have one of that name.
  /// Requires kind() == Object.
  void add(std::string name, Json member);

  Kind kind() const { return static_cast<Kind>(value.index()); }

  // The content, or null when the value is of another kind.
  const bool *asBool() const { return std::get_if<bool>(&value); }
  const int64_t *asInteger() const { return std::get_if<int64_t>(&value); }
  const double *asDouble() const { return std::get_if<double>(&value); }
  const std::string *asString() const {
    return std::get_if<std::string>(&value);
  }
  const Array *asArray() const { return std::get_if<Array>(&value); }
  const Object *asObject() const { return std::get_if<Object>(&value); }

  /// The member called `name`; null when there is none or this is no object.
  const Json *find(std::string_view name) const;

private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array,
               Object>
      value;
};

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// What a text may ask of this process.
struct JsonLimits {
  int maxDepth = 128;                          ///< nested arrays and objects
  size_t maxBytes = size_t{512} * 1024 * 1024; ///< of text
};

struct JsonMember;
class JsonPlace;

/// A parsed text and the name it goes by in messages.
struct JsonDocument {
  std::string name;
  Json value;

  /// The outermost value. The place borrows from this document.
  JsonPlace root() const;
};

/// Parses exactly one value. `name` (a file, or an entry of an archive) stands
/// in messages, which read `NAME:LINE:COLUMN: …`.
Expected<JsonDocument> parseJson(std::string_view text, std::string_view name,
                                 JsonLimits limits = {});

/// Parses the file at `path`.
Expected<JsonDocument> readJsonFile(const std::string &path,
                                    JsonLimits limits = {});

/// A value of a document. Cheap to copy; valid while the document lives and
/// stays where it is.
class JsonPlace {
public:
  JsonPlace(const JsonDocument &document, const Json &value)
      : document(&document), value(&value) {}

  const Json &json() const { return *value; }
  Json::Kind kind() const { return value->kind(); }
  bool isNull() const { return kind() == Json::Kind::Null; }

  /// Where this is: `storages[3].bytes`, `config["a.weight"]`; empty for the
  /// root. Searches the document, so it is for messages.
  std::string path() const;

  /// `NAME: PATH: message`.
  Status error(std::string_view message) const;

  Expected<bool> boolean() const;
  Expected<int64_t> integer() const;
  /// An integer with `least <= value <= most`.
  Expected<int64_t> integerWithin(int64_t least, int64_t most) const;
  /// A double, or an integer that a double holds exactly.
  Expected<double> number() const;
  /// As `number`, or one of the strings "NaN", "Infinity", "-Infinity" that
  /// stand for what JSON cannot write.
  Expected<double> extendedNumber() const;
  /// Borrows from the document.
  Expected<std::string_view> string() const;

  Expected<std::vector<JsonPlace>> items() const;
  Expected<std::vector<JsonMember>> members() const;

  /// The member called `name`; an error when it is missing.
  Expected<JsonPlace> member(std::string_view name) const;
  /// The member called `name`; nothing when it is missing, or when this is not
  /// an object.
  std::optional<JsonPlace> find(std::string_view name) const;

private:
  Status wrongKind(std::string_view expected) const;

  const JsonDocument *document;
  const Json *value;
};

struct JsonMember {
  std::string_view name;
  JsonPlace value;
};

// Reading into a variable. Overload for own types; vectors and optionals (null
// means absent) of readable types are readable.
Status readJson(JsonPlace place, bool &out);
Status readJson(JsonPlace place, int64_t &out);
Status readJson(JsonPlace place, int32_t &out);
Status readJson(JsonPlace place, double &out); ///< extendedNumber()
Status readJson(JsonPlace place, std::string &out);

template <typename T>
Status readJson(JsonPlace place, std::vector<T> &out) {
  Expected<std::vector<JsonPlace>> items = place.items();
  if (!items) {
    return items.status();
  }
  out.clear();
  out.reserve(items->size());
  for (JsonPlace item : *items) {
    T element{};
    if (Status status = readJson(item, element); !status.ok()) {
      return status;
    }
    out.push_back(std::move(element));
  }
  return Status();
}

template <typename T>
Status readJson(JsonPlace place, std::optional<T> &out) {
  out.reset();
  if (place.isNull()) {
    return Status();
  }
  return readJson(place, out.emplace());
}

/// Reads the members of one object. The first problem is kept and makes the
/// rest do nothing, so that a reader is a list of members and one `finish`.
class JsonFields {
public:
  explicit JsonFields(JsonPlace object) : object(object) {
    if (object.kind() != Json::Kind::Object) {
      status = object.members().status();
    }
  }

  /// Reads member `name`, which must be there.
  template <typename T>
  void required(std::string_view name, T &out) {
    known.push_back(name);
    if (!status.ok()) {
      return;
    }
    Expected<JsonPlace> place = object.member(name);
    status = place ? readJson(*place, out) : place.status();
  }

  /// Reads member `name`; leaves `out` as it is when there is none.
  template <typename T>
  void optional(std::string_view name, T &out) {
    known.push_back(name);
    if (!status.ok()) {
      return;
    }
    if (std::optional<JsonPlace> place = object.find(name)) {
      status = readJson(*place, out);
    }
  }

  /// The first problem.
  Status finish() const { return status; }

  /// The first problem; a member that no call asked for is one.
  Status finishStrictly() const;

private:
  JsonPlace object;
  std::vector<std::string_view> known;
  Status status;
};

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

struct JsonLayout {
  /// Arrays and objects nested less deep than this have an item per line; the
  /// others stand on one line. 0 gives a text of one line.
  int expandedDepth = 0;
};

/// The text of `value`: equal values give equal bytes, and a parsed text gives
/// an equal value. Doubles are written as the shortest digits that read back as
/// the same bits, always with a fraction or an exponent; what JSON cannot write
/// becomes a string (see `extendedNumber`); bytes that are not UTF-8 become
/// U+FFFD. There is no newline at the end.
std::string writeJson(const Json &value, JsonLayout layout = {});

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_JSON_H
