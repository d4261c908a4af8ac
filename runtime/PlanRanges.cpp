//===- PlanRanges.cpp - Ids and sizes of a plan are in range --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// After these checks every id can be used as an index and every size, span and
// byte count computed without overflow.
//
// Tested by test/unit/runtime/PlanTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/PlanFields.h"

namespace sfsdp::runtime {

namespace {

/// "storages[3].bytes"
std::string pathOf(std::string_view table, size_t index,
                   std::string_view member = "") {
  std::string path = std::string(table) + "[" + std::to_string(index) + "]";
  return member.empty() ? path : path + "." + std::string(member);
}

Status checkId(int64_t id, size_t count, std::string_view what,
               const std::string &path) {
  if (id >= 0 && static_cast<size_t>(id) < count) {
    return Status();
  }
  return Status::error(path + ": there is no " + std::string(what) + " " +
                       std::to_string(id) + ", the plan has " +
                       std::to_string(count));
}

/// Element count times 16, the largest element, and the span fit 64 bits.
bool fits(const Value &value) {
  int64_t elements = 16, last = value.offset;
  for (size_t dim = 0; dim < value.sizes.size(); ++dim) {
    int64_t extent = 0;
    if (value.sizes[dim] > 0 &&
        __builtin_mul_overflow(value.sizes[dim] - 1, value.strides[dim],
                               &extent)) {
      return false;
    }
    if (__builtin_add_overflow(last, extent, &last) ||
        __builtin_mul_overflow(elements, value.sizes[dim], &elements)) {
      return false;
    }
  }
  int64_t bytes = 0;
  return !__builtin_mul_overflow(last, int64_t{32}, &bytes);
}

Status checkValues(const Plan &plan) {
  for (size_t index = 0; index < plan.values.size(); ++index) {
    const Value &value = plan.values[index];
    if (Status status = checkId(value.storage, plan.storages.size(), "storage",
                                pathOf("values", index, "storage"));
        !status.ok()) {
      return status;
    }
    if (value.sizes.size() != value.strides.size()) {
      return Status::error(pathOf("values", index, "strides") + ": expected " +
                           std::to_string(value.sizes.size()) +
                           " strides, one per size, got " +
                           std::to_string(value.strides.size()));
    }
    if (!fits(value)) {
      return Status::error(pathOf("values", index) +
                           ": the tensor has more bytes than 64 bits count");
    }
  }
  return Status();
}

/// The memory of all storages at once has a byte count.
Status checkStorages(const Plan &plan) {
  int64_t total = 0;
  for (size_t index = 0; index < plan.storages.size(); ++index) {
    if (__builtin_add_overflow(total, plan.storages[index].bytes, &total) ||
        total > std::numeric_limits<int64_t>::max() / 2) {
      return Status::error(pathOf("storages", index, "bytes") +
                           ": the storages have more bytes than 64 bits "
                           "count");
    }
  }
  return Status();
}

template <typename Row>
Status checkRows(const Plan &plan, const std::vector<Row> &rows,
                 std::string_view table) {
  for (size_t index = 0; index < rows.size(); ++index) {
    const Row &row = rows[index];
    if (Status status = checkId(row.value, plan.values.size(), "value",
                                pathOf(table, index, "value"));
        !status.ok()) {
      return status;
    }
    for (const AxisShard &shard : row.placement) {
      if (shard.dim >= static_cast<int64_t>(row.globalShape.size())) {
        return Status::error(pathOf(table, index, "placement") +
                             ": shards dimension " + std::to_string(shard.dim) +
                             " of a tensor with " +
                             std::to_string(row.globalShape.size()));
      }
    }
  }
  return Status();
}

Status checkResults(const Plan &plan) {
  for (size_t index = 0; index < plan.results.size(); ++index) {
    std::optional<int64_t> updates = plan.results[index].updates;
    if (Status status =
            checkId(plan.results[index].program, plan.programs.size(),
                    "program", pathOf("results", index, "program"));
        !status.ok()) {
      return status;
    }
    if (!updates) {
      continue;
    }
    if (Status status = checkId(*updates, plan.arguments.size(), "argument",
                                pathOf("results", index, "updates"));
        !status.ok()) {
      return status;
    }
  }
  return Status();
}

size_t operandCount(ScalarOp op) {
  switch (op) {
  case ScalarOp::Add:
  case ScalarOp::Sub:
  case ScalarOp::Mul:
  case ScalarOp::Div:
  case ScalarOp::Pow:
    return 2;
  case ScalarOp::Neg:
    return 1;
  default:
    return 0;
  }
}

Status checkScalars(const Plan &plan) {
  for (size_t index = 0; index < plan.scalars.size(); ++index) {
    const Scalar &scalar = plan.scalars[index];
    std::string path = pathOf("scalars", index, "operands");
    if (scalar.operands.size() != operandCount(scalar.op)) {
      return Status::error(path + ": expected " +
                           std::to_string(operandCount(scalar.op)) +
                           " operands of " + std::string(spell(scalar.op)) +
                           ", got " + std::to_string(scalar.operands.size()));
    }
    for (ScalarId operand : scalar.operands) {
      // Scalars are computed in table order, so operands stand before.
      if (Status status = checkId(operand, index, "earlier scalar", path);
          !status.ok()) {
        return status;
      }
    }
  }
  return Status();
}

/// Checks the ids of one instruction.
class InstructionRanges {
public:
  InstructionRanges(const Plan &plan, const Program &program, std::string path)
      : plan(plan), program(program), path(std::move(path)) {}

