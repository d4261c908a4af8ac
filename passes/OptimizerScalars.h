//===- OptimizerScalars.h - Numbers that depend on the step ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host scalars of an optimizer, computed in the order of PyTorch's Python code,
// once for all parameters with the same learning rate and weight decay.
//
// Tested by test/passes/append-optimizer*.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_OPTIMIZERSCALARS_H
#define SFSDP_PASSES_OPTIMIZERSCALARS_H

#include "passes/OptimizerRule.h"

#include <map>

namespace mlir::sfsdp {

/// What updates take; null where the optimizer has none.
struct StepScalars {
  Value decay;      ///< 1 - lr * weight_decay
  Value stepSize;   ///< -lr, or -(lr / (1 - beta1 ** step))
  Value correction; ///< (1 - beta2 ** step) ** 0.5
};

class ScalarWriter {
public:
  /// Writes at the start of `function`.
  ScalarWriter(func::FuncOp function, const UpdateRule &rule, Value lr,
               Value step);

  /// The scalars for `parameter`, written when they are first asked for.
  const StepScalars &scalarsFor(const TrainedParameter &parameter);

  /// Null before the first one.
  Operation *lastScalar() const { return last; }

private:
  Value constant(double value);
  Value compute(ScalarFunction function, ValueRange operands);
  Value one();
  Value decayOf(Value lr, double weightDecay);
  Value stepSizeOf(Value lr);
  Value correctionOfSecond();

  OpBuilder builder;
  Location loc;
  UpdateRule rule;
  Value lr, step;
  /// Shared by all groups; null until needed.
  Value unit, correctionOfFirst, rootOfSecond;
  Operation *last = nullptr;
  /// By factor of the learning rate and weight decay.
  std::map<std::pair<double, double>, StepScalars> groups;
};

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_OPTIMIZERSCALARS_H
