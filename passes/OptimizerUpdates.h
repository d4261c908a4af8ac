//===- OptimizerUpdates.h - The operations of an optimizer ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the update of each parameter, with the arguments and results that it
// needs. Where an update may stand is decided by the pass.
//
// Tested by test/passes/append-optimizer*.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_OPTIMIZERUPDATES_H
#define SFSDP_PASSES_OPTIMIZERUPDATES_H

#include "passes/OptimizerScalars.h"

namespace mlir::sfsdp {

/// Appends updates to one function. The hyper-parameters and their scalars are
/// made at once; states and results when they are needed and at `finish`.
class UpdateWriter {
public:
  UpdateWriter(func::FuncOp function, const UpdateRule &rule,
               ArrayRef<TrainedParameter> trained);

  /// Updates `parameter` by `gradient` after `anchor`, or at the start of the
  /// function when that is null. Updates with one anchor keep their order.
  void update(const TrainedParameter &parameter, Value gradient,
              Operation *anchor);

  /// Returns the new values: parameter, then states, for each update in turn.
  void finish();

private:
  void appendArguments(ArrayRef<TrainedParameter> trained);
  Operation *createUpdate(OpBuilder &builder, const TrainedParameter &parameter,
                          Value gradient, ScopeAttr scope);

  func::FuncOp function;
  UpdateRule rule;
  SmallVector<StringRef> slots;
  /// States by argument number of their parameter, in the order of `slots`.
  DenseMap<unsigned, SmallVector<Value>> states;
  Value lr, step;
  std::optional<ScalarWriter> scalars;
  /// The last update after each anchor.
  DenseMap<Operation *, Operation *> lastAfter;

  struct NewValue {
    Value value;
    DictionaryAttr attributes;
  };
  SmallVector<NewValue> newValues;
};

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_OPTIMIZERUPDATES_H
