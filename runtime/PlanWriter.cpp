//===- PlanWriter.cpp - A plan as JSON text -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One table row or instruction stands on one line, so that plans can be read,
// compared and searched line by line. Rows carry their own index as "id".
// Members at their default are left out. docs/plan-format.md lists all keys.
//
// Tested by test/unit/runtime/PlanTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Json.h"
#include "runtime/Plan.h"
#include "runtime/PlanNames.h"

#include <cmath>

using namespace sfsdp::runtime;

namespace {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::string referenceTo(ValueId id) { return "%" + std::to_string(id); }
std::string referenceTo(ScalarRef scalar) {
  return "$" + std::to_string(scalar.id);
}

Json referenceTo(std::optional<ValueId> id) {
  return id ? Json(referenceTo(*id)) : Json();
}

/// {"key": content}: the argument kinds that plain JSON cannot tell apart.
Json tagged(const char *key, Json content) {
  Json object = Json::object();
  object.add(key, std::move(content));
  return object;
}

void addUnless(Json &object, const char *key, bool isDefault, Json content) {
  if (!isDefault) {
    object.add(key, std::move(content));
  }
}

template <typename T>
Json listOf(const std::vector<T> &rows, Json (*toJson)(const T &)) {
  Json list = Json::array();
  for (const T &row : rows) {
    list.push(toJson(row));
  }
  return list;
}

/// As listOf, each row beginning with its index.
template <typename T>
Json tableOf(const std::vector<T> &rows, void (*fill)(Json &, const T &)) {
  Json table = Json::array();
  for (size_t index = 0; index < rows.size(); ++index) {
    Json row = Json::object();
    row.add("id", index);
    fill(row, rows[index]);
    table.push(std::move(row));
  }
  return table;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

Json toJson(const MeshAxis &axis) {
  Json row = Json::object();
  row.add("name", axis.name);
  row.add("size", axis.size);
  return row;
}

Json toJson(const PlanInput &file) {
  Json row = Json::object();
  row.add("name", file.name);
  row.add("sha256", file.sha256);
  return row;
}

Json toJson(const AxisShard &shard) {
  Json row = Json::object();
  row.add("axis", shard.axis);
  row.add("dim", shard.dim);
  return row;
}

Json toJson(const PlanHeader &header) {
  Json mesh = Json::object();
  mesh.add("axes", listOf<MeshAxis>(header.mesh.axes, toJson));
  addUnless(mesh, "ranks", header.mesh.ranks.empty(),
            Json::listOf(header.mesh.ranks));
  Json proved = Json::object();
  for (const auto &[proof, digest] : header.proved) {
    proved.add(proof, digest);
  }
  Json row = Json::object();
  row.add("compiler", header.compiler);
  row.add("inputs", listOf<PlanInput>(header.inputs, toJson));
  row.add("options", header.options);
  row.add("device", header.device);
  row.add("data_axes", Json::listOf(header.dataAxes));
  row.add("mesh", std::move(mesh));
  addUnless(row, "micro_batches", header.microBatches == 1,
            header.microBatches);
  row.add("proved", std::move(proved));
  return row;
}

void addShape(Json &row, const std::vector<int64_t> &globalShape,
              const std::vector<AxisShard> &placement) {
  row.add("global_shape", Json::listOf(globalShape));
  addUnless(row, "placement", placement.empty(),
            listOf<AxisShard>(placement, toJson));
}

void fill(Json &row, const Argument &argument) {
  row.add("role", spell(argument.role));
  row.add("name", argument.name);
  addUnless(row, "slot", argument.slot.empty(), argument.slot);
  addUnless(row, "aliases", argument.aliases.empty(),
            Json::listOf(argument.aliases));
  addUnless(row, "frozen", !argument.frozen, argument.frozen);
  row.add("value", referenceTo(argument.value));
  addShape(row, argument.globalShape, argument.placement);
}

void fill(Json &row, const Result &result) {
  row.add("role", spell(result.role));
  addUnless(row, "name", result.name.empty(), result.name);
  addUnless(row, "slot", result.slot.empty(), result.slot);
  row.add("value", referenceTo(result.value));
  addUnless(row, "updates", !result.updates, result.updates.value_or(0));
  addUnless(row, "program", result.program == 0, result.program);
  addShape(row, result.globalShape, result.placement);
}

void fill(Json &row, const Storage &storage) {
  row.add("bytes", storage.bytes);
  addUnless(row, "use", storage.use.empty(), storage.use);
  row.add("region", spell(storage.region));
  row.add("first", storage.first);
  row.add("last", storage.last);
}

void fill(Json &row, const Value &value) {
  row.add("storage", value.storage);
  row.add("dtype", nameOf(value.dtype));
  row.add("sizes", Json::listOf(value.sizes));
  row.add("strides", Json::listOf(value.strides));
  addUnless(row, "offset", value.offset == 0, value.offset);
}

void fill(Json &row, const Scalar &scalar) {
  row.add("op", spell(scalar.op));
  Json operands = Json::array();
  for (ScalarId id : scalar.operands) {
    operands.push(referenceTo(ScalarRef{id}));
  }
  addUnless(row, "operands", scalar.operands.empty(), std::move(operands));
  addUnless(row, "constant", scalar.op != ScalarOp::Constant, scalar.constant);
  addUnless(row, "axis", scalar.axis.empty(), scalar.axis);
  addUnless(row, "rows", scalar.op != ScalarOp::ValidRows, scalar.rows);
}

void fill(Json &row, const Provenance &provenance) {
  addUnless(row, "module", provenance.module.empty(), provenance.module);
  addUnless(row, "phase", provenance.phase == Phase::None,
            spell(provenance.phase));
  addUnless(row, "source", provenance.source.empty(), provenance.source);
  addUnless(row, "pass", provenance.pass.empty(), provenance.pass);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

Json toJson(const KernelArgument &argument) {
  return std::visit(
      Overloaded{
          [](std::monostate) { return Json(); },
          [](ValueRef value) { return Json(referenceTo(value.id)); },
          [](const ValueRefs &values) {
            Json list = Json::array();
            for (std::optional<ValueId> id : values.ids) {
              list.push(referenceTo(id));
            }
            return tagged("values", std::move(list));
          },
          [](ScalarRef scalar) { return Json(referenceTo(scalar)); },
          [](bool value) { return Json(value); },
          [](int64_t value) { return Json(value); },
          [](double value) {
            return std::isfinite(value) ? Json(value) : tagged("float", value);
          },
          [](const std::string &text) { return tagged("string", text); },
          [](const std::vector<bool> &flags) {
            Json list = Json::array();
            for (bool flag : flags) {
              list.push(flag);
            }
            return tagged("bools", std::move(list));
          },
          [](const std::vector<int64_t> &numbers) {
            return tagged("ints", Json::listOf(numbers));
          },
          [](const std::vector<double> &numbers) {
            return tagged("floats", Json::listOf(numbers));
          },
          [](DType type) { return tagged("dtype", nameOf(type)); },
          [](MemoryFormat format) {
            return tagged("memory_format", spell(format));
          },
          [](TensorLayoutKind layout) {
            return tagged("layout", spell(layout));
          },
          [](DeviceArgument) { return tagged("device", "plan"); },
      },
      argument);
}

Json toJson(const CostFacts &cost) {
  Json row = Json::object();
  row.add("class", spell(cost.costClass));
  addUnless(row, "flops", cost.flops == 0, cost.flops);
  addUnless(row, "read", cost.bytesRead == 0, cost.bytesRead);
  addUnless(row, "written", cost.bytesWritten == 0, cost.bytesWritten);
  addUnless(row, "batch", cost.batch == 0, cost.batch);
  addUnless(row, "m", cost.m == 0, cost.m);
  addUnless(row, "n", cost.n == 0, cost.n);
  addUnless(row, "k", cost.k == 0, cost.k);
  addUnless(row, "workspace", cost.workspaceBytes == 0, cost.workspaceBytes);
  return row;
}

Json toJson(const CollectiveMemberRef &member) {
  Json row = Json::object();
  row.add("input", referenceTo(member.input));
  row.add("output", referenceTo(member.output));
  addUnless(row, "name", member.name.empty(), member.name);
  return row;
}

void fill(Json &row, const KernelCall &kernel) {
  row.add("call", kernel.name);
  addUnless(row, "overload", kernel.overload.empty(), kernel.overload);
  row.add("arguments", listOf<KernelArgument>(kernel.arguments, toJson));
  Json results = Json::array();
  for (std::optional<ValueId> id : kernel.results) {
    results.push(referenceTo(id));
  }
  row.add("results", std::move(results));
  addUnless(row, "random", !kernel.randomId, kernel.randomId.value_or(0));
  row.add("cost", toJson(kernel.cost));
}

void fill(Json &row, const CollectiveStart &start) {
  row.add("start", spell(start.kind));
  row.add("axes", Json::listOf(start.axes));
  row.add("members", listOf<CollectiveMemberRef>(start.members, toJson));
  row.add("order", spell(start.order));
  addUnless(row, "divisor", start.divisor == 1, start.divisor);
  addUnless(row, "grouped", start.grouped == 0, start.grouped);
  row.add("bytes_received", start.bytesReceived);
  row.add("ready", start.ready);
  row.add("needed", start.needed);
  addUnless(row, "keepable", !start.keepable, start.keepable);
}

void fill(Json &row, const CollectiveWait &wait) {
  row.add("wait", wait.start);
}

void fill(Json &row, const Free &freed) { row.add("free", freed.storage); }

void fill(Json &row, const Instruction &instruction) {
  std::visit([&](const auto &action) { fill(row, action); },
             instruction.action);
  row.add("from", instruction.provenance);
}

Json toJson(const Program &program) {
  Json row = Json::object();
  row.add("name", program.name);
  row.add("instructions", tableOf<Instruction>(program.instructions, fill));
  return row;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Appends `"key": content` as a member of the outermost object; `expanded`
/// levels of it have an item per line.
void appendMember(std::string &text, const char *key, const Json &content,
                  int expanded) {
  text += text.empty() ? "{\n  \"" : ",\n  \"";
  text += key;
  text += "\": ";
  for (char each : writeJson(content, {expanded})) {
    text += each;
    if (each == '\n') {
      text += "  ";
    }
  }
}

} // namespace

std::string sfsdp::runtime::writePlan(const Plan &plan) {
  constexpr int kRows = 1;     // a table with a row per line
  constexpr int kPrograms = 3; // list, program, its instructions
  std::string text;
  appendMember(text, "format_version", plan.header.formatVersion, 0);
  appendMember(text, "header", toJson(plan.header), 1);
  appendMember(text, "predicted_peak_bytes", plan.predictedPeakBytes, 0);
  appendMember(text, "arguments", tableOf<Argument>(plan.arguments, fill),
               kRows);
  appendMember(text, "results", tableOf<Result>(plan.results, fill), kRows);
  appendMember(text, "storages", tableOf<Storage>(plan.storages, fill), kRows);
  appendMember(text, "values", tableOf<Value>(plan.values, fill), kRows);
  appendMember(text, "scalars", tableOf<Scalar>(plan.scalars, fill), kRows);
  appendMember(text, "programs", listOf<Program>(plan.programs, toJson),
               kPrograms);
  appendMember(text, "provenance", tableOf<Provenance>(plan.provenance, fill),
               kRows);
  return text + "\n}\n";
}
