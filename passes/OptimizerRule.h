//===- OptimizerRule.h - An optimizer with its numbers --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/append-optimizer*.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_OPTIMIZERRULE_H
#define SFSDP_PASSES_OPTIMIZERRULE_H

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

  /// Adam and AdamW: two moments, and numbers that depend on the step.
  bool hasMoments() const {
    return optimizer == Optimizer::Adam || optimizer == Optimizer::AdamW;
  }
};

/// `rule`, or a diagnostic on a number out of its range. Warns of options that
/// the optimizer does not have.
FailureOr<UpdateRule> checkRule(ModuleOp module, const UpdateRule &rule);

/// A parameter with a gradient.
struct TrainedParameter {
  BlockArgument argument;
  RoleAttr role;
  unsigned gradient = 0; ///< position among the results
  double lrScale = 1;    ///< factor of the learning rate
  bool decays = true;    ///< false: its weight decay is 0

  StringAttr name() const { return role.getName(); }
};

/// Options that choose parameters by patterns of names.
struct GroupOptions {
  ArrayRef<std::string> noDecay;
  ArrayRef<std::string> lrScales; ///< "PATTERN:X"
};

/// Sets `lrScale` and `decays` of `trained`. Fails with a diagnostic on text
/// that is none, and warns of what changes nothing.
LogicalResult chooseGroups(ModuleOp module, const UpdateRule &rule,
                           const GroupOptions &options,
                           MutableArrayRef<TrainedParameter> trained);

} // namespace mlir::sfsdp

#endif // SFSDP_PASSES_OPTIMIZERRULE_H
