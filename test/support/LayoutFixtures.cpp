//===- LayoutFixtures.cpp - Operator calls recorded from PyTorch ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "test/support/LayoutFixtures.h"

#include <charconv>
#include <limits>

namespace sfsdp::test {

using namespace sfsdp::rules;
using runtime::Expected;
using runtime::JsonPlace;
using runtime::Status;

namespace {

std::optional<std::vector<int64_t>> parseIntegers(std::string_view text) {
  std::vector<int64_t> integers;
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    int64_t integer = 0;
    auto [stop, problem] =
        std::from_chars(text.data(), text.data() + comma, integer);
    if (problem != std::errc() || stop != text.data() + comma) {
      return std::nullopt;
    }
    integers.push_back(integer);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return integers;
}

std::string joined(const std::vector<int64_t> &integers) {
  std::string text;
  for (int64_t integer : integers) {
    text += (text.empty() ? "" : ",") + std::to_string(integer);
  }
  return text;
}

template <typename T>
Expected<Argument> readAs(JsonPlace place) {
  T value{};
  if (Status status = readJson(place, value); !status.ok()) {
    return status;
  }
  return Argument(std::move(value));
}

Expected<std::optional<TensorLayout>> readOptionalTensor(JsonPlace place) {
  if (place.isNull()) {
    return std::optional<TensorLayout>();
  }
  Expected<std::string_view> text = place.string();
  if (!text) {
    return text.status();
  }
  Expected<TensorLayout> tensor = parseLayout(*text);
  return tensor ? Expected<std::optional<TensorLayout>>(*tensor)
                : tensor.status();
}

Expected<Argument> readTensors(JsonPlace place) {
  Expected<std::vector<JsonPlace>> items = place.items();
  if (!items) {
    return items.status();
  }
  TensorList tensors;
  for (JsonPlace item : *items) {
    Expected<std::optional<TensorLayout>> tensor = readOptionalTensor(item);
    if (!tensor) {
      return tensor.status();
    }
    tensors.push_back(*tensor);
  }
  return Argument(std::move(tensors));
}

/// {"dtype": "f32"} and the like.
Expected<Argument> readTagged(JsonPlace place) {
  Expected<std::vector<runtime::JsonMember>> members = place.members();
  if (!members) {
    return members.status();
  }
  std::string_view tag = members->front().name;
  std::string value;
  if (Status status = readJson(members->front().value, value); !status.ok()) {
    return status;
  }
  if (tag == "str") {
    return Argument(value);
  }
  if (tag == "float") {
    double infinity = std::numeric_limits<double>::infinity();
    return Argument(value == "-Infinity" ? -infinity : infinity);
  }
  if (tag == "layout") {
    return Argument(runtime::TensorLayoutKind::Strided);
  }
  if (tag == "device") {
    return Argument(runtime::DeviceArgument());
  }
  if (std::optional<DType> dtype = runtime::dtypeFromName(value);
      dtype && tag == "dtype") {
    return Argument(*dtype);
  }
  if (tag == "memory_format") {
    constexpr std::string_view kFormats[] = {
        "contiguous", "preserve", "channels_last", "channels_last_3d"};
    for (size_t format = 0; format < 4; ++format) {
      if (kFormats[format] == value) {
        return Argument(static_cast<MemoryFormat>(format));
      }
    }
  }
  return place.error("expected a known kind of argument");
}

Expected<Argument> readList(JsonPlace place, ParameterType type) {
  switch (type) {
  case ParameterType::TensorList:
    return readTensors(place);
  case ParameterType::FloatList:
    return readAs<std::vector<double>>(place);
  case ParameterType::BoolList: {
    std::vector<bool> flags;
    Expected<std::vector<JsonPlace>> items = place.items();
    if (!items) {
      return items.status();
    }
    for (JsonPlace item : *items) {
      flags.push_back(*item.boolean());
    }
    return Argument(std::move(flags));
  }
  default:
    return readAs<std::vector<int64_t>>(place);
  }
}

Expected<Argument> readArgument(JsonPlace place, const Parameter &parameter) {
  switch (place.kind()) {
  case runtime::Json::Kind::Null:
    return Argument();
  case runtime::Json::Kind::Bool:
    return readAs<bool>(place);
  case runtime::Json::Kind::Integer:
    return readAs<int64_t>(place);
  case runtime::Json::Kind::Double:
    return readAs<double>(place);
  case runtime::Json::Kind::String: {
    Expected<std::optional<TensorLayout>> tensor = readOptionalTensor(place);
    return tensor ? Expected<Argument>(**tensor) : tensor.status();
  }
  case runtime::Json::Kind::Array:
    return readList(place, parameter.type);
  case runtime::Json::Kind::Object:
    return readTagged(place);
  }
  return place.error("expected an argument");
}

Expected<RecordedCall> readCall(JsonPlace place, SchemaTable &schemas) {
  Expected<std::vector<JsonPlace>> parts = place.items();
  if (!parts) {
    return parts.status();
  }
  RecordedCall recorded;
  recorded.text = writeJson(place.json());
  std::string name;
  if (Status status = readJson((*parts)[0], name); !status.ok()) {
    return status;
  }
  recorded.call.schema = schemas.find(name);
  if (recorded.call.schema == nullptr) {
    return place.error("no schema of " + name);
  }
  Expected<std::vector<JsonPlace>> arguments = (*parts)[1].items();
  if (!arguments) {
    return arguments.status();
  }
  for (size_t i = 0; i < arguments->size(); ++i) {
    Expected<Argument> argument =
        readArgument((*arguments)[i], recorded.call.schema->parameters[i]);
    if (!argument) {
      return argument.status();
    }
    recorded.call.arguments.push_back(std::move(*argument));
  }
  if (Status status = fillDefaults(recorded.call); !status.ok()) {
    return status;
  }
  if ((*parts)[2].isNull()) {
    return recorded;
  }
  std::vector<std::optional<std::string>> results;
  Status status = readJson((*parts)[2], results);
  recorded.results = std::move(results);
  return status.ok() ? Expected<RecordedCall>(std::move(recorded)) : status;
}

} // namespace

Expected<std::vector<RecordedCall>> readRecordedCalls(const std::string &path,
                                                      SchemaTable &schemas) {
  Expected<runtime::JsonDocument> document = runtime::readJsonFile(path);
  if (!document) {
    return document.status();
  }
  Expected<std::vector<JsonPlace>> places = document->root().items();
  if (!places) {
    return places.status();
  }
  std::vector<RecordedCall> calls;
  for (JsonPlace place : *places) {
    Expected<RecordedCall> call = readCall(place, schemas);
    if (!call) {
      return call.status().within(place.path());
    }
    calls.push_back(std::move(*call));
  }
  return calls;
}

Expected<TensorLayout> parseLayout(std::string_view text) {
  Status failure = Status::error("expected a layout like f32[2,3], got " +
                                 std::string(text));
  size_t open = text.find('[');
  if (open == std::string_view::npos || !text.ends_with(']')) {
    return failure;
  }
  std::optional<DType> dtype = runtime::dtypeFromName(text.substr(0, open));
  std::string_view shape = text.substr(open + 1, text.size() - open - 2);
  size_t bar = std::min(shape.find('|'), shape.size());
  std::optional<std::vector<int64_t>> sizes =
      parseIntegers(shape.substr(0, bar));
  if (!dtype || !sizes) {
    return failure;
  }
  if (bar == shape.size()) {
    return contiguousLayout(*dtype, *sizes);
  }
  std::optional<std::vector<int64_t>> strides =
      parseIntegers(shape.substr(bar + 1));
  if (!strides) {
    return failure;
  }
  return TensorLayout{*dtype, *sizes, *strides};
}

std::string textOf(const TensorLayout &tensor) {
  std::string text(nameOf(tensor.dtype));
  text += "[" + joined(tensor.sizes);
  if (tensor.strides != contiguousStrides(tensor.sizes)) {
    text += "|" + joined(tensor.strides);
  }
  return text + "]";
}

std::string textOf(const ResultLayout &result) {
  std::string text = textOf(result.tensor);
  if (result.aliasOf) {
    text += "@" + std::to_string(*result.aliasOf) + "+" +
            std::to_string(result.offset);
  }
  return text;
}

} // namespace sfsdp::test
