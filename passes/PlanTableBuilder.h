//===- PlanTableBuilder.h - State of the translation to a plan --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The class behind buildPlanTables. PlanSignature.cpp fills arguments, results
// and memory; PlanTables.cpp fills instructions and scalars, PlanUpdates.cpp
// those of the optimizer.
//
// Tested by test/passes/emit-plan.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_PLANTABLEBUILDER_H
#define SFSDP_PASSES_PLANTABLEBUILDER_H

#include "dialect/Sfsdp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/rules/Schema.h"
#include "runtime/Plan.h"

#include <map>

namespace mlir::sfsdp {

namespace plan = ::sfsdp::runtime;

/// Builds one plan from the functions of a step. What belongs to one function
/// is cleared when the next one begins.
class TableBuilder {
public:
  explicit TableBuilder(::sfsdp::rules::SchemaTable &schemas)
      : schemas(schemas) {}

  FailureOr<plan::Plan> build(ArrayRef<func::FuncOp> programs);

private:
  LogicalResult addProgram(func::FuncOp program);

  // Header, arguments, results.
  LogicalResult addHeader();
  LogicalResult addArgument(BlockArgument argument);
  LogicalResult addResult(Value value, unsigned index);
  /// Lets `argument` be one that an earlier program has too.
  LogicalResult useArgument(BlockArgument argument,
                            const plan::Argument &entry);
  /// The argument of that role, name and slot.
  std::optional<int64_t> argumentWithRole(RoleAttr role) const;
  /// The argument that a result of `role` writes to; absent for a new value.
  std::optional<int64_t> updatedArgument(RoleAttr role) const;
  /// Copies results that replace an argument without having been computed in
  /// its memory.
  void copyBackUpdates();

  // Memory.
  plan::StorageId addStorage(int64_t bytes, StringRef use, plan::Region region);
  plan::ValueId addValue(RankedTensorType type, plan::StorageId storage,
                         int64_t offset);
  /// A value on a storage of its own.
  plan::ValueId addFresh(Value value, StringRef use, plan::Region region);
  /// A value on the storage of `source`.
  plan::ValueId addView(Value value, Value source, int64_t offset);
  /// Puts the storage of `value` where peers can read it.
  void shareWithPeers(plan::ValueId value, StringRef use);

  // Instructions.
  LogicalResult addOperation(Operation &op);
  LogicalResult addAten(AtenOp op);
  LogicalResult addAttention(Operation *op, StringRef name);
  std::pair<std::string, std::vector<plan::KernelArgument>>
  updateCall(Operation *op) const;
  LogicalResult addUpdate(UpdateOpInterface op);
  LogicalResult addAccumulate(AccumulateOp op);
  /// Adds the call of an operation whose results take the memory of operands.
  LogicalResult addInPlace(Operation *op, plan::KernelCall call);
  LogicalResult addNorm(Operation *op);
  LogicalResult addLocalChunk(LocalChunkOp op);
  LogicalResult addScalar(Operation *op);
  LogicalResult addCollective(CollectiveOpInterface op);
  LogicalResult addWait(WaitOp op);
  void waitFor(Operation *collective, ValueRange outputs);
  void append(decltype(plan::Instruction::action) action, ScopeAttr scope);

  plan::KernelArgument operand(Value value) const;

  func::FuncOp function; ///< the one that is being added
  ::sfsdp::rules::SchemaTable &schemas;
  plan::Plan tables;
  DenseMap<Value, plan::ValueId> values;
  DenseMap<Value, plan::ScalarId> scalars;
  /// Starts by their pending value or, synchronous ones, by their operation.
  DenseMap<Operation *, int64_t> starts;
  std::map<plan::Provenance, plan::ProvenanceId> provenance;
};

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_PLANTABLEBUILDER_H
