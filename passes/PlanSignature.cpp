//===- PlanSignature.cpp - Arguments, results and memory of a plan --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PlanTableBuilder.h.
//
//===----------------------------------------------------------------------===//

#include "dialect/Layout.h"
#include "passes/MeshOption.h"
#include "passes/OperatorBridge.h"
#include "passes/PlanTableBuilder.h"
#include "passes/TrainStep.h"

using namespace mlir;
using namespace mlir::sfsdp;

//===----------------------------------------------------------------------===//
// Header, arguments, results
//===----------------------------------------------------------------------===//

LogicalResult TableBuilder::addHeader() {
  MeshAttr mesh = meshOf(function);
  if (!mesh) {
    return function.emitOpError()
           << "expected a module with sfsdp.mesh, got none; "
              "pass --simplefsdp=\"mesh=dp:2\" or --sfsdp-shard";
  }
  for (auto [axis, size] : llvm::zip(mesh.getAxes(), mesh.getSizes())) {
    tables.header.mesh.axes.push_back({axis.str(), size});
    if (axis != kTensorAxis) {
      tables.header.dataAxes.push_back(axis.str());
    }
  }
  tables.header.mesh.ranks.assign(mesh.getRanks().begin(),
                                  mesh.getRanks().end());
  auto module = function->getParentOfType<ModuleOp>();
  if (auto files = module->getAttrOfType<ArrayAttr>(kInputsAttrName)) {
    for (auto file : files.getAsRange<InputFileAttr>()) {
      tables.header.inputs.push_back(
          {file.getName().str(), file.getSha256().str()});
    }
  }
  return success();
}

static StringRef useOf(plan::Role role) {
  switch (role) {
  case plan::Role::Parameter:
    return "parameter";
  case plan::Role::Buffer:
    return "buffer";
  case plan::Role::Constant:
    return "constant";
  case plan::Role::State:
    return "state";
  case plan::Role::Accumulator:
    return "accumulator";
  default:
    return "input";
  }
}

static plan::Role roleOf(RoleKind kind) {
  switch (kind) {
  case RoleKind::Parameter:
    return plan::Role::Parameter;
  case RoleKind::Buffer:
    return plan::Role::Buffer;
  case RoleKind::Constant:
    return plan::Role::Constant;
  case RoleKind::Input:
    return plan::Role::Input;
  case RoleKind::State:
    return plan::Role::State;
  case RoleKind::Accumulator:
    return plan::Role::Accumulator;
  case RoleKind::Loss:
    return plan::Role::Loss;
  case RoleKind::Gradient:
    return plan::Role::Gradient;
  case RoleKind::GradientNorm:
    return plan::Role::GradientNorm;
  case RoleKind::ChunkNorms:
    return plan::Role::ChunkNorms;
  case RoleKind::Applied:
    return plan::Role::Applied;
  case RoleKind::Output:
  case RoleKind::HyperParameter:
    return plan::Role::Output;
  }
  llvm_unreachable("all roles are named above");
}

/// Copies what role, placement and global type say into an Argument or Result.
template <typename Entry>
static void describe(Entry &entry, DictionaryAttr attributes,
                     RankedTensorType type) {
  auto role = attributes.getAs<RoleAttr>(kRoleAttrName);
  entry.role = roleOf(role.getKind());
  entry.name = role.getName().str();
  entry.slot = role.getSlot() ? role.getSlot().str() : "";
  if (auto placement = attributes.getAs<PlacementAttr>(kPlacementAttrName)) {
    for (auto [axis, dim] :
         llvm::zip(placement.getAxes(), placement.getDims())) {
      entry.placement.push_back({axis.str(), dim});
    }
  }
  if (auto global = attributes.getAs<TypeAttr>(kGlobalAttrName)) {
    type = cast<RankedTensorType>(global.getValue());
  }
  entry.globalShape = type.getShape().vec();
}

LogicalResult TableBuilder::addArgument(BlockArgument argument) {
  unsigned index = argument.getArgNumber();
  RoleAttr role = argumentRole(function, index);
  if (!role) {
    return function.emitOpError()
           << "argument " << index << ": expected a role, got none";
  }
  if (role.getKind() == RoleKind::HyperParameter) {
    auto op = llvm::StringSwitch<std::optional<plan::ScalarOp>>(role.getName())
                  .Case("lr", plan::ScalarOp::Lr)
                  .Case("step", plan::ScalarOp::Step)
                  .Case("micro_batch", plan::ScalarOp::MicroBatch)
                  .Default(std::nullopt);
    if (!op) {
      return function.emitOpError()
             << "argument " << index
             << ": expected lr, step or micro_batch, got " << role.getName();
    }
    scalars[argument] = tables.scalars.size();
    tables.scalars.push_back({*op});
    return success();
  }
  if (std::optional<int64_t> known = argumentWithRole(role)) {
    return useArgument(argument, tables.arguments[*known]);
  }
  plan::Argument entry;
  auto type = cast<RankedTensorType>(argument.getType());
  describe(entry, function.getArgAttrDict(index), type);
  for (StringAttr alias : role.getAliases()) {
    entry.aliases.push_back(alias.str());
  }
  entry.frozen = role.getFrozen();
  entry.value = addFresh(argument, useOf(entry.role), plan::Region::Argument);
  tables.arguments.push_back(std::move(entry));
  return success();
}

