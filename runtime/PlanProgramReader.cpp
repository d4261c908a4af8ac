//===- PlanProgramReader.cpp - Instructions from JSON text ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The key that an instruction has says what it does: "call", "start", "wait" or
// "free".
//
// Tested by test/unit/runtime/PlanTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/PlanFields.h"

namespace sfsdp::runtime {

//===----------------------------------------------------------------------===//
// Kernel arguments
//===----------------------------------------------------------------------===//

namespace {

/// A list of "%3" and null.
struct OptionalReferences {
  std::vector<std::optional<ValueId>> &out;
};

} // namespace

static Status readJson(JsonPlace place, const OptionalReferences &references) {
  Expected<std::vector<JsonPlace>> items = place.items();
  if (!items) {
    return items.status();
  }
  for (JsonPlace item : *items) {
    std::optional<ValueId> &id = references.out.emplace_back();
    if (item.isNull()) {
      continue;
    }
    if (Status status = readJson(item, Reference{id.emplace(), '%'});
        !status.ok()) {
      return status;
    }
  }
  return Status();
}

static Status readJson(JsonPlace place, std::vector<bool> &flags) {
  Expected<std::vector<JsonPlace>> items = place.items();
  if (!items) {
    return items.status();
  }
  for (JsonPlace item : *items) {
    Expected<bool> flag = item.boolean();
    if (!flag) {
      return flag.status();
    }
    flags.push_back(*flag);
  }
  return Status();
}

/// Reads the content of a tagged argument as a T.
template <typename T>
static Status readInto(JsonPlace content, KernelArgument &argument) {
  T value{};
  Status status = readJson(content, value);
  argument = std::move(value);
  return status;
}

/// {"ints": [1, 2]} and the like.
static Status readTagged(JsonPlace place, KernelArgument &argument) {
  Expected<std::vector<JsonMember>> members = place.members();
  if (!members) {
    return members.status();
  }
  if (members->size() != 1) {
    return place.error("expected an object with one member, got " +
                       std::to_string(members->size()));
  }
  auto [kind, content] = members->front();
  if (kind == "values") {
    ValueRefs values;
    Status status = readJson(content, OptionalReferences{values.ids});
    argument = std::move(values);
    return status;
  }
  if (kind == "ints") {
    return readInto<std::vector<int64_t>>(content, argument);
  }
  if (kind == "floats") {
    return readInto<std::vector<double>>(content, argument);
  }
  if (kind == "bools") {
    return readInto<std::vector<bool>>(content, argument);
  }
  if (kind == "float") {
    return readInto<double>(content, argument);
  }
  if (kind == "string") {
    return readInto<std::string>(content, argument);
  }
  if (kind == "dtype") {
    return readInto<DType>(content, argument);
  }
  if (kind == "memory_format") {
    return readInto<MemoryFormat>(content, argument);
  }
  if (kind == "layout") {
    return readInto<TensorLayoutKind>(content, argument);
  }
  if (kind == "device") {
    argument = DeviceArgument();
    return content.json().asString() && *content.json().asString() == "plan"
               ? Status()
               : content.error("expected \"plan\", the plan's own device");
  }
  return place.error("unknown kind of argument '" + std::string(kind) + "'");
}

static Status readReference(JsonPlace place, KernelArgument &argument) {
  std::string_view text = *place.json().asString();
  if (std::optional<int64_t> id = parseReference(text, '%')) {
    argument = ValueRef{*id};
    return Status();
  }
  if (std::optional<int64_t> id = parseReference(text, '$')) {
    argument = ScalarRef{*id};
    return Status();
  }
  return place.error("expected a value like \"%0\" or a scalar like \"$0\", "
                     "got '" +
                     std::string(text) + "'");
}

static Status readJson(JsonPlace place, KernelArgument &argument) {
  const Json &json = place.json();
  switch (place.kind()) {
  case Json::Kind::Null:
    argument = std::monostate();
    return Status();
  case Json::Kind::Bool:
    argument = *json.asBool();
    return Status();
  case Json::Kind::Integer:
    argument = *json.asInteger();
    return Status();
  case Json::Kind::Double:
    argument = *json.asDouble();
    return Status();
  case Json::Kind::String:
    return readReference(place, argument);
  case Json::Kind::Object:
    return readTagged(place, argument);
  case Json::Kind::Array:
    break;
  }
  return place.error("expected an argument, got a list; lists are written as "
                     "{\"ints\": [...]}");
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static Status readJson(JsonPlace place, CostFacts &cost) {
  Count flops{cost.flops}, read{cost.bytesRead}, written{cost.bytesWritten},
      batch{cost.batch}, m{cost.m}, n{cost.n}, k{cost.k},
      workspace{cost.workspaceBytes};
  JsonFields fields(place);
  fields.required("class", cost.costClass);
  fields.optional("flops", flops);
  fields.optional("read", read);
  fields.optional("written", written);
  fields.optional("batch", batch);
  fields.optional("m", m);
  fields.optional("n", n);
  fields.optional("k", k);
  fields.optional("workspace", workspace);
  return fields.finishStrictly();
}

static Status readJson(JsonPlace place, CollectiveMemberRef &member) {
  Reference input{member.input, '%'}, output{member.output, '%'};
  JsonFields fields(place);
  fields.required("input", input);
  fields.required("output", output);
  fields.optional("name", member.name);
  return fields.finishStrictly();
}

static void readFields(JsonFields &fields, KernelCall &kernel) {
  OptionalReferences results{kernel.results};
  fields.required("call", kernel.name);
  fields.optional("overload", kernel.overload);
  fields.required("arguments", kernel.arguments);
  fields.required("results", results);
  fields.optional("random", kernel.randomId);
  fields.required("cost", kernel.cost);
}

static void readFields(JsonFields &fields, CollectiveStart &start) {
  Count bytesReceived{start.bytesReceived}, needed{start.needed};
  fields.required("start", start.kind);
  fields.required("axes", start.axes);
  fields.required("members", start.members);
  fields.required("order", start.order);
  fields.optional("divisor", start.divisor);
  fields.optional("grouped", start.grouped);
  fields.required("bytes_received", bytesReceived);
  fields.required("ready", start.ready);
  fields.required("needed", needed);
  fields.optional("keepable", start.keepable);
}

static void readFields(JsonFields &fields, CollectiveWait &wait) {
  Count start{wait.start};
  fields.required("wait", start);
}

static void readFields(JsonFields &fields, Free &freed) {
  Count storage{freed.storage};
  fields.required("free", storage);
}

template <typename Action>
static Status readAction(JsonPlace place, Instruction &instruction,
                         int64_t &id) {
  Action action;
  Count provenance{instruction.provenance};
  JsonFields fields(place);
  fields.required("id", id);
  readFields(fields, action);
  fields.required("from", provenance);
  instruction.action = std::move(action);
  return fields.finishStrictly();
}

static Status readInstruction(JsonPlace place, Instruction &instruction,
                              int64_t &id) {
  if (place.find("call")) {
    return readAction<KernelCall>(place, instruction, id);
  }
  if (place.find("start")) {
    return readAction<CollectiveStart>(place, instruction, id);
  }
  if (place.find("wait")) {
    return readAction<CollectiveWait>(place, instruction, id);
  }
  if (place.find("free")) {
    return readAction<Free>(place, instruction, id);
  }
  return place.error("expected an instruction: an object with one of \"call\", "
                     "\"start\", \"wait\", \"free\"");
}

static Status readJson(JsonPlace place, std::vector<Instruction> &list) {
  Expected<std::vector<JsonPlace>> items = place.items();
  if (!items) {
    return items.status();
  }
  list.resize(items->size());
  for (size_t index = 0; index < items->size(); ++index) {
    int64_t id = -1;
    JsonPlace item = (*items)[index];
    if (Status status = readInstruction(item, list[index], id); !status.ok()) {
      return status;
    }
    if (id != static_cast<int64_t>(index)) {
      return item.error("expected id " + std::to_string(index) +
                        ", the instruction's position, got " +
                        std::to_string(id));
    }
  }
  return Status();
}

Status readJson(JsonPlace place, Program &program) {
  JsonFields fields(place);
  fields.required("name", program.name);
  fields.required("instructions", program.instructions);
  return fields.finishStrictly();
}

} // namespace sfsdp::runtime
