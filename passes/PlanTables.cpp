//===- PlanTables.cpp - From IR to the tables of a plan -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PlanTables.h and PlanTableBuilder.h.
//
//===----------------------------------------------------------------------===//

#include "passes/PlanTables.h"

#include "passes/OperatorBridge.h"
#include "passes/PlanArguments.h"
#include "passes/PlanTableBuilder.h"
#include "passes/TrainStep.h"
#include "passes/analysis/Lifetimes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sfsdp;

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void TableBuilder::append(decltype(plan::Instruction::action) action,
                          ScopeAttr scope) {
  plan::Provenance origin;
  if (scope) {
    origin.module = scope.getModule().str();
    origin.phase = scope.getPhase() == Phase::Forward ? plan::Phase::Forward
                   : scope.getPhase() == Phase::Backward
                       ? plan::Phase::Backward
                       : plan::Phase::Optimizer;
    origin.source = scope.getSource() ? scope.getSource().str() : "";
    origin.pass = scope.getPass() ? scope.getPass().str() : "";
  }
  auto [entry, isNew] =
      provenance.try_emplace(origin, tables.provenance.size());
  if (isNew) {
    tables.provenance.push_back(origin);
  }
  tables.programs.back().instructions.push_back(
      {std::move(action), entry->second});
}

plan::KernelArgument TableBuilder::operand(Value value) const {
  if (!value) {
    return std::monostate();
  }
  if (isa<ScalarType>(value.getType())) {
    return plan::ScalarRef{scalars.lookup(value)};
  }
  return plan::ValueRef{values.lookup(value)};
}

LogicalResult TableBuilder::addAten(AtenOp op) {
  plan::KernelCall call;
  std::tie(call.name, call.overload) = kernelName(op.getCallee());
  auto inputs = op.getInputs().begin();
  for (Attribute argument : op.getArguments()) {
    call.arguments.push_back(
        kernelArgument(argument, [&]() { return operand(*inputs++); }));
  }
  SmallVector<std::optional<ViewSource>> views = viewsOf(op, schemas);
  SmallVector<int64_t> storageBytes = storageBytesOf(op, schemas);
  for (OpResult result : op->getResults()) {
    const std::optional<ViewSource> &source = views[result.getResultNumber()];
    plan::ValueId id =
        source ? addView(result, source->operand->get(), source->offset)
               : addFresh(result, "activation", plan::Region::Private);
    plan::Storage &storage = tables.storages[tables.values[id].storage];
    storage.bytes =
        std::max(storage.bytes, storageBytes[result.getResultNumber()]);
    call.results.emplace_back(id);
  }
  for (int64_t position : op.getAbsent().value_or(ArrayRef<int64_t>())) {
    call.results.insert(call.results.begin() + position, std::nullopt);
  }
  call.randomId = op.getRandomId();
  call.cost = costOf(op, schemas);
  append(std::move(call), op.getScopeAttr());
  return success();
}

LogicalResult TableBuilder::addAttention(Operation *op, StringRef name) {
  plan::KernelCall call;
  call.name = name.str();
  Value mask;
  bool causal = false;
  FloatAttr scale;
  size_t tensors = 0;
  TypeSwitch<Operation *>(op).Case<AttentionOp, AttentionBackwardOp>(
      [&](auto attention) {
        mask = attention.getMask();
        causal = attention.getCausal();
        scale = attention.getScaleAttr();
        tensors = op->getNumOperands() - (mask ? 1 : 0);
      });
  for (size_t i = 0; i < tensors; ++i) {
    call.arguments.push_back(operand(op->getOperand(i)));
  }
  call.arguments.push_back(operand(mask));
  call.arguments.emplace_back(/*dropout_p=*/0.0);
  call.arguments.emplace_back(causal);
  call.arguments.push_back(scale
                               ? plan::KernelArgument(scale.getValueAsDouble())
                               : std::monostate());
  for (OpResult result : op->getResults()) {
    call.results.emplace_back(
        addFresh(result, "activation", plan::Region::Private));
  }
  call.cost = costOf(op, schemas);
  append(std::move(call), scopeOf(op));
  return success();
}

