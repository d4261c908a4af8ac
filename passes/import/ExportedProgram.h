//===- ExportedProgram.h - torch.export's JSON as plain structs ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of torch's ExportedProgram format (torch/_export/serde/schema.py,
// major version 8) that a training step needs. Reading keeps what the text
// says: whether operators exist and arguments fit is decided later, where a
// message can name the node. What the format knows and no plan can hold becomes
// `Unsupported`; what the format does not know is an error.
//
// Tested by test/unit/passes/import/ExportedProgramTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_IMPORT_EXPORTEDPROGRAM_H
#define SFSDP_PASSES_IMPORT_EXPORTEDPROGRAM_H

#include "runtime/Json.h"
#include "runtime/Plan.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace sfsdp::exported {

using runtime::Expected;
using runtime::JsonPlace;
using runtime::Status;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

struct TensorName {
  std::string name;
};

/// A list of tensors, some possibly None.
using TensorNames = std::vector<std::optional<TensorName>>;

/// An integer, float or bool that depends on a dynamic shape or on data.
struct Symbol {
  std::string name;
};

/// What no plan can hold: "a graph", "a dtype of code 29".
struct Unsupported {
  std::string what;
};

/// monostate is None. Lists without elements have the kind that the text gives
/// them, which need not be the one that the operator wants.
using Argument =
    std::variant<std::monostate, TensorName, TensorNames, bool, int64_t, double,
                 std::string, std::vector<bool>, std::vector<int64_t>,
                 std::vector<double>, runtime::DType, runtime::MemoryFormat,
                 runtime::TensorLayoutKind, runtime::DeviceArgument, Symbol,
                 Unsupported>;

struct NamedArgument {
  std::string name; ///< of the operator's parameter
  Argument value;
};

//===----------------------------------------------------------------------===//
// Graph
//===----------------------------------------------------------------------===//

/// What is known of a tensor, in elements.
struct TensorMetadata {
  std::optional<runtime::DType> dtype; ///< absent for one that no plan holds
  int64_t dtypeCode = 0;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t storageOffset = 0;
  bool isStrided = true;
  /// The first symbolic size and its dimension. The other fields then hold 0
  /// in the symbolic places.
  std::optional<Symbol> symbol;
  size_t symbolicDim = 0;
};

struct Node {
  std::string name;   ///< "mm_3"
  std::string target; ///< "torch.ops.aten.mm.default"
  std::vector<NamedArgument> inputs;
  /// TensorName, TensorNames, or None for a tensor that is not returned.
  std::vector<Argument> outputs;
  // From the node's metadata; empty when absent.
  std::string custom;      ///< JSON of what the capturer noted
  std::string stackTrace;  ///< Python's, innermost frame last
  std::string moduleStack; ///< "KEY,FQN,CLASS;…", innermost module last
};

struct Range {
  std::optional<int64_t> least;
  std::optional<int64_t> most;
};

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

enum class InputKind {
  Parameter,
  Buffer,
  Constant, ///< a tensor that forward made
  User,
  Object,
  Token,
  Value, ///< an argument of forward that is no tensor
};

struct InputSpec {
  InputKind kind = InputKind::User;
  Argument argument;
  std::string target; ///< FQN; empty for user inputs
  /// Of a buffer: part of the model's state, not a table that it makes itself.
  bool isPersistent = true;
};

enum class OutputKind {
  Loss,
  ParameterGradient,
  InputGradient,
  User,
  BufferMutation,
  ParameterMutation,
  InputMutation,
  Token,
};

struct OutputSpec {
  OutputKind kind = OutputKind::User;
  Argument argument;
  std::string target; ///< FQN, or name of the user input
};

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

struct Program {
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  std::vector<Node> nodes;
  std::unordered_map<std::string, TensorMetadata> tensors;
  /// One per graph input and output, in order.
  std::vector<InputSpec> inputSpecs;
  std::vector<OutputSpec> outputSpecs;
  std::map<std::string, Range> ranges; ///< of symbols
  /// Set when the text is of a newer minor version.
  std::optional<std::string> warning;
};

/// Reads a program; errors name the place in the text.
Expected<Program> readProgram(JsonPlace place);

// Found by `runtime::JsonFields`.
Status readJson(JsonPlace place, TensorName &tensor);
Status readJson(JsonPlace place, Argument &argument);
Status readJson(JsonPlace place, InputSpec &spec);
Status readJson(JsonPlace place, OutputSpec &spec);

/// The only member of a union, `{"as_int": 3}`.
Expected<runtime::JsonMember> readUnion(JsonPlace place);

} // namespace sfsdp::exported

#endif // SFSDP_PASSES_IMPORT_EXPORTEDPROGRAM_H
