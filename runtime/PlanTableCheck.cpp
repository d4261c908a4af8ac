//===- PlanTableCheck.cpp - Mesh, arguments and results fit together ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever can be said about the tables of a plan without looking at its
// programs.
//
// Tested by test/unit/runtime/PlanVerifierTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Chunk.h"
#include "runtime/PlanChecks.h"
#include "runtime/PlanNames.h"
#include "runtime/PlanVerifier.h"
#include "runtime/TensorBytes.h"

#include <algorithm>
#include <set>
#include <tuple>

using namespace sfsdp::runtime;

namespace {

constexpr int64_t kMaxRanks = int64_t{1} << 31;

std::string rowText(std::string_view table, size_t index) {
  return std::string(table) + "[" + std::to_string(index) + "]";
}

Status checkMesh(const Mesh &mesh) {
  std::set<std::string> names;
  int64_t size = 1;
  for (const MeshAxis &axis : mesh.axes) {
    if (!names.insert(axis.name).second) {
      return Status::error("mesh axis '" + axis.name + "' occurs twice");
    }
    if (axis.size < 1 || axis.size > kMaxRanks / size) {
      return Status::error("mesh axis '" + axis.name + "' has size " +
                           std::to_string(axis.size) +
                           ", expected at least 1 and at most 2^31 ranks");
    }
    size *= axis.size;
  }
  if (mesh.ranks.empty()) {
    return Status();
  }
  std::set<int64_t> ranks(mesh.ranks.begin(), mesh.ranks.end());
  bool whole = static_cast<int64_t>(mesh.ranks.size()) == size &&
               static_cast<int64_t>(ranks.size()) == size &&
               *ranks.begin() == 0 && *ranks.rbegin() == size - 1;
  return whole ? Status()
               : Status::error("the mesh's rank list must hold each of 0 to " +
                               std::to_string(size - 1) + " once");
}

bool hasAxis(const Mesh &mesh, const std::string &name) {
  return std::ranges::any_of(
      mesh.axes, [&](const MeshAxis &axis) { return axis.name == name; });
}

Status unknownAxis(const std::string &where, const std::string &axis) {
  return Status::error(where + " names mesh axis '" + axis +
                       "', which the mesh does not have");
}

/// `Row` is an Argument or a Result.
template <typename Row>
Status checkShape(const Plan &plan, const Row &row, const std::string &where) {
  for (const AxisShard &shard : row.placement) {
    if (!hasAxis(plan.header.mesh, shard.axis)) {
      return unknownAxis(where, shard.axis);
    }
  }
  std::vector<int64_t> expected =
      paddedLocalShape(row.globalShape, row.placement, plan.header.mesh);
  const std::vector<int64_t> &sizes = plan.values[row.value].sizes;
  if (sizes == expected) {
    return Status();
  }
  return Status::error(where + " '" + row.name + "' of global shape " +
                       describeShape(row.globalShape) + " has local shape " +
                       describeShape(sizes) + ", expected " +
                       describeShape(expected) + " by its placement");
}

Status checkValues(const Plan &plan) {
  for (size_t id = 0; id < plan.values.size(); ++id) {
    const Value &value = plan.values[id];
    int64_t bytes = plan.storages[value.storage].bytes;
    if (spanBytes(value) > bytes) {
      return Status::error("value %" + std::to_string(id) + " ends at byte " +
                           std::to_string(spanBytes(value)) + " of storage " +
                           std::to_string(value.storage) + ", which has " +
                           std::to_string(bytes));
    }
  }
  return Status();
}

bool isArgumentRole(Role role) { return role < Role::Loss; }

Status checkArguments(const Plan &plan) {
  std::set<std::tuple<Role, std::string, std::string>> seen;
  std::set<StorageId> storages;
  for (size_t index = 0; index < plan.arguments.size(); ++index) {
    const Argument &argument = plan.arguments[index];
    std::string where = rowText("arguments", index);
    if (!isArgumentRole(argument.role)) {
      return Status::error(where + ": role " +
                           std::string(spell(argument.role)) +
                           " belongs to results");
    }
    if (!seen.insert({argument.role, argument.name, argument.slot}).second) {
      return Status::error(where + ": '" + argument.name + "' occurs twice");
    }
    StorageId storage = plan.values[argument.value].storage;
    if (plan.storages[storage].region != Region::Argument ||
        !storages.insert(storage).second) {
      return Status::error(where +
                           ": expected a storage of region argument "
                           "for '" +
                           argument.name + "' alone, got storage " +
                           std::to_string(storage));
    }
    if (Status status = checkShape(plan, argument, where); !status.ok()) {
      return status;
    }
  }
  for (size_t id = 0; id < plan.storages.size(); ++id) {
    if (plan.storages[id].region == Region::Argument &&
        !storages.contains(static_cast<int64_t>(id))) {
      return Status::error("storage " + std::to_string(id) +
                           " has region argument, but no argument is there");
    }
  }
  return Status();
}

/// A result that updates an argument is that argument, one step later.
Status checkUpdate(const Plan &plan, const Result &result,
                   const std::string &where) {
  const Argument &argument = plan.arguments[*result.updates];
  const Value &after = plan.values[result.value];
  const Value &before = plan.values[argument.value];
  bool same = after.storage == before.storage && after.dtype == before.dtype &&
              after.sizes == before.sizes && after.strides == before.strides &&
              after.offset == before.offset;
  if (!same) {
    return Status::error(where + " updates argument '" + argument.name +
                         "' and must lie where it lies, with the same shape "
                         "and element type");
  }
  if (result.role != argument.role || result.name != argument.name ||
      result.slot != argument.slot) {
    return Status::error(where + " updates argument '" + argument.name +
                         "', but is called '" + result.name + "'");
  }
  return Status();
}

/// Results of clipping have the shape and type that the runtime reads, and
/// those in `seen` occur once.
Status checkClipping(const Result &result, const Value &value,
                     const std::string &where, std::set<Role> &seen) {
  bool isFlag = result.role == Role::Applied;
  bool isList = result.role == Role::ChunkNorms;
  if (!isFlag && !isList && result.role != Role::GradientNorm) {
    return Status();
  }
  std::string role(spell(result.role));
  if (!isList && !seen.insert(result.role).second) {
    return Status::error(where + ": role " + role + " occurs twice");
  }
  bool isType =
      isFlag ? value.dtype == DType::Bool : isFloatingPoint(value.dtype);
  if (isType && value.sizes.size() == (isList ? 1 : 0)) {
    return Status();
  }
  return Status::error(where + ": expected a result of role " + role +
                       " to be a " + (isList ? "1" : "0") + "-dim tensor of " +
                       (isFlag ? "bool" : "floats") + ", got " +
                       describeShape(value.sizes) + " of " +
                       std::string(nameOf(value.dtype)));
}

Status checkResults(const Plan &plan) {
  // By program.
  std::set<std::pair<int64_t, int64_t>> updated;
  std::set<int64_t> losses;
  std::set<Role> seen;
  for (size_t index = 0; index < plan.results.size(); ++index) {
    const Result &result = plan.results[index];
    std::string where = rowText("results", index);
    if (Status status = checkShape(plan, result, where); !status.ok()) {
      return status;
    }
    if (result.updates) {
      if (!updated.insert({result.program, *result.updates}).second) {
        return Status::error(where + ": argument '" + result.name +
                             "' is updated twice");
      }
      if (Status status = checkUpdate(plan, result, where); !status.ok()) {
        return status;
      }
    }
    const Value &value = plan.values[result.value];
    if (Status status = checkClipping(result, value, where, seen);
        !status.ok()) {
      return status;
    }
    if (result.role == Role::Loss &&
        (!losses.insert(result.program).second || !value.sizes.empty() ||
         !isFloatingPoint(value.dtype))) {
      return Status::error(where + ": expected one loss, a floating-point "
                                   "tensor without dimensions");
    }
  }
  return Status();
}

} // namespace

Status sfsdp::runtime::checkTables(const Plan &plan) {
  if (Status status = checkMesh(plan.header.mesh); !status.ok()) {
    return status;
  }
  if (plan.header.microBatches < 1 ||
      plan.header.microBatches > kMaxMicroBatches) {
    return Status::error("header.micro_batches: expected 1 to " +
                         std::to_string(kMaxMicroBatches) + ", got " +
                         std::to_string(plan.header.microBatches));
  }
  for (const std::string &axis : plan.header.dataAxes) {
    if (!hasAxis(plan.header.mesh, axis)) {
      return unknownAxis("header.data_axes", axis);
    }
  }
  for (size_t id = 0; id < plan.scalars.size(); ++id) {
    const Scalar &scalar = plan.scalars[id];
    bool usesAxis = scalar.op == ScalarOp::MeshCoordinate ||
                    scalar.op == ScalarOp::ValidRows;
    if (usesAxis && !hasAxis(plan.header.mesh, scalar.axis)) {
      return unknownAxis(rowText("scalars", id), scalar.axis);
    }
  }
  if (Status status = checkValues(plan); !status.ok()) {
    return status;
  }
  if (Status status = checkArguments(plan); !status.ok()) {
    return status;
  }
  return checkResults(plan);
}
