//===- OptimizerScalars.cpp - Numbers that depend on the step -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The comments are the expressions of torch/optim/adam.py and sgd.py.
//
// Tested by test/passes/append-optimizer*.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/OptimizerScalars.h"

using namespace mlir;
using namespace mlir::sfsdp;

ScalarWriter::ScalarWriter(func::FuncOp function, const UpdateRule &rule,
                           Value lr, Value step)
    : builder(function.getContext()), loc(function.getLoc()), rule(rule),
      lr(lr), step(step) {
  builder.setInsertionPointToStart(&function.getBody().front());
}

Value ScalarWriter::constant(double value) {
  auto op = ScalarConstantOp::create(builder, loc, APFloat(value));
  last = op;
  return op;
}

Value ScalarWriter::compute(ScalarFunction function, ValueRange operands) {
  auto op = ScalarComputeOp::create(builder, loc, function, operands);
  last = op;
  return op;
}

Value ScalarWriter::one() {
  unit = unit ? unit : constant(1);
  return unit;
}

// 1 - lr * weight_decay
Value ScalarWriter::decayOf(Value lr, double weightDecay) {
  Value first = one();
  Value product = compute(ScalarFunction::Mul, {lr, constant(weightDecay)});
  return compute(ScalarFunction::Sub, {first, product});
}

// value=-step_size with step_size = lr / bias_correction1, where
// bias_correction1 = 1 - beta1**step
Value ScalarWriter::stepSizeOf(Value lr) {
  if (!correctionOfFirst) {
    Value first = one();
    Value power = compute(ScalarFunction::Pow, {constant(rule.beta1), step});
    correctionOfFirst = compute(ScalarFunction::Sub, {first, power});
  }
  Value quotient = compute(ScalarFunction::Div, {lr, correctionOfFirst});
  return compute(ScalarFunction::Neg, quotient);
}

// bias_correction2_sqrt = (1 - beta2**step) ** 0.5
Value ScalarWriter::correctionOfSecond() {
  if (!rootOfSecond) {
    Value first = one();
    Value power = compute(ScalarFunction::Pow, {constant(rule.beta2), step});
    Value correction = compute(ScalarFunction::Sub, {first, power});
    rootOfSecond = compute(ScalarFunction::Pow, {correction, constant(0.5)});
  }
  return rootOfSecond;
}

const StepScalars &ScalarWriter::scalarsFor(const TrainedParameter &parameter) {
  bool isDecoupled = rule.optimizer == Optimizer::AdamW;
  double weightDecay = isDecoupled && parameter.decays ? rule.weightDecay : 0;
  auto [group, isNew] = groups.try_emplace({parameter.lrScale, weightDecay});
  StepScalars &scalars = group->second;
  if (!isNew) {
    return scalars;
  }
  Value rate = lr;
  if (parameter.lrScale != 1) {
    rate = compute(ScalarFunction::Mul, {lr, constant(parameter.lrScale)});
  }
  if (isDecoupled) {
    scalars.decay = decayOf(rate, weightDecay);
  }
  if (rule.hasMoments()) {
    scalars.stepSize = stepSizeOf(rate);
    scalars.correction = correctionOfSecond();
  } else {
    scalars.stepSize = compute(ScalarFunction::Neg, rate); // alpha=-lr
  }
  return scalars;
}
