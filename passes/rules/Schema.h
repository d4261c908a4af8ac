//===- Schema.h - Signatures of operators -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The signatures of ATen operators, from a table that tools/generate-schemas
// writes from the pinned torch (AtenSchemas.inc), so that importing a graph
// needs no LibTorch. The user's own operators come as schema
// strings (`--allow-op`).
//
// Tested by test/unit/passes/rules/SchemaTest.cpp and SchemaTableTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_RULES_SCHEMA_H
#define SFSDP_PASSES_RULES_SCHEMA_H

#include "runtime/Status.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sfsdp::rules {

enum class ParameterType {
  Tensor,
  TensorList,
  Scalar, ///< int, float or bool
  Int,
  Float,
  Bool,
  String,
  IntList,
  FloatList,
  BoolList,
  DType,
  Layout,
  Device,
  MemoryFormat,
  Generator,
  Other, ///< a type that no plan can hold; any use is an error
};

struct Parameter {
  std::string name;
  ParameterType type = ParameterType::Tensor;
  bool optional = false; ///< `T?`, or the elements of `T?[]`
  bool mutated = false;  ///< `Tensor(a!)`
  bool keywordOnly = false;
  size_t listLength = 0; ///< of `int[2]`; 0 for a list of any length
  /// Text of the default value, as in the schema; absent if there is none.
  std::optional<std::string> defaultText;
};

/// `name` is spelled as graphs spell it: "add.Tensor", "mm.default", and with
/// the library before it for all but ATen: "mylib::scale.default".
struct Schema {
  std::string name;
  std::vector<Parameter> parameters;
  size_t resultCount = 0;   ///< a list of tensors counts as one
  bool returnsList = false; ///< the only result is a list of tensors

  /// True if the operator writes an argument.
  bool mutates() const;
};

/// Reads one schema in PyTorch's notation:
/// "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor".
/// Without a library the operator is ATen's. Fails for what is no schema, and
/// for results other than tensors, or one list of tensors.
runtime::Expected<Schema> parseSchema(std::string_view text);

/// The known schemas. ATen's are parsed when first asked for.
class SchemaTable {
public:
  /// Adds an operator of the user's own; a second definition is an error.
  runtime::Status allow(std::string_view schemaText);

  /// Null for an unknown name. The pointer lives as long as the table.
  const Schema *find(std::string_view name);

  /// Names of all known ATen operators, ascending.
  static std::vector<std::string_view> atenNames();

private:
  std::unordered_map<std::string, std::unique_ptr<Schema>> parsed;
};

} // namespace sfsdp::rules

#endif // SFSDP_PASSES_RULES_SCHEMA_H