LogicalResult TableBuilder::addLocalChunk(LocalChunkOp op) {
  plan::KernelCall call;
  call.name = "sfsdp::local_chunk";
  call.arguments = {operand(op.getFull()), operand(op.getCoordinate()),
                    tables.header.mesh.axisSize(op.getAxis())};
  call.results.emplace_back(
      addFresh(op.getChunk(), "gradient", plan::Region::Private));
  call.cost = costOf(op, schemas);
  append(std::move(call), op.getScopeAttr());
  return success();
}

LogicalResult TableBuilder::addScalar(Operation *op) {
  plan::Scalar scalar;
  TypeSwitch<Operation *>(op)
      .Case([&](ScalarConstantOp constant) {
        scalar.op = plan::ScalarOp::Constant;
        scalar.constant = constant.getValue().convertToDouble();
      })
      .Case([&](ScalarComputeOp compute) {
        scalar.op = scalarOp(compute.getFunction());
        for (Value operand : compute->getOperands()) {
          scalar.operands.push_back(scalars.lookup(operand));
        }
      })
      .Case([&](MeshCoordinateOp coordinate) {
        scalar.op = plan::ScalarOp::MeshCoordinate;
        scalar.axis = coordinate.getAxis().str();
      })
      .Case([&](ValidRowsOp rows) {
        scalar.op = plan::ScalarOp::ValidRows;
        scalar.axis = rows.getAxis().str();
        scalar.rows = rows.getRows();
      });
  scalars[op->getResult(0)] = tables.scalars.size();
  tables.scalars.push_back(std::move(scalar));
  return success();
}

LogicalResult TableBuilder::addCollective(CollectiveOpInterface op) {
  FailureOr<plan::CollectiveStart> start = collectiveStart(op);
  if (failed(start)) {
    return failure();
  }
  int64_t groupSize = 1;
  for (const std::string &axis : start->axes) {
    groupSize *= tables.header.mesh.axisSize(axis);
  }
  bool gathers = start->kind == plan::CollectiveKind::AllGather;
  for (auto [index, type] : llvm::enumerate(op.getMemberResultTypes())) {
    plan::CollectiveMemberRef &member = start->members[index];
    member.input = values.lookup(op.getMembers()[index]);
    shareWithPeers(member.input, gathers ? "shard" : "gradient");
    plan::StorageId storage = addStorage(
        /*bytes=*/0, gathers ? "gathered" : "gradient", plan::Region::Arena);
    member.output = addValue(type, storage, /*offset=*/0);
    // A gather writes whole chunks: its storage ends with the last one.
    tables.storages[storage].bytes =
        gathers ? groupSize * plan::spanBytes(tables.values[member.input])
                : plan::spanBytes(tables.values[member.output]);
  }
  start->bytesReceived = bytesReceived(*start, tables, groupSize);
  starts[op] = tables.programs.back().instructions.size();
  append(std::move(*start), scopeOf(op));
  if (!op.isStart()) {
    waitFor(op, op->getResults());
  }
  return success();
}

void TableBuilder::waitFor(Operation *collective, ValueRange outputs) {
  int64_t index = starts.lookup(collective);
  const auto &instruction = tables.programs.back().instructions[index];
  const auto &start = std::get<plan::CollectiveStart>(instruction.action);
  for (auto [output, member] : llvm::zip(outputs, start.members)) {
    values[output] = member.output;
  }
  append(plan::CollectiveWait{index}, scopeOf(collective));
}

LogicalResult TableBuilder::addWait(WaitOp op) {
  waitFor(op.getPending().getDefiningOp(), op.getResults());
  return success();
}

