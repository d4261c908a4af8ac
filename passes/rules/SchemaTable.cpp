//===- SchemaTable.cpp - Look-up of operator signatures -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AtenSchemas.inc becomes a sorted array of texts; a signature is parsed when a
// graph first names its operator, so starting costs nothing.
//
// Tested by test/unit/passes/rules/SchemaTableTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/Schema.h"

#include <algorithm>
#include <cassert>

namespace sfsdp::rules {

using runtime::Expected;
using runtime::Status;

namespace {

struct SchemaText {
  std::string_view name;
  std::string_view signature;
};

constexpr SchemaText kAtenSchemas[] = {
#define SCHEMA(NAME, SIGNATURE) {NAME, SIGNATURE},
#include "passes/rules/AtenSchemas.inc"
#undef SCHEMA
};

const SchemaText *findAtenText(std::string_view name) {
  const SchemaText *found =
      std::ranges::lower_bound(kAtenSchemas, name, {}, &SchemaText::name);
  if (found == std::end(kAtenSchemas) || found->name != name) {
    return nullptr;
  }
  return found;
}

} // namespace

Status SchemaTable::allow(std::string_view schemaText) {
  Expected<Schema> schema = parseSchema(schemaText);
  if (!schema) {
    return schema.status();
  }
  if (find(schema->name) != nullptr) {
    return Status::error("schema '" + std::string(schemaText) + "': operator " +
                         schema->name +
                         " is known already; give it another name");
  }
  std::string name = schema->name;
  parsed.emplace(std::move(name), std::make_unique<Schema>(std::move(*schema)));
  return Status();
}

const Schema *SchemaTable::find(std::string_view name) {
  auto known = parsed.find(std::string(name));
  if (known != parsed.end()) {
    return known->second.get();
  }
  const SchemaText *text = findAtenText(name);
  if (text == nullptr) {
    return nullptr;
  }
  Expected<Schema> schema =
      parseSchema(std::string(text->name) + std::string(text->signature));
  assert(schema.ok() && "the generated table holds valid schemas");
  if (!schema) {
    return nullptr;
  }
  return parsed
      .emplace(std::string(name), std::make_unique<Schema>(std::move(*schema)))
      .first->second.get();
}

std::vector<std::string_view> SchemaTable::atenNames() {
  std::vector<std::string_view> names;
  for (const SchemaText &text : kAtenSchemas) {
    names.push_back(text.name);
  }
  return names;
}

} // namespace sfsdp::rules
