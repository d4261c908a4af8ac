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

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"

namespace mlir::sfsdp {

inline constexpr llvm::StringLiteral kAppendOptimizerPassName =
    "sfsdp-append-optimizer";

/// An optimizer with its numbers; defaults are those of torch.optim.
struct UpdateRule {
  Optimizer optimizer = Optimizer::AdamW;
  double weightDecay = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  bool hasOwnBetas = false; ///< given, not defaults
  double eps = 1e-8;
  double momentum = 0;
  bool nesterov = false;
};

/// `rule`, or a diagnostic on a number out of its range and on an optimizer
/// that is not built. Warns of options that the optimizer does not have.
FailureOr<UpdateRule> checkRule(ModuleOp module, const UpdateRule &rule);

/// A parameter with a gradient.
struct TrainedParameter {
  BlockArgument argument;
  StringAttr name;
  unsigned gradient = 0; ///< position among the results
};

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
  void computeScalars();
  Operation *updateByAdamW(OpBuilder &builder, Location loc, Value parameter,
                           Value gradient, ValueRange states, ScopeAttr scope);
  Operation *updateBySgd(OpBuilder &builder, Location loc, Value parameter,
                         Value gradient, ValueRange states, ScopeAttr scope);

  func::FuncOp function;
  UpdateRule rule;
  SmallVector<StringRef> slots;
  /// States by argument number of their parameter, in the order of `slots`.
  DenseMap<unsigned, SmallVector<Value>> states;
  Value lr, step;
  /// AdamW: decay, step_size, correction. SGD: step_size.
  SmallVector<Value> scalars;
  Operation *lastScalar = nullptr;
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