LogicalResult TableBuilder::addOperation(Operation &op) {
  return TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](AtenOp aten) { return addAten(aten); })
      .Case([&](AttentionOp) { return addAttention(&op, "sfsdp::attention"); })
      .Case([&](AttentionBackwardOp) {
        return addAttention(&op, "sfsdp::attention_backward");
      })
      .Case([&](AccumulateOp accumulate) { return addAccumulate(accumulate); })
      .Case([&](UpdateOpInterface update) { return addUpdate(update); })
      .Case<ChunkNormsOp, TotalNormOp, ClipCoefficientOp, IsFiniteOp>(
          [&](auto) { return addNorm(&op); })
      .Case([&](LocalChunkOp chunk) { return addLocalChunk(chunk); })
      .Case<ScalarConstantOp, ScalarComputeOp, MeshCoordinateOp, ValidRowsOp>(
          [&](auto) { return addScalar(&op); })
      .Case([&](CollectiveOpInterface collective) {
        return addCollective(collective);
      })
      .Case([&](WaitOp wait) { return addWait(wait); })
      .Case([&](func::ReturnOp) { return success(); })
      .Default([&](Operation *) {
        return op.emitOpError() << "expected an operation that a plan can hold";
      });
}

/// The values that exist once `instruction` has run or, for a collective,
/// started.
static std::vector<plan::ValueId>
definedValues(const plan::Instruction &instruction) {
  std::vector<plan::ValueId> values;
  if (auto *call = std::get_if<plan::KernelCall>(&instruction.action)) {
    for (const std::optional<plan::ValueId> &result : call->results) {
      if (result) {
        values.push_back(*result);
      }
    }
  }
  if (auto *start = std::get_if<plan::CollectiveStart>(&instruction.action)) {
    for (const plan::CollectiveMemberRef &member : start->members) {
      values.push_back(member.output);
    }
  }
  return values;
}

/// A collective is ready after the last definition of what it sends.
static void setReady(plan::Plan &tables) {
  std::vector<int64_t> definedAt(tables.values.size(), -1);
  for (auto [index, instruction] :
       llvm::enumerate(tables.programs.back().instructions)) {
    if (auto *start = std::get_if<plan::CollectiveStart>(&instruction.action)) {
      start->ready = -1;
      for (const plan::CollectiveMemberRef &member : start->members) {
        start->ready = std::max(start->ready, definedAt[member.input]);
      }
    }
    for (plan::ValueId value : definedValues(instruction)) {
      definedAt[value] = index;
    }
  }
}

/// A collective is needed at the first later use of memory that it fills.
static void setNeeded(plan::Plan &tables) {
  std::vector<plan::Instruction> &instructions =
      tables.programs.back().instructions;
  std::vector<int64_t> neededAt(tables.storages.size(), instructions.size());
  for (int64_t i = instructions.size(); i-- > 0;) {
    if (auto *start =
            std::get_if<plan::CollectiveStart>(&instructions[i].action)) {
      start->needed = instructions.size();
      for (const plan::CollectiveMemberRef &member : start->members) {
        start->needed = std::min(
            start->needed, neededAt[tables.values[member.output].storage]);
      }
    }
    for (plan::ValueId value :
         ::sfsdp::analysis::touchedValues(instructions[i])) {
      neededAt[tables.values[value].storage] = i;
    }
  }
}

LogicalResult TableBuilder::addProgram(func::FuncOp program) {
  function = program;
  values.clear();
  scalars.clear();
  starts.clear();
  tables.programs.push_back({function.getName().str(), {}});
  for (BlockArgument argument : function.getArguments()) {
    if (failed(addArgument(argument))) {
      return failure();
    }
  }
  for (Operation &op : function.getBody().front()) {
    if (failed(addOperation(op))) {
      return failure();
    }
  }
  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
    if (failed(addResult(value, index))) {
      return failure();
    }
  }
  copyBackUpdates();
  setReady(tables);
  setNeeded(tables);
  return success();
}

FailureOr<plan::Plan> TableBuilder::build(ArrayRef<func::FuncOp> programs) {
  function = programs.front();
  if (failed(addHeader())) {
    return failure();
  }
  for (func::FuncOp program : programs) {
    if (failed(addProgram(program))) {
      return failure();
    }
  }
  return std::move(tables);
}

FailureOr<plan::Plan>
mlir::sfsdp::buildPlanTables(ArrayRef<func::FuncOp> programs,
                             ::sfsdp::rules::SchemaTable &schemas) {
  return TableBuilder(schemas).build(programs);
}
