//===- PlanReader.cpp - A plan from JSON text -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan is input from anywhere: every key is known, every row stands where its
// id says, every id is in range, and every size is a non-negative 64-bit number
// whose products do not overflow. What the instructions mean together is
// PlanVerifier.cpp's business.
//
// Tested by test/unit/runtime/PlanTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/File.h"
#include "runtime/PlanFields.h"

namespace sfsdp::runtime {

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static Status readJson(JsonPlace place, MeshAxis &axis) {
  JsonFields fields(place);
  fields.required("name", axis.name);
  fields.required("size", axis.size);
  if (Status status = fields.finishStrictly(); !status.ok()) {
    return status;
  }
  return axis.size >= 1 ? Status()
                        : place.error("expected an axis size of at least 1");
}

static Status readJson(JsonPlace place, PlanInput &file) {
  JsonFields fields(place);
  fields.required("name", file.name);
  fields.required("sha256", file.sha256);
  return fields.finishStrictly();
}

static Status readJson(JsonPlace place, Mesh &mesh) {
  JsonFields fields(place);
  fields.required("axes", mesh.axes);
  fields.optional("ranks", mesh.ranks);
  return fields.finishStrictly();
}

static Status readJson(JsonPlace place,
                       std::map<std::string, std::string> &texts) {
  Expected<std::vector<JsonMember>> members = place.members();
  if (!members) {
    return members.status();
  }
  for (const JsonMember &member : *members) {
    std::string text;
    if (Status status = readJson(member.value, text); !status.ok()) {
      return status;
    }
    texts.emplace(member.name, std::move(text));
  }
  return Status();
}

static Status readJson(JsonPlace place, PlanHeader &header) {
  JsonFields fields(place);
  fields.required("compiler", header.compiler);
  fields.required("inputs", header.inputs);
  fields.required("options", header.options);
  fields.required("device", header.device);
  fields.required("data_axes", header.dataAxes);
  fields.required("mesh", header.mesh);
  fields.optional("micro_batches", header.microBatches);
  fields.required("proved", header.proved);
  return fields.finishStrictly();
}

static Status readJson(JsonPlace place, AxisShard &shard) {
  JsonFields fields(place);
  fields.required("axis", shard.axis);
  Count dim{shard.dim};
  fields.required("dim", dim);
  return fields.finishStrictly();
}

static void readFields(JsonFields &fields, Argument &argument) {
  Reference value{argument.value, '%'};
  Counts globalShape{argument.globalShape};
  fields.required("role", argument.role);
  fields.required("name", argument.name);
  fields.optional("slot", argument.slot);
  fields.optional("aliases", argument.aliases);
  fields.optional("frozen", argument.frozen);
  fields.required("value", value);
  fields.required("global_shape", globalShape);
  fields.optional("placement", argument.placement);
}

static void readFields(JsonFields &fields, Result &result) {
  Reference value{result.value, '%'};
  Counts globalShape{result.globalShape};
  fields.required("role", result.role);
  fields.optional("name", result.name);
  fields.optional("slot", result.slot);
  fields.required("value", value);
  fields.optional("updates", result.updates);
  fields.optional("program", result.program);
  fields.required("global_shape", globalShape);
  fields.optional("placement", result.placement);
}

static void readFields(JsonFields &fields, Storage &storage) {
  Count bytes{storage.bytes}, first{storage.first}, last{storage.last};
  fields.required("bytes", bytes);
  fields.optional("use", storage.use);
  fields.required("region", storage.region);
  fields.required("first", first);
  fields.required("last", last);
}

static void readFields(JsonFields &fields, Value &value) {
  Count storage{value.storage}, offset{value.offset};
  Counts sizes{value.sizes}, strides{value.strides};
  fields.required("storage", storage);
  fields.required("dtype", value.dtype);
  fields.required("sizes", sizes);
  fields.required("strides", strides);
  fields.optional("offset", offset);
}

namespace {
/// A list of "$3".
struct ScalarOperands {
  std::vector<ScalarId> &out;
};
} // namespace

static Status readJson(JsonPlace place, const ScalarOperands &operands) {
  Expected<std::vector<JsonPlace>> items = place.items();
  if (!items) {
    return items.status();
  }
  for (JsonPlace item : *items) {
    int64_t id = 0;
    if (Status status = readJson(item, Reference{id, '$'}); !status.ok()) {
      return status;
    }
    operands.out.push_back(id);
  }
  return Status();
}

static void readFields(JsonFields &fields, Scalar &scalar) {
  ScalarOperands operands{scalar.operands};
  Count rows{scalar.rows};
  fields.required("op", scalar.op);
  fields.optional("operands", operands);
  fields.optional("constant", scalar.constant);
  fields.optional("axis", scalar.axis);
  fields.optional("rows", rows);
}

static void readFields(JsonFields &fields, Provenance &provenance) {
  fields.optional("module", provenance.module);
  fields.optional("phase", provenance.phase);
  fields.optional("source", provenance.source);
  fields.optional("pass", provenance.pass);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

namespace {
/// A list of rows that begin with their index, as "id".
template <typename Row>
struct Table {
  std::vector<Row> &rows;
};
template <typename Row>
Table(std::vector<Row> &) -> Table<Row>;
} // namespace

template <typename Row>
static Status readJson(JsonPlace place, const Table<Row> &table) {
  Expected<std::vector<JsonPlace>> items = place.items();
  if (!items) {
    return items.status();
  }
  table.rows.resize(items->size());
  for (size_t index = 0; index < items->size(); ++index) {
    JsonFields fields((*items)[index]);
    int64_t id = -1;
    fields.required("id", id);
    readFields(fields, table.rows[index]);
    if (Status status = fields.finishStrictly(); !status.ok()) {
      return status;
    }
    if (id != static_cast<int64_t>(index)) {
      return (*items)[index].error("expected id " + std::to_string(index) +
                                   ", the row's position, got " +
                                   std::to_string(id));
    }
  }
  return Status();
}

/// The version is read first: a newer plan may have keys unknown here.
static Status readVersion(JsonPlace root, int64_t &version) {
  Expected<JsonPlace> place = root.member("format_version");
  if (!place) {
    return place.status();
  }
  if (Status status = readJson(*place, version); !status.ok()) {
    return status;
  }
  if (version == kPlanFormatVersion) {
    return Status();
  }
  return place->error("plan has format version " + std::to_string(version) +
                      ", expected " + std::to_string(kPlanFormatVersion) +
                      "; compile the graph again with this release");
}

static Status readJson(JsonPlace root, Plan &plan) {
  if (Status status = readVersion(root, plan.header.formatVersion);
      !status.ok()) {
    return status;
  }
  Count peak{plan.predictedPeakBytes};
  Table arguments{plan.arguments};
  Table results{plan.results};
  Table storages{plan.storages};
  Table values{plan.values};
  Table scalars{plan.scalars};
  Table provenance{plan.provenance};
  JsonFields fields(root);
  fields.required("format_version", plan.header.formatVersion);
  fields.required("header", plan.header);
  fields.required("predicted_peak_bytes", peak);
  fields.required("arguments", arguments);
  fields.required("results", results);
  fields.required("storages", storages);
  fields.required("values", values);
  fields.required("scalars", scalars);
  fields.required("programs", plan.programs);
  fields.required("provenance", provenance);
  return fields.finishStrictly();
}

static Expected<Plan> planOf(const Expected<JsonDocument> &document) {
  if (!document) {
    return document.status();
  }
  Plan plan;
  if (Status status = readJson(document->root(), plan); !status.ok()) {
    return status;
  }
  if (Status status = checkRanges(plan); !status.ok()) {
    return status.within(document->name);
  }
  return plan;
}

Expected<Plan> readPlan(std::string_view text, const std::string &name) {
  return planOf(parseJson(text, name));
}

Expected<Plan> readPlanFile(const std::string &path) {
  Expected<std::string> text = readFile(path, JsonLimits().maxBytes);
  if (!text) {
    return text.status();
  }
  size_t first = text->find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (*text)[first] != '{') {
    return Status::error(path + ": no plan: expected the JSON that "
                                "simplefsdp-opt --emit-plan writes");
  }
  return readPlan(*text, path);
}

} // namespace sfsdp::runtime
