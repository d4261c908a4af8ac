//===- OperatorBridge.h - From operations to the rules ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules know operators as plain data (`rules::OperatorCall`), the IR knows
// them as `sfsdp.aten`, `sfsdp.attention` and `sfsdp.attention_backward`. Every
// pass that asks a rule about an operation does it through these functions.
//
// Tested by test/unit/passes/OperatorBridgeTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_OPERATORBRIDGE_H
#define SFSDP_PASSES_OPERATORBRIDGE_H

#include "dialect/Sfsdp.h"
#include "passes/rules/Rules.h"

namespace mlir::sfsdp {

namespace rules = ::sfsdp::rules;
namespace runtime = ::sfsdp::runtime;

//===----------------------------------------------------------------------===//
// Types and arguments
//===----------------------------------------------------------------------===//

/// Absent for an element type that no plan can hold.
std::optional<runtime::DType> toDType(Type elementType);
Type toType(MLIRContext *context, runtime::DType dtype);

/// Requires an element type that toDType knows.
rules::TensorLayout layoutOf(RankedTensorType type);
RankedTensorType toTensorType(MLIRContext *context,
                              const rules::TensorLayout &layout);

/// The attribute that stands in the arguments of `sfsdp.aten`: operand markers
/// for tensors, in the argument's own order. An empty list of any kind is one
/// of integers, as the parser reads it.
Attribute toAttribute(MLIRContext *context, const rules::Argument &argument);

//===----------------------------------------------------------------------===//
// Questions about operations
//===----------------------------------------------------------------------===//

/// The call that `op` makes, defaults filled in, checked against the schema.
/// Requires one of the operations named above. Emits an error for an operator
/// without schema and for arguments that do not fit. The call points into
/// `table`.
FailureOr<rules::OperatorCall> callOf(Operation *op, rules::SchemaTable &table);

/// Null for an operation without rule: an unknown operator, or none at all.
const rules::Rule *ruleOf(Operation *op);

/// The operand whose memory a result shares.
struct ViewSource {
  OpOperand *operand = nullptr;
  /// Elements from the start of the operand to the start of the result.
  int64_t offset = 0;
};

/// One entry per result; absent for fresh memory. Only what rules say: results
/// of an operator without rule are absent, though they may share memory, which
/// is one reason why such an operator is a barrier. An in-place update is no
/// view; ask InPlaceOpInterface.
SmallVector<std::optional<ViewSource>> viewsOf(Operation *op,
                                               rules::SchemaTable &table);

/// The entry of viewsOf for `result`.
std::optional<ViewSource> viewSource(OpResult result,
                                     rules::SchemaTable &table);

/// Bytes of the memory behind each result that is fresh: what the tensor
/// spans, or more where the rule says so. 0 for views and without rule.
SmallVector<int64_t> storageBytesOf(Operation *op, rules::SchemaTable &table);

/// What the cost model needs to know of `op`. Without a rule: class Optimizer
/// for an in-place update, Other for the rest, and the bytes of operands and
/// results.
runtime::CostFacts costOf(Operation *op, rules::SchemaTable &table);

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_OPERATORBRIDGE_H