LogicalResult TableBuilder::useArgument(BlockArgument argument,
                                        const plan::Argument &entry) {
  const plan::Value &value = tables.values[entry.value];
  auto type = cast<RankedTensorType>(argument.getType());
  SmallVector<int64_t> strides = stridesOf(type);
  if (toDType(type.getElementType()) != value.dtype ||
      type.getShape() != ArrayRef<int64_t>(value.sizes) ||
      ArrayRef<int64_t>(strides) != ArrayRef<int64_t>(value.strides)) {
    return function.emitOpError() << "argument " << argument.getArgNumber()
                                  << ": expected the type that " << entry.name
                                  << " has in the program before, got " << type;
  }
  values[argument] = entry.value;
  return success();
}

std::optional<int64_t> TableBuilder::updatedArgument(RoleAttr role) const {
  bool updates = role.getKind() == RoleKind::Parameter ||
                 role.getKind() == RoleKind::Buffer ||
                 role.getKind() == RoleKind::State ||
                 role.getKind() == RoleKind::Accumulator;
  return updates ? argumentWithRole(role) : std::nullopt;
}

std::optional<int64_t> TableBuilder::argumentWithRole(RoleAttr role) const {
  StringRef slot = role.getSlot() ? role.getSlot().getValue() : "";
  for (auto [index, argument] : llvm::enumerate(tables.arguments)) {
    if (argument.role == roleOf(role.getKind()) &&
        argument.name == role.getName() && argument.slot == slot) {
      return index;
    }
  }
  return std::nullopt;
}

LogicalResult TableBuilder::addResult(Value value, unsigned index) {
  RoleAttr role = resultRole(function, index);
  if (!role) {
    return function.emitOpError()
           << "result " << index << ": expected a role, got none";
  }
  plan::Result entry;
  describe(entry, function.getResultAttrDict(index),
           cast<RankedTensorType>(value.getType()));
  entry.value = values.lookup(value);
  entry.updates = updatedArgument(role);
  entry.program = static_cast<int64_t>(tables.programs.size()) - 1;
  bool isNewValue =
      entry.role == plan::Role::Parameter || entry.role == plan::Role::Buffer ||
      entry.role == plan::Role::State || entry.role == plan::Role::Accumulator;
  if (isNewValue && !entry.updates) {
    return function.emitOpError()
           << "result " << index << ": expected an argument that " << role
           << " updates, got none";
  }
  tables.results.push_back(std::move(entry));
  return success();
}

void TableBuilder::copyBackUpdates() {
  for (plan::Result &result : tables.results) {
    bool isOwn =
        result.program + 1 == static_cast<int64_t>(tables.programs.size());
    if (!result.updates || !isOwn) {
      continue;
    }
    plan::ValueId target = tables.arguments[*result.updates].value;
    if (tables.values[target].storage == tables.values[result.value].storage) {
      continue;
    }
    plan::KernelCall copy;
    copy.name = "aten::copy_";
    copy.arguments = {plan::ValueRef{target}, plan::ValueRef{result.value}};
    // The argument's own value is what stood there before.
    tables.values.push_back(tables.values[target]);
    plan::ValueId updated = tables.values.size() - 1;
    copy.results = {updated};
    copy.cost.costClass = plan::CostClass::Copy;
    copy.cost.bytesRead = copy.cost.bytesWritten =
        plan::spanBytes(tables.values[result.value]);
    append(std::move(copy), ScopeAttr());
    result.value = updated;
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

plan::StorageId TableBuilder::addStorage(int64_t bytes, StringRef use,
                                         plan::Region region) {
  plan::Storage storage;
  storage.bytes = bytes;
  storage.use = use.str();
  storage.region = region;
  tables.storages.push_back(std::move(storage));
  return tables.storages.size() - 1;
}

plan::ValueId TableBuilder::addValue(RankedTensorType type,
                                     plan::StorageId storage, int64_t offset) {
  plan::Value value;
  value.storage = storage;
  value.dtype = *toDType(type.getElementType());
  value.sizes = type.getShape().vec();
  SmallVector<int64_t> strides = stridesOf(type);
  value.strides.assign(strides.begin(), strides.end());
  value.offset = offset;
  tables.values.push_back(std::move(value));
  return tables.values.size() - 1;
}

plan::ValueId TableBuilder::addFresh(Value value, StringRef use,
                                     plan::Region region) {
  auto type = cast<RankedTensorType>(value.getType());
  plan::StorageId storage = addStorage(/*bytes=*/0, use, region);
  plan::ValueId id = addValue(type, storage, /*offset=*/0);
  tables.storages[storage].bytes = plan::spanBytes(tables.values[id]);
  values[value] = id;
  return id;
}

plan::ValueId TableBuilder::addView(Value value, Value source, int64_t offset) {
  const plan::Value &base = tables.values[values.lookup(source)];
  plan::ValueId id = addValue(cast<RankedTensorType>(value.getType()),
                              base.storage, base.offset + offset);
  values[value] = id;
  return id;
}

void TableBuilder::shareWithPeers(plan::ValueId value, StringRef use) {
  plan::Storage &storage = tables.storages[tables.values[value].storage];
  if (storage.region == plan::Region::Private) {
    storage.region = plan::Region::Arena;
    storage.use = use.str();
  }
}
