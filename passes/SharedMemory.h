//===- SharedMemory.h - Which values of a function share memory -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A view shares the memory of its operand, and the result of an update that of
// the operand it overwrites. Operators that no rule knows may return views of
// any operand; then all of them count as one memory.
//
// Tested by test/passes/append-optimizer-aliases.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_SHAREDMEMORY_H
#define SFSDP_PASSES_SHAREDMEMORY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sfsdp {

class SharedMemory {
public:
  /// Asks every operation of `function` once; later changes are not seen.
  explicit SharedMemory(func::FuncOp function);

  bool share(Value a, Value b) const;

  /// All values that share memory with `value`, itself among them, in the
  /// order of the text.
  ArrayRef<Value> sharersOf(Value value) const;

private:
  /// Position of each value's class in `members`.
  DenseMap<Value, unsigned> classOf;
  SmallVector<SmallVector<Value, 2>, 0> members;
};

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_SHAREDMEMORY_H
