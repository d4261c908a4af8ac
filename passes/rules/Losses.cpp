//===- Losses.cpp - Softmax and losses ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/passes/rules/LayoutFixtureTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/rules/Costs.h"
#include "passes/rules/Families.h"
#include "passes/rules/LayoutAlgorithms.h"
#include "passes/rules/Results.h"

namespace sfsdp::rules {

namespace {

using Sizes = std::vector<int64_t>;

/// _softmax, _log_softmax: row-major. `half_to_float` is for devices.
Results softmax(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Expected<size_t> dim = dimOf(call, 1, 0);
  if (!dim) {
    return dim.status();
  }
  if (!runtime::isFloatingPoint(self.dtype) || call.boolean(2)) {
    return refuse(call, "expected floats, and half_to_float false, got " +
                            std::string(nameOf(self.dtype)));
  }
  return one(freshContiguous(self.dtype, self.sizes));
}

/// Backward of both, given the gradient and the forward's result.
Results softmaxBackward(const OperatorCall &call) {
  const TensorLayout &grad = call.tensor(0);
  const TensorLayout &output = call.tensor(1);
  Expected<size_t> dim = dimOf(call, 2, 0);
  if (!dim) {
    return dim.status();
  }
  if (grad.sizes != output.sizes) {
    return refuse(call, "expected a gradient of sizes " + shown(output.sizes) +
                            ", got " + shown(grad.sizes));
  }
  return one(freshContiguous(*call.dtype(3), grad.sizes));
}

/// _safe_softmax: rows of -inf become 0, by a `where` over the rows' flags.
Results safeSoftmax(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  Expected<size_t> dim = dimOf(call, 1, 0);
  if (!dim) {
    return dim.status();
  }
  DType dtype = call.dtype(2).value_or(self.dtype);
  if (!runtime::isFloatingPoint(dtype)) {
    return refuse(call, "expected floats, got " + std::string(nameOf(dtype)));
  }
  Sizes rows = self.sizes;
  if (!rows.empty()) {
    rows[*dim] = 1;
  }
  return one(fresh(*elementwiseLayout(
      dtype, {contiguousLayout(DType::Bool, rows), contiguousLayout(dtype, {}),
              contiguousLayout(dtype, self.sizes)})));
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// at::Reduction: 0 keeps one loss per sample.
bool keepsSamples(int64_t reduction) { return reduction == 0; }

/// nll_loss_forward: classes are the only or the second dimension. The second
/// result is the total weight.
Results nllLoss(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  const TensorLayout &target = call.tensor(1);
  bool isBatch = self.rank() == 2;
  if (self.rank() < 1 || self.rank() > 2 ||
      (isBatch ? target.sizes != Sizes{self.sizes[0]} : target.rank() > 1)) {
    return refuse(call, "sizes " + shown(self.sizes) + " and targets " +
                            shown(target.sizes) + " do not fit");
  }
  Sizes sizes =
      isBatch && keepsSamples(call.integer(3)) ? target.sizes : Sizes();
  return ResultLayouts{freshContiguous(self.dtype, std::move(sizes)),
                       freshContiguous(self.dtype, {})};
}

/// nll_loss2d_forward: [batch, classes, height, width].
Results nllLoss2d(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  if (Status status = requireRank(call, 0, 4); !status.ok()) {
    return status;
  }
  Sizes samples = {self.sizes[0], self.sizes[2], self.sizes[3]};
  if (call.tensor(1).sizes != samples) {
    return refuse(call, "expected targets of sizes " + shown(samples) +
                            ", got " + shown(call.tensor(1).sizes));
  }
  Sizes sizes = keepsSamples(call.integer(3)) ? samples : Sizes();
  return ResultLayouts{freshContiguous(self.dtype, std::move(sizes)),
                       freshContiguous(self.dtype, {})};
}

/// A row-major gradient of the sizes of argument 1.
Results lossBackward(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(1);
  return one(freshContiguous(self.dtype, self.sizes));
}

/// nll_loss2d_backward keeps the strides of `self`.
Results imageLossBackward(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(1);
  return one(fresh(emptyLike(self, self.dtype)));
}

/// mse_loss, smooth_l1_loss, …: `reduction` is the argument of that name.
Results pairLoss(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  const TensorLayout &target = call.tensor(1);
  std::optional<TensorLayout> samples =
      elementwiseLayout(self.dtype, {self, castTo(target, self.dtype)});
  if (!samples || self.dtype != target.dtype) {
    return refuse(call, "expected 'target' like sizes " + shown(self.sizes) +
                            " of " + std::string(nameOf(self.dtype)) +
                            ", got sizes " + shown(target.sizes) + " of " +
                            std::string(nameOf(target.dtype)));
  }
  if (keepsSamples(call.integer(indexOf(call, "reduction")))) {
    return one(fresh(std::move(*samples)));
  }
  // The kernel reduces its samples in place of them and keeps their memory.
  ResultLayout mean = freshContiguous(self.dtype, {});
  mean.storageBytes = samples->bytes();
  return one(std::move(mean));
}

/// binary_cross_entropy, huber_loss: samples are written like `self`.
Results likeSelfLoss(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  if (self.sizes != call.tensor(1).sizes ||
      self.dtype != call.tensor(1).dtype) {
    return refuse(call, "expected 'target' like sizes " + shown(self.sizes) +
                            ", got " + shown(call.tensor(1).sizes));
  }
  return one(keepsSamples(call.integer(indexOf(call, "reduction")))
                 ? fresh(emptyLike(self, self.dtype))
                 : freshContiguous(self.dtype, {}));
}

/// binary_cross_entropy_with_logits: samples are written like 1 - target.
Results logitLoss(const OperatorCall &call) {
  const TensorLayout &self = call.tensor(0);
  const TensorLayout &target = call.tensor(1);
  if (self.sizes != target.sizes || self.dtype != target.dtype) {
    return refuse(call, "expected 'target' like sizes " + shown(self.sizes) +
                            ", got " + shown(target.sizes));
  }
  return one(keepsSamples(call.integer(indexOf(call, "reduction")))
                 ? fresh(emptyLike(target, target.dtype))
                 : freshContiguous(self.dtype, {}));
}

/// One FLOP per element of what the loss is taken of.
constexpr Rule rule(std::string_view name,
                    Results (*layout)(const OperatorCall &)) {
  return {.name = name, .layout = layout, .cost = reductionCost};
}

constexpr Rule backwardRule(std::string_view name,
                            Results (*layout)(const OperatorCall &)) {
  return {.name = name, .layout = layout, .cost = pointwiseCost};
}

constexpr Rule kRules[] = {
    rule("_log_softmax.default", softmax),
    backwardRule("_log_softmax_backward_data.default", softmaxBackward),
    rule("_safe_softmax.default", safeSoftmax),
    rule("_softmax.default", softmax),
    backwardRule("_softmax_backward_data.default", softmaxBackward),
    rule("binary_cross_entropy.default", likeSelfLoss),
    backwardRule("binary_cross_entropy_backward.default", imageLossBackward),
    rule("binary_cross_entropy_with_logits.default", logitLoss),
    rule("huber_loss.default", likeSelfLoss),
    backwardRule("huber_loss_backward.default", lossBackward),
    rule("mse_loss.default", pairLoss),
    backwardRule("mse_loss_backward.default", lossBackward),
    backwardRule("nll_loss2d_backward.default", imageLossBackward),
    rule("nll_loss2d_forward.default", nllLoss2d),
    backwardRule("nll_loss_backward.default", lossBackward),
    rule("nll_loss_forward.default", nllLoss),
    rule("smooth_l1_loss.default", pairLoss),
    backwardRule("smooth_l1_loss_backward.default", lossBackward),
};

} // namespace

std::span<const Rule> lossRules() { return kRules; }

} // namespace sfsdp::rules