  Status operator()(const KernelCall &kernel) const {
    for (const KernelArgument &argument : kernel.arguments) {
      if (Status status = checkArgument(argument); !status.ok()) {
        return status;
      }
    }
    if (kernel.cost.workspaceBytes > std::numeric_limits<int64_t>::max() / 2) {
      return Status::error(path + ": the workspace has more bytes than 64 "
                                  "bits count");
    }
    return checkValueIds(kernel.results);
  }

  Status operator()(const CollectiveStart &start) const {
    for (const CollectiveMemberRef &member : start.members) {
      if (Status status = checkValueIds({member.input, member.output});
          !status.ok()) {
        return status;
      }
    }
    return Status();
  }

  Status operator()(const CollectiveWait &wait) const {
    return checkId(wait.start, program.instructions.size(), "instruction",
                   path);
  }

  Status operator()(const Free &freed) const {
    return checkId(freed.storage, plan.storages.size(), "storage", path);
  }

private:
  Status checkArgument(const KernelArgument &argument) const {
    if (const auto *value = std::get_if<ValueRef>(&argument)) {
      return checkValueIds({value->id});
    }
    if (const auto *values = std::get_if<ValueRefs>(&argument)) {
      return checkValueIds(values->ids);
    }
    if (const auto *scalar = std::get_if<ScalarRef>(&argument)) {
      return checkId(scalar->id, plan.scalars.size(), "scalar", path);
    }
    return Status();
  }

  Status checkValueIds(const std::vector<std::optional<ValueId>> &ids) const {
    for (std::optional<ValueId> id : ids) {
      if (!id) {
        continue;
      }
      if (Status status = checkId(*id, plan.values.size(), "value", path);
          !status.ok()) {
        return status;
      }
    }
    return Status();
  }

  const Plan &plan;
  const Program &program;
  std::string path;
};

Status checkProgram(const Plan &plan, size_t number) {
  const Program &program = plan.programs[number];
  std::string table = pathOf("programs", number, "instructions");
  for (size_t index = 0; index < program.instructions.size(); ++index) {
    const Instruction &instruction = program.instructions[index];
    std::string path = pathOf(table, index);
    if (Status status = std::visit(InstructionRanges(plan, program, path),
                                   instruction.action);
        !status.ok()) {
      return status;
    }
    if (Status status = checkId(instruction.provenance, plan.provenance.size(),
                                "provenance", path + ".from");
        !status.ok()) {
      return status;
    }
  }
  return Status();
}

} // namespace

Status checkRanges(const Plan &plan) {
  if (Status status = checkStorages(plan); !status.ok()) {
    return status;
  }
  if (Status status = checkValues(plan); !status.ok()) {
    return status;
  }
  if (Status status = checkRows(plan, plan.arguments, "arguments");
      !status.ok()) {
    return status;
  }
  if (Status status = checkRows(plan, plan.results, "results"); !status.ok()) {
    return status;
  }
  if (Status status = checkResults(plan); !status.ok()) {
    return status;
  }
  if (Status status = checkScalars(plan); !status.ok()) {
    return status;
  }
  for (size_t number = 0; number < plan.programs.size(); ++number) {
    if (Status status = checkProgram(plan, number); !status.ok()) {
      return status;
    }
  }
  return Status();
}

} // namespace sfsdp::runtime
