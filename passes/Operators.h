//===- Operators.h - Operators as passes see and make them ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Yes-or-no questions about an operation, answered by the rules, and the few
// operators that passes make themselves.
//
// Tested by the tests of the passes in test/passes/.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_OPERATORS_H
#define SFSDP_PASSES_OPERATORS_H

#include "dialect/Sfsdp.h"

namespace mlir::sfsdp {

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

/// Whether `op` may be moved and computed again: no effect and no regions, and
/// it draws no random numbers and overwrites no operand.
bool isRepeatable(Operation *op);

/// Whether `op` may have effects that nobody knows: nothing may cross it.
bool isBarrier(Operation *op);

/// Whether `op` converts the element type of its only tensor operand.
bool isCast(Operation *op);

/// Whether `op` only renames its only tensor operand.
bool isIdentity(Operation *op);

//===----------------------------------------------------------------------===//
// Operators that passes make, before the insertion point of `builder`
//===----------------------------------------------------------------------===//

/// `value` converted to `elementType`, in its own strides if they are dense and
/// contiguous otherwise; `value` itself when it has that type.
Value castTo(OpBuilder &builder, Location loc, Value value, Type elementType,
             ScopeAttr scope);

/// `value` copied into the layout of `type`, which has its shape and element
/// type and is dense; `value` itself when it has that type.
Value copyTo(OpBuilder &builder, Location loc, Value value,
             RankedTensorType type, ScopeAttr scope);

/// `a` + `b`, of one type.
Value add(OpBuilder &builder, Location loc, Value a, Value b, ScopeAttr scope);

/// `value` / `divisor`, in the type and strides of `value`, which is dense.
Value divide(OpBuilder &builder, Location loc, Value value, double divisor,
             ScopeAttr scope);

/// `value` / `divisor`, a tensor of no dimensions, in the type of `value`.
Value divideBy(OpBuilder &builder, Location loc, Value value, Value divisor,
               ScopeAttr scope);

/// `value` copied into fresh memory, in its own strides if they are dense and
/// contiguous otherwise.
Value cloneOf(OpBuilder &builder, Location loc, Value value, ScopeAttr scope);

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_OPERATORS_H
