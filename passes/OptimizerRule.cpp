//===- OptimizerRule.cpp - An optimizer with its numbers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/append-optimizer*.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/OptimizerRule.h"

#include "passes/NamePatterns.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sfsdp;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Warns of options that change nothing under the chosen optimizer.
static void warnOfUnused(ModuleOp module, const UpdateRule &rule) {
  auto warn = [&](bool isGiven, StringRef option, StringRef owner) {
    if (isGiven) {
      module.emitWarning() << "option " << option << ": only " << owner
                           << " it, so it changes nothing";
    }
  };
  if (rule.optimizer != Optimizer::Sgd) {
    warn(rule.momentum != 0, "momentum", "sgd has");
    warn(rule.nesterov, "nesterov", "sgd has");
  }
  if (!rule.hasMoments()) {
    warn(rule.hasOwnBetas, "betas", "adam and adamw have");
    warn(rule.eps != UpdateRule().eps, "eps", "adam and adamw have");
  }
}

FailureOr<UpdateRule> mlir::sfsdp::checkRule(ModuleOp module,
                                             const UpdateRule &rule) {
  auto refuse = [&](StringRef option, StringRef expected, double got) {
    return module.emitError() << "option " << option << ": expected "
                              << expected << ", got " << got;
  };
  auto isRate = [](double number) {
    return number >= 0 && std::isfinite(number);
  };
  if (!isRate(rule.weightDecay)) {
    return refuse("weight-decay", "a finite number that is not negative",
                  rule.weightDecay);
  }
  for (double beta : {rule.beta1, rule.beta2}) {
    bool isDecay = beta >= 0 && beta < 1; // false for NaN
    if (!isDecay) {
      return refuse("betas", "numbers from 0 to below 1", beta);
    }
  }
  if (!isRate(rule.eps)) {
    return refuse("eps", "a finite number that is not negative", rule.eps);
  }
  if (!isRate(rule.momentum)) {
    return refuse("momentum", "a finite number that is not negative",
                  rule.momentum);
  }
  if (rule.optimizer == Optimizer::Sgd && rule.nesterov && rule.momentum == 0) {
    return refuse("nesterov", "momentum with it", rule.momentum);
  }
  warnOfUnused(module, rule);
  return rule;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

namespace {

/// Patterns of lr-scale, and the factor of each.
struct LrScales {
  NamePatterns patterns{"lr-scale"};
  SmallVector<double> factors;

  LogicalResult parse(ModuleOp module, ArrayRef<std::string> texts) {
    SmallVector<std::string> names;
    for (const std::string &text : texts) {
      auto [name, number] = StringRef(text).rsplit(':');
      double factor = 0;
      if (name.empty() || number.empty() || !llvm::to_float(number, factor) ||
          !(factor >= 0) || !std::isfinite(factor)) {
        return module.emitError()
               << "option lr-scale: expected a pattern and a finite factor "
                  "that is not negative, as in *.bias:0.5, got '"
               << text << "'";
      }
      names.push_back(name.str());
      factors.push_back(factor);
    }
    return patterns.parse(module, names);
  }
};

} // namespace

LogicalResult
mlir::sfsdp::chooseGroups(ModuleOp module, const UpdateRule &rule,
                          const GroupOptions &options,
                          MutableArrayRef<TrainedParameter> trained) {
  NamePatterns noDecay("no-decay");
  LrScales scales;
  if (failed(noDecay.parse(module, options.noDecay)) ||
      failed(scales.parse(module, options.lrScales))) {
    return failure();
  }
  for (TrainedParameter &parameter : trained) {
    parameter.decays = !noDecay.match(parameter.role);
    if (std::optional<size_t> entry = scales.patterns.match(parameter.role)) {
      parameter.lrScale = scales.factors[*entry];
    }
  }
  if (!noDecay.empty() && rule.weightDecay == 0) {
    module.emitWarning()
        << "option no-decay: changes nothing, as weight-decay is 0";
  }
  constexpr StringLiteral kTrained = "parameter with a gradient";
  noDecay.warnOfUnused(module, kTrained);
  scales.patterns.warnOfUnused(module, kTrained);
  scales.patterns.warnOfHidden(module);
  return success();
}
