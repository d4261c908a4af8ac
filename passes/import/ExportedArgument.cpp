//===- ExportedArgument.cpp - Arguments of exported operators -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An argument is a union, written as an object with one member whose name says
// the kind: `{"as_ints": [1, 2]}`.
//
// Tested by test/unit/passes/import/ExportedProgramTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/import/ExportedProgram.h"

namespace sfsdp::exported {

using runtime::DType;
using runtime::JsonFields;
using runtime::JsonMember;
using runtime::MemoryFormat;

namespace {

template <typename T>
Status readAs(JsonPlace place, Argument &argument) {
  T content{};
  Status status = readJson(place, content);
  if (status.ok()) {
    argument = std::move(content);
  }
  return status;
}

Status readNone(JsonPlace, Argument &argument) {
  argument = std::monostate();
  return Status();
}

/// `{"name": "x"}` per element.
Status readTensors(JsonPlace place, Argument &argument) {
  Expected<std::vector<JsonPlace>> items = place.items();
  if (!items) {
    return items.status();
  }
  TensorNames names;
  for (JsonPlace item : *items) {
    if (Status status = readJson(item, names.emplace_back().emplace());
        !status.ok()) {
      return status;
    }
  }
  argument = std::move(names);
  return Status();
}

/// `{"as_tensor": {"name": "x"}}` or `{"as_none": true}`.
Status readOptionalTensor(JsonPlace place, Argument &argument) {
  Status status = readJson(place, argument);
  if (status.ok() && !std::holds_alternative<std::monostate>(argument) &&
      !std::holds_alternative<TensorName>(argument)) {
    return place.error("expected as_tensor or as_none");
  }
  return status;
}

Status readOptionalTensors(JsonPlace place, Argument &argument) {
  Expected<std::vector<JsonPlace>> items = place.items();
  if (!items) {
    return items.status();
  }
  TensorNames names;
  for (JsonPlace item : *items) {
    Argument element;
    if (Status status = readOptionalTensor(item, element); !status.ok()) {
      return status;
    }
    auto *tensor = std::get_if<TensorName>(&element);
    names.push_back(tensor ? std::optional(*tensor) : std::nullopt);
  }
  argument = std::move(names);
  return Status();
}

/// `{"as_name": "s0"}` is a symbol, any other member a plain value.
Status readSymbolic(JsonPlace place, Argument &argument) {
  Expected<JsonMember> member = readUnion(place);
  if (!member) {
    return member.status();
  }
  if (member->name != "as_name") {
    return readJson(place, argument);
  }
  return readJson(member->value, argument.emplace<Symbol>().name);
}

/// A list of readSymbolic; one symbol makes the whole list a symbol.
template <typename T>
Status readSymbolics(JsonPlace place, Argument &argument) {
  Expected<std::vector<JsonPlace>> items = place.items();
  if (!items) {
    return items.status();
  }
  std::vector<T> values;
  for (JsonPlace item : *items) {
    Argument element;
    if (Status status = readSymbolic(item, element); !status.ok()) {
      return status;
    }
    if (std::holds_alternative<Symbol>(element)) {
      argument = std::move(element);
      return Status();
    }
    const T *value = std::get_if<T>(&element);
    if (value == nullptr) {
      return item.error("expected a value of the list's kind");
    }
    values.push_back(*value);
  }
  argument = std::move(values);
  return Status();
}

Status readDType(JsonPlace place, Argument &argument) {
  int64_t code = 0;
  if (Status status = readJson(place, code); !status.ok()) {
    return status;
  }
  if (std::optional<DType> dtype = runtime::dtypeFromExportCode(code)) {
    argument = *dtype;
  } else {
    argument = Unsupported{"a dtype of code " + std::to_string(code)};
  }
  return Status();
}

Status readLayout(JsonPlace place, Argument &argument) {
  constexpr int64_t kStrided = 7;
  int64_t code = 0;
  if (Status status = readJson(place, code); !status.ok()) {
    return status;
  }
  if (code == kStrided) {
    argument = runtime::TensorLayoutKind::Strided;
  } else {
    argument = Unsupported{"a layout of code " + std::to_string(code) +
                           ", which is not torch.strided"};
  }
  return Status();
}

Status readMemoryFormat(JsonPlace place, Argument &argument) {
  int64_t code = 0;
  if (Status status = readJson(place, code); !status.ok()) {
    return status;
  }
  switch (code) {
  case 1:
    argument = MemoryFormat::Contiguous;
    break;
  case 2:
    argument = MemoryFormat::ChannelsLast;
    break;
  case 3:
    argument = MemoryFormat::ChannelsLast3d;
    break;
  case 4:
    argument = MemoryFormat::Preserve;
    break;
  default:
    argument = Unsupported{"a memory format of code " + std::to_string(code)};
  }
  return Status();
}

/// Which device it was captured on does not matter.
Status readDevice(JsonPlace, Argument &argument) {
  argument = runtime::DeviceArgument();
  return Status();
}

struct Kind {
  std::string_view tag;
  Status (*read)(JsonPlace place, Argument &argument);
};

constexpr Kind kKinds[] = {
    {"as_tensor", readAs<TensorName>},
    {"as_int", readAs<int64_t>},
    {"as_ints", readAs<std::vector<int64_t>>},
    {"as_float", readAs<double>},
    {"as_bool", readAs<bool>},
    {"as_none", readNone},
    {"as_scalar_type", readDType},
    {"as_layout", readLayout},
    {"as_device", readDevice},
    {"as_memory_format", readMemoryFormat},
    {"as_tensors", readTensors},
    {"as_optional_tensor", readOptionalTensor},
    {"as_optional_tensors", readOptionalTensors},
    {"as_floats", readAs<std::vector<double>>},
    {"as_bools", readAs<std::vector<bool>>},
    {"as_string", readAs<std::string>},
    {"as_sym_int", readSymbolic},
    {"as_sym_float", readSymbolic},
    {"as_sym_bool", readSymbolic},
    {"as_sym_ints", readSymbolics<int64_t>},
    {"as_sym_floats", readSymbolics<double>},
    {"as_sym_bools", readSymbolics<bool>},
};

struct UnsupportedKind {
  std::string_view tag;
  std::string_view what;
};

constexpr UnsupportedKind kUnsupportedKinds[] = {
    {"as_graph", "a graph"},
    {"as_custom_obj", "an object"},
    {"as_operator", "an operator"},
    {"as_complex", "a complex number"},
    {"as_strings", "a list of strings"},
    {"as_nested_tensors", "a list of lists of tensors"},
    {"as_int_lists", "a list of lists of ints"},
    {"as_float_lists", "a list of lists of floats"},
    {"as_string_to_argument", "a dictionary"},
};

} // namespace

Expected<JsonMember> readUnion(JsonPlace place) {
  Expected<std::vector<JsonMember>> members = place.members();
  if (!members) {
    return members.status();
  }
  if (members->size() != 1) {
    return place.error("expected an object with one member that says its "
                       "kind, got " +
                       std::to_string(members->size()));
  }
  return members->front();
}

Status readJson(JsonPlace place, TensorName &tensor) {
  JsonFields fields(place);
  fields.required("name", tensor.name);
  return fields.finish();
}

Status readJson(JsonPlace place, Argument &argument) {
  Expected<JsonMember> member = readUnion(place);
  if (!member) {
    return member.status();
  }
  for (const Kind &kind : kKinds) {
    if (kind.tag == member->name) {
      return kind.read(member->value, argument);
    }
  }
  for (const UnsupportedKind &kind : kUnsupportedKinds) {
    if (kind.tag == member->name) {
      argument = Unsupported{std::string(kind.what)};
      return Status();
    }
  }
  return place.error("unknown kind of argument \"" + std::string(member->name) +
                     "\"; capture with a supported torch");
}

} // namespace sfsdp::exported
