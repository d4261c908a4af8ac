//===- ExportedProgram.cpp - torch.export's JSON as plain structs -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ExportedProgram.h.
//
// Tested by test/unit/passes/import/ExportedProgramTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/import/ExportedProgram.h"

#include "runtime/Archive.h"

namespace sfsdp::exported {

using runtime::JsonFields;
using runtime::JsonMember;

/// Members of `place` by name; `read` makes one entry.
template <typename Map>
static Status readMembers(JsonPlace place, Map &map) {
  Expected<std::vector<JsonMember>> members = place.members();
  if (!members) {
    return members.status();
  }
  for (const JsonMember &member : *members) {
    Status status = readJson(member.value, map[std::string(member.name)]);
    if (!status.ok()) {
      return status;
    }
  }
  return Status();
}

/// `{"as_int": 3}`, or `{"as_expr": {"expr_str": "s0", …}}`.
static Status readSize(JsonPlace place, int64_t &size,
                       std::optional<Symbol> &symbol) {
  Expected<JsonMember> member = readUnion(place);
  if (!member) {
    return member.status();
  }
  if (member->name == "as_int") {
    return runtime::readJson(member->value, size);
  }
  if (member->name != "as_expr") {
    return place.error("expected as_int or as_expr, got \"" +
                       std::string(member->name) + "\"");
  }
  JsonFields fields(member->value);
  fields.required("expr_str", symbol.emplace().name);
  return fields.finish();
}

static Status readSizes(JsonPlace place, std::vector<int64_t> &sizes,
                        TensorMetadata &metadata) {
  Expected<std::vector<JsonPlace>> items = place.items();
  if (!items) {
    return items.status();
  }
  for (JsonPlace item : *items) {
    std::optional<Symbol> symbol;
    Status status = readSize(item, sizes.emplace_back(), symbol);
    if (!status.ok()) {
      return status;
    }
    if (symbol && !metadata.symbol) {
      metadata.symbol = symbol;
      metadata.symbolicDim = sizes.size() - 1;
    }
  }
  return Status();
}

/// Reads the member `name` of `place` by `read`.
template <typename Read>
static Status readMember(JsonPlace place, std::string_view name, Read read) {
  Expected<JsonPlace> member = place.member(name);
  return member ? read(*member) : member.status();
}

static Status readJson(JsonPlace place, TensorMetadata &metadata) {
  constexpr int64_t kStrided = 7;
  int64_t layout = kStrided;
  JsonFields fields(place);
  fields.required("dtype", metadata.dtypeCode);
  fields.optional("layout", layout);
  Status status = fields.finish();
  if (status.ok()) {
    status = readMember(place, "sizes", [&](JsonPlace sizes) {
      return readSizes(sizes, metadata.sizes, metadata);
    });
  }
  if (status.ok()) {
    status = readMember(place, "strides", [&](JsonPlace strides) {
      return readSizes(strides, metadata.strides, metadata);
    });
  }
  if (status.ok()) {
    std::optional<Symbol> symbol;
    status = readMember(place, "storage_offset", [&](JsonPlace offset) {
      return readSize(offset, metadata.storageOffset, symbol);
    });
  }
  if (status.ok() && metadata.sizes.size() != metadata.strides.size()) {
    status = place.error("expected a stride per size, got " +
                         std::to_string(metadata.sizes.size()) + " sizes and " +
                         std::to_string(metadata.strides.size()) + " strides");
  }
  metadata.dtype = runtime::dtypeFromExportCode(metadata.dtypeCode);
  metadata.isStrided = layout == kStrided;
  return status;
}

static Status readJson(JsonPlace place, NamedArgument &argument) {
  JsonFields fields(place);
  fields.required("name", argument.name);
  fields.required("arg", argument.value);
  return fields.finish();
}

namespace {

/// The metadata that says where a node comes from.
struct Origin {
  Node *node;
};

Status readJson(JsonPlace place, Origin &origin) {
  JsonFields fields(place);
  fields.optional("custom", origin.node->custom);
  fields.optional("stack_trace", origin.node->stackTrace);
  fields.optional("nn_module_stack", origin.node->moduleStack);
  return fields.finish();
}

} // namespace

static Status readJson(JsonPlace place, Node &node) {
  Origin origin{&node};
  JsonFields fields(place);
  fields.required("target", node.target);
  fields.required("inputs", node.inputs);
  fields.required("outputs", node.outputs);
  fields.optional("metadata", origin);
  // Older minor versions name a node by its first output only.
  std::optional<JsonPlace> name = place.find("name");
  if (name && !name->isNull()) {
    fields.required("name", node.name);
  } else if (!node.outputs.empty()) {
    if (auto *tensor = std::get_if<TensorName>(&node.outputs.front())) {
      node.name = tensor->name;
    }
  }
  return fields.finish();
}

static Status readJson(JsonPlace place, Range &range) {
  JsonFields fields(place);
  fields.optional("min_val", range.least);
  fields.optional("max_val", range.most);
  return fields.finish();
}

static Status readGraph(JsonPlace place, Program &program) {
  JsonFields fields(place);
  fields.required("inputs", program.inputs);
  fields.required("outputs", program.outputs);
  fields.required("nodes", program.nodes);
  if (Status status = fields.finish(); !status.ok()) {
    return status;
  }
  return readMember(place, "tensor_values", [&](JsonPlace tensors) {
    return readMembers(tensors, program.tensors);
  });
}

static Status readSignature(JsonPlace place, Program &program) {
  JsonFields fields(place);
  fields.required("input_specs", program.inputSpecs);
  fields.required("output_specs", program.outputSpecs);
  if (Status status = fields.finish(); !status.ok()) {
    return status;
  }
  auto check = [&](std::string_view what, size_t specs, size_t values) {
    return specs == values
               ? Status()
               : place.error("expected one specification per graph " +
                             std::string(what) + ", got " +
                             std::to_string(specs) + " for " +
                             std::to_string(values));
  };
  Status status =
      check("input", program.inputSpecs.size(), program.inputs.size());
  return status.ok() ? check("output", program.outputSpecs.size(),
                             program.outputs.size())
                     : status;
}

static Status readModule(JsonPlace place, Program &program) {
  Status status = readMember(place, "graph", [&](JsonPlace graph) {
    return readGraph(graph, program);
  });
  if (!status.ok()) {
    return status;
  }
  return readMember(place, "signature", [&](JsonPlace signature) {
    return readSignature(signature, program);
  });
}

Expected<Program> readProgram(JsonPlace place) {
  if (place.kind() != runtime::Json::Kind::Object) {
    return place.members().status();
  }
  Expected<std::optional<std::string>> warning =
      runtime::checkSchemaVersion(place);
  if (!warning) {
    return warning.status();
  }
  Program program;
  program.warning = std::move(*warning);
  Status status = readMember(place, "graph_module", [&](JsonPlace module) {
    return readModule(module, program);
  });
  if (status.ok()) {
    if (std::optional<JsonPlace> ranges = place.find("range_constraints")) {
      status = readMembers(*ranges, program.ranges);
    }
  }
  if (!status.ok()) {
    return status;
  }
  return program;
}

} // namespace sfsdp::exported
