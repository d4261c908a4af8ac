//===- JsonMutator.cpp - Changes of a JSON text that keep it JSON ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values are numbered in depth-first order. A change picks one of them by
// number and gives the tree again with another value there.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/readers/JsonMutator.h"

#include "runtime/Json.h"

#include <cstring>
#include <limits>
#include <random>

using namespace sfsdp;
using runtime::Json;

/// Of libFuzzer: changes bytes.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

using Random = std::minstd_rand;

/// 0 <= result < count; 0 when `count` is 0.
size_t below(Random &random, size_t count) {
  return count == 0 ? 0 : random() % count;
}

/// `value` and everything in it, in depth-first order.
void listValues(const Json &value, std::vector<const Json *> &out) {
  out.push_back(&value);
  if (const Json::Array *items = value.asArray()) {
    for (const Json &item : *items) {
      listValues(item, out);
    }
  }
  if (const Json::Object *members = value.asObject()) {
    for (const Json &member : members->values) {
      listValues(member, out);
    }
  }
}

/// `value` with `replacement` in place of `target`, which it holds or is.
Json replaced(const Json &value, const Json *target, const Json &replacement) {
  if (&value == target) {
    return replacement;
  }
  if (const Json::Array *items = value.asArray()) {
    Json result = Json::array();
    for (const Json &item : *items) {
      result.push(replaced(item, target, replacement));
    }
    return result;
  }
  if (const Json::Object *members = value.asObject()) {
    Json result = Json::object();
    for (size_t i = 0; i < members->names.size(); ++i) {
      result.add(members->names[i],
                 replaced(members->values[i], target, replacement));
    }
    return result;
  }
  return value;
}

Json otherInteger(int64_t value, Random &random) {
  constexpr int64_t kEdges[] = {0,
                                1,
                                -1,
                                2,
                                64,
                                int64_t{1} << 31,
                                int64_t{1} << 32,
                                int64_t{1} << 62,
                                std::numeric_limits<int64_t>::max(),
                                std::numeric_limits<int64_t>::min()};
  auto wrapped = static_cast<uint64_t>(value);
  switch (below(random, 5)) {
  case 0:
    return static_cast<int64_t>(wrapped + 1);
  case 1:
    return static_cast<int64_t>(wrapped - 1);
  case 2:
    return static_cast<int64_t>(wrapped * 2);
  case 3:
    return static_cast<int64_t>(below(random, 16));
  default:
    return kEdges[below(random, std::size(kEdges))];
  }
}

Json otherText(std::string text, Random &random) {
  size_t size = text.size();
  text.resize(size + 8);
  size = LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(text.data()), size,
                          text.size());
  text.resize(size);
  return text;
}

/// Without one item, with one twice, or with two of them exchanged.
Json otherArray(Json::Array items, Random &random) {
  if (items.empty()) {
    return Json(std::move(items));
  }
  size_t at = below(random, items.size());
  switch (below(random, 3)) {
  case 0:
    items.erase(items.begin() + static_cast<ptrdiff_t>(at));
    break;
  case 1:
    items.insert(items.begin() + static_cast<ptrdiff_t>(at), Json(items[at]));
    break;
  default:
    std::swap(items[at], items[below(random, items.size())]);
  }
  return Json(std::move(items));
}

/// Without one member, or with two values exchanged.
Json otherObject(const Json::Object &members, Random &random) {
  size_t count = members.names.size();
  size_t at = below(random, count);
  size_t with = below(random, count);
  bool drops = below(random, 2) == 0;
  Json result = Json::object();
  for (size_t i = 0; i < count; ++i) {
    if (drops && i == at) {
      continue;
    }
    size_t from = drops ? i : i == at ? with : i == with ? at : i;
    result.add(members.names[i], members.values[from]);
  }
  return result;
}

Json otherValue(const Json &value, Random &random) {
  if (const int64_t *integer = value.asInteger()) {
    return otherInteger(*integer, random);
  }
  if (const std::string *text = value.asString()) {
    return otherText(*text, random);
  }
  if (const Json::Array *items = value.asArray()) {
    return otherArray(*items, random);
  }
  if (const Json::Object *members = value.asObject()) {
    return otherObject(*members, random);
  }
  if (const bool *boolean = value.asBool()) {
    return !*boolean;
  }
  return static_cast<int64_t>(below(random, 4));
}

Json changeOnce(const Json &root, Random &random) {
  std::vector<const Json *> values;
  listValues(root, values);
  const Json *target = values[below(random, values.size())];
  if (below(random, 4) != 0) {
    return replaced(root, target, otherValue(*target, random));
  }
  // A value from another place: of the same kind if a few draws find one.
  const Json *source = values[below(random, values.size())];
  for (int draw = 0; draw < 8 && source->kind() != target->kind(); ++draw) {
    source = values[below(random, values.size())];
  }
  return replaced(root, target, *source);
}

} // namespace

size_t test::mutateJson(uint8_t *data, size_t size, size_t maxSize,
                        unsigned seed) {
  Random random(seed);
  auto bytes = [&] { return LLVMFuzzerMutate(data, size, maxSize); };
  if (below(random, 8) == 0) {
    return bytes();
  }
  runtime::Expected<runtime::JsonDocument> document =
      runtime::parseJson({reinterpret_cast<const char *>(data), size}, "input");
  if (!document) {
    return bytes();
  }
  Json value = std::move(document->value);
  for (size_t changes = 1 + below(random, 3); changes > 0; --changes) {
    value = changeOnce(value, random);
  }
  std::string text = writeJson(value);
  if (text.size() > maxSize) {
    return bytes();
  }
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
