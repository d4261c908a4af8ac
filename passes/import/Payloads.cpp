//===- Payloads.cpp - Where an archive keeps tensors --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Payloads.h.
//
// Tested by test/unit/passes/import/GraphFileTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/import/Payloads.h"

#include "passes/import/ExportedProgram.h"

#include <algorithm>

namespace sfsdp::exported {

using runtime::Archive;
using runtime::JsonDocument;
using runtime::JsonFields;
using runtime::JsonMember;

namespace {

/// A size, stride or offset; 1 for a symbol.
struct Number {
  int64_t value = 0;
};

Status readJson(JsonPlace place, Number &number) {
  Argument argument;
  Status status = readJson(place, argument);
  const int64_t *value = std::get_if<int64_t>(&argument);
  number.value = value ? *value : 1;
  return status;
}

/// The member `tensor_meta` of a payload; null for an object.
struct PayloadShape {
  std::vector<Number> sizes;
  std::vector<Number> strides;
  Number offset;
};

Status readJson(JsonPlace place, PayloadShape &shape) {
  JsonFields fields(place);
  fields.required("sizes", shape.sizes);
  fields.optional("strides", shape.strides);
  fields.optional("storage_offset", shape.offset);
  return fields.finish();
}

} // namespace

static Status readJson(JsonPlace place, Payload &payload) {
  std::optional<PayloadShape> shape;
  JsonFields fields(place);
  fields.required("path_name", payload.record);
  fields.optional("tensor_meta", shape);
  if (shape) {
    std::ranges::transform(shape->sizes, std::back_inserter(payload.sizes),
                           &Number::value);
    std::ranges::transform(shape->strides, std::back_inserter(payload.strides),
                           &Number::value);
    payload.offset = shape->offset.value;
  }
  return fields.finish();
}

bool Payload::hasElements() const {
  return std::ranges::find(sizes, 0) == sizes.end();
}

runtime::Expected<Payloads> readPayloads(const Archive &archive,
                                         const std::string &kind,
                                         const std::string &model) {
  std::string folder = "data/" + kind + "/";
  std::string table = folder + model + "_" + kind + "_config.json";
  if (archive.find(table) == nullptr) {
    return Payloads();
  }
  Expected<JsonDocument> document = archive.readJson(table);
  if (!document) {
    return document.status();
  }
  Expected<JsonPlace> config = document->root().member("config");
  if (!config) {
    return config.status();
  }
  Expected<std::vector<JsonMember>> members = config->members();
  if (!members) {
    return members.status();
  }
  Payloads payloads;
  for (const JsonMember &member : *members) {
    Payload &payload = payloads[std::string(member.name)];
    if (Status status = readJson(member.value, payload); !status.ok()) {
      return status;
    }
    payload.record = folder + payload.record;
    const runtime::Record *record = archive.find(payload.record);
    payload.recordBytes = record ? record->size : 0;
  }
  return payloads;
}

std::set<std::string> namesWithoutBytes(const Payloads &payloads) {
  std::set<std::string> names;
  for (const auto &[name, payload] : payloads) {
    if (payload.hasElements() && payload.recordBytes == 0) {
      names.insert(name);
    }
  }
  return names;
}

std::optional<std::pair<std::string, std::string>>
findShared(const Payloads &payloads) {
  std::map<Payload, std::string> names;
  for (const auto &[name, payload] : payloads) {
    if (payload.recordBytes == 0) {
      continue;
    }
    auto [first, isNew] = names.emplace(payload, name);
    if (!isNew) {
      return std::pair(first->second, name);
    }
  }
  return std::nullopt;
}

} // namespace sfsdp::exported
