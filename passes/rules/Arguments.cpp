//===- Arguments.cpp - Checks arguments and fills in defaults -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/passes/rules/OperatorCallTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/LayoutAlgorithms.h"
#include "passes/rules/Rules.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace sfsdp::rules {

using runtime::Status;

namespace {

template <typename... Kinds>
bool holdsOneOf(const Argument &argument) {
  return (std::holds_alternative<Kinds>(argument) || ...);
}

bool isNumber(const Argument &argument) {
  return holdsOneOf<bool, int64_t, double, RuntimeScalar>(argument);
}

bool hasAllElements(const TensorList &tensors) {
  return std::ranges::all_of(
      tensors, [](const auto &tensor) { return tensor.has_value(); });
}

bool fits(const Argument &argument, const Parameter &parameter) {
  if (holdsOneOf<std::monostate>(argument)) {
    return parameter.optional;
  }
  switch (parameter.type) {
  case ParameterType::Tensor:
    return holdsOneOf<TensorLayout>(argument) || isNumber(argument);
  case ParameterType::TensorList: {
    const auto *tensors = std::get_if<TensorList>(&argument);
    return tensors && (parameter.optional || hasAllElements(*tensors));
  }
  case ParameterType::Scalar:
    return isNumber(argument);
  case ParameterType::Int:
    return holdsOneOf<int64_t>(argument);
  case ParameterType::Float:
    return holdsOneOf<int64_t, double, RuntimeScalar>(argument);
  case ParameterType::Bool:
    return holdsOneOf<bool>(argument);
  case ParameterType::String:
    return holdsOneOf<std::string>(argument);
  case ParameterType::IntList:
    return holdsOneOf<std::vector<int64_t>>(argument);
  case ParameterType::FloatList:
    return holdsOneOf<std::vector<double>>(argument);
  case ParameterType::BoolList:
    return holdsOneOf<std::vector<bool>>(argument);
  case ParameterType::DType:
    return holdsOneOf<DType>(argument);
  case ParameterType::Layout:
    return holdsOneOf<runtime::TensorLayoutKind>(argument);
  case ParameterType::Device:
    return holdsOneOf<runtime::DeviceArgument>(argument);
  case ParameterType::MemoryFormat:
    return holdsOneOf<MemoryFormat>(argument);
  case ParameterType::Generator:
  case ParameterType::Other:
    return false;
  }
  return false;
}

/// True if sizes and strides belong together, and every offset fits 64 bits.
bool isPossible(const TensorLayout &tensor) {
  if (tensor.sizes.size() != tensor.strides.size() ||
      !areValidSizes(tensor.sizes)) {
    return false;
  }
  int64_t last = 0;
  for (size_t dim = 0; dim < tensor.sizes.size(); ++dim) {
    int64_t distance = 0;
    int64_t steps = std::max<int64_t>(tensor.sizes[dim] - 1, 0);
    if (tensor.strides[dim] < 0 ||
        __builtin_mul_overflow(steps, tensor.strides[dim], &distance) ||
        __builtin_add_overflow(last, distance, &last)) {
      return false;
    }
  }
  return true;
}

bool isPossible(const Argument &argument) {
  if (const auto *tensor = std::get_if<TensorLayout>(&argument)) {
    return isPossible(*tensor);
  }
  const auto *tensors = std::get_if<TensorList>(&argument);
  return tensors == nullptr ||
         std::ranges::all_of(*tensors, [](const auto &tensor) {
           return !tensor || isPossible(*tensor);
         });
}

std::string nameOf(ParameterType type) {
  constexpr std::array<std::string_view, 16> kNames = {
      "Tensor",  "Tensor[]",     "Scalar",     "int",
      "float",   "bool",         "str",        "int[]",
      "float[]", "bool[]",       "ScalarType", "Layout",
      "Device",  "MemoryFormat", "Generator",  "a type that plans cannot hold"};
  return std::string(kNames[static_cast<size_t>(type)]);
}

std::string kindOf(const Argument &argument) {
  constexpr std::array<std::string_view, 15> kNames = {"None",
                                                       "a tensor",
                                                       "a list of tensors",
                                                       "a run-time scalar",
                                                       "a bool",
                                                       "an int",
                                                       "a float",
                                                       "a string",
                                                       "a list of bools",
                                                       "a list of ints",
                                                       "a list of floats",
                                                       "a dtype",
                                                       "a memory format",
                                                       "a layout",
                                                       "a device"};
  static_assert(kNames.size() == std::variant_size_v<Argument>);
  return std::string(kNames[argument.index()]);
}

//===----------------------------------------------------------------------===//
// Defaults
//===----------------------------------------------------------------------===//

template <typename Number>
std::optional<Number> parseNumber(std::string_view text) {
  Number number{};
  auto [stop, problem] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || stop != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

std::optional<bool> parseBool(std::string_view text) {
  if (text == "True" || text == "False") {
    return text == "True";
  }
  return std::nullopt;
}

std::optional<std::string> parseString(std::string_view text) {
  if (text.size() < 2 || (text.front() != '"' && text.front() != '\'')) {
    return std::nullopt;
  }
  std::string content;
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    i += text[i] == '\\' ? 1 : 0;
    content += text[i];
  }
  return content;
}

std::optional<DType> parseDType(std::string_view text) {
  if (std::optional<int64_t> code = parseNumber<int64_t>(text)) {
    return runtime::dtypeFromTorchCode(*code);
  }
  constexpr std::array<std::pair<std::string_view, DType>, 9> kNames = {{
      {"long", DType::Int64},
      {"int", DType::Int32},
      {"bool", DType::Bool},
      {"float", DType::Float32},
      {"float32", DType::Float32},
      {"double", DType::Float64},
      {"float64", DType::Float64},
      {"half", DType::Float16},
      {"bfloat16", DType::BFloat16},
  }};
  for (auto [name, dtype] : kNames) {
    if (name == text) {
      return dtype;
    }
  }
  return std::nullopt;
}

std::optional<MemoryFormat> parseMemoryFormat(std::string_view text) {
  // Numbers are c10::MemoryFormat, as the generated table prints it.
  constexpr std::array<std::pair<std::string_view, MemoryFormat>, 8> kNames = {{
      {"0", MemoryFormat::Contiguous},
      {"1", MemoryFormat::Preserve},
      {"2", MemoryFormat::ChannelsLast},
      {"3", MemoryFormat::ChannelsLast3d},
      {"contiguous_format", MemoryFormat::Contiguous},
      {"preserve_format", MemoryFormat::Preserve},
      {"channels_last", MemoryFormat::ChannelsLast},
      {"channels_last_3d", MemoryFormat::ChannelsLast3d},
  }};
  for (auto [name, format] : kNames) {
    if (name == text) {
      return format;
    }
  }
  return std::nullopt;
}

template <typename T>
std::optional<T> parseElement(std::string_view text) {
  if constexpr (std::is_same_v<T, bool>) {
    return parseBool(text);
  } else {
    return parseNumber<T>(text);
  }
}

/// "[1, 2]", or "1" for a list of fixed length.
template <typename T>
std::optional<std::vector<T>> parseList(std::string_view text, size_t length) {
  if (!text.starts_with('[')) {
    std::optional<T> element = parseElement<T>(text);
    if (!element || length == 0) {
      return std::nullopt;
    }
    return std::vector<T>(length, *element);
  }
  std::vector<T> list;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    std::optional<T> element = parseElement<T>(text.substr(0, comma));
    if (!element) {
      return std::nullopt;
    }
    list.push_back(*element);
    text.remove_prefix(std::min(comma + 1, text.size()));
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  return list;
}

template <typename T>
std::optional<Argument> asArgument(std::optional<T> value) {
  if (!value) {
    return std::nullopt;
  }
  return Argument(std::move(*value));
}

std::optional<Argument> parseScalar(std::string_view text) {
  if (std::optional<bool> flag = parseBool(text)) {
    return Argument(*flag);
  }
  if (std::optional<int64_t> integer = parseNumber<int64_t>(text)) {
    return Argument(*integer);
  }
  return asArgument(parseNumber<double>(text));
}

std::optional<Argument> parseDefault(const Parameter &parameter) {
  std::string_view text = *parameter.defaultText;
  if (text == "None") {
    return Argument();
  }
  switch (parameter.type) {
  case ParameterType::Scalar:
    return parseScalar(text);
  case ParameterType::Int:
    return asArgument(parseNumber<int64_t>(text));
  case ParameterType::Float:
    return asArgument(parseNumber<double>(text));
  case ParameterType::Bool:
    return asArgument(parseBool(text));
  case ParameterType::String:
    return asArgument(parseString(text));
  case ParameterType::IntList:
    return asArgument(parseList<int64_t>(text, parameter.listLength));
  case ParameterType::FloatList:
    return asArgument(parseList<double>(text, parameter.listLength));
  case ParameterType::BoolList:
    return asArgument(parseList<bool>(text, parameter.listLength));
  case ParameterType::DType:
    return asArgument(parseDType(text));
  case ParameterType::MemoryFormat:
    return asArgument(parseMemoryFormat(text));
  case ParameterType::TensorList:
    return text == "[]" ? std::optional<Argument>(TensorList()) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// Makes `2` for `int[2]` the list [2, 2], as PyTorch does.
void expandToList(Argument &argument, const Parameter &parameter) {
  if (parameter.type != ParameterType::IntList || parameter.listLength == 0) {
    return;
  }
  if (const auto *element = std::get_if<int64_t>(&argument)) {
    argument = std::vector<int64_t>(parameter.listLength, *element);
  }
}

std::string where(const OperatorCall &call, const Parameter &parameter) {
  return call.schema->name + ": argument '" + parameter.name + "'";
}

} // namespace

Status checkArguments(const OperatorCall &call) {
  const std::vector<Parameter> &parameters = call.schema->parameters;
  if (call.arguments.size() != parameters.size()) {
    return Status::error(
        call.schema->name + ": expected " + std::to_string(parameters.size()) +
        " arguments, got " + std::to_string(call.arguments.size()));
  }
  const Rule *rule = findRule(call.schema->name);
  bool acceptsNumbers = rule == nullptr || rule->acceptsNumbers;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Argument &argument = call.arguments[i];
    bool isUnwantedNumber = parameters[i].type == ParameterType::Tensor &&
                            isNumber(argument) && !acceptsNumbers;
    if (!fits(argument, parameters[i]) || isUnwantedNumber) {
      return Status::error(where(call, parameters[i]) + ": expected " +
                           nameOf(parameters[i].type) + ", got " +
                           kindOf(argument));
    }
    if (!isPossible(argument)) {
      return Status::error(where(call, parameters[i]) +
                           ": expected sizes and strides of a tensor that "
                           "64 bits can address");
    }
  }
  return Status();
}

Status fillDefaults(OperatorCall &call) {
  const std::vector<Parameter> &parameters = call.schema->parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter &parameter = parameters[i];
    if (i < call.arguments.size()) {
      expandToList(call.arguments[i], parameter);
      continue;
    }
    if (!parameter.defaultText) {
      return Status::error(where(call, parameter) +
                           ": is missing and has no default");
    }
    std::optional<Argument> value = parseDefault(parameter);
    if (!value) {
      return Status::error(where(call, parameter) + ": its default '" +
                           *parameter.defaultText + "' is not understood");
    }
    call.arguments.push_back(std::move(*value));
  }
  return Status();
}

} // namespace sfsdp::rules
