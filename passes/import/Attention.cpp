//===- Attention.cpp - Pairs of attention kernels -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Attention.h.
//
// Tested by test/unit/passes/import/AttentionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/import/Attention.h"

#include "passes/AttentionKernels.h"

#include <algorithm>
#include <numeric>

namespace sfsdp::exported {

namespace {

/// Indices of the parameters of both kernels.
enum ForwardParameter : size_t {
  kForwardDropout = 3,
  kForwardCausal = 4,
  kForwardMask = 5,
  kForwardScale = 6,
};
enum BackwardParameter : size_t {
  kBackwardDropout = 6,
  kBackwardCausal = 7,
  kBackwardMask = 8,
  kBackwardScale = 9,
};

/// Operands of the backward: grad_out, query, key, value, out, logsumexp[,
/// attn_mask]; those of the forward: query, key, value[, attn_mask].
constexpr size_t kGradientCount = 1;
constexpr size_t kInputCount = 3;
constexpr size_t kOutputOperand = 4;
constexpr size_t kSavedOperand = 5;
constexpr size_t kBackwardInputs = 6;

std::string describeCall(const CapturedCall &call) {
  std::string text = "node \"" + call.node + "\"";
  if (!call.scope.source.empty()) {
    text += " at " + call.scope.source;
  }
  return text + ": operator " + call.call.schema->name;
}

class AttentionMatcher {
public:
  explicit AttentionMatcher(CapturedStep &step)
      : step(step), origins(step.values.size()),
        producers(step.values.size(), step.calls.size()) {
    std::iota(origins.begin(), origins.end(), ValueId{0});
  }

  Status run() {
    for (size_t index = 0; index < step.calls.size(); ++index) {
      if (Status status = visit(index); !status.ok()) {
        return status;
      }
    }
    return Status();
  }

private:
  Status visit(size_t index) {
    CapturedCall &call = step.calls[index];
    for (const std::optional<ValueId> &result : call.results) {
      if (!result) {
        continue;
      }
      producers[*result] = index;
      if (call.rule != nullptr && call.rule->isIdentity &&
          !call.operands.empty()) {
        origins[*result] = origins[call.operands.front()];
      }
    }
    std::string_view name = call.call.schema->name;
    if (name == rules::kAttentionForward && isWhole(call, kInputCount)) {
      return markForward(call);
    }
    if (name == rules::kAttentionBackward && isWhole(call, kBackwardInputs)) {
      return markBackward(call);
    }
    return Status();
  }

  /// Whether all results and the first `inputs` arguments are tensors.
  static bool isWhole(const CapturedCall &call, size_t inputs) {
    return call.operands.size() >= inputs &&
           std::ranges::all_of(call.results, [](const auto &result) {
             return result.has_value();
           });
  }

  Status markForward(CapturedCall &call) {
    call.attention = AttentionPart::Forward;
    return checkNoDropout(call, kForwardDropout);
  }

  Status markBackward(CapturedCall &call) {
    size_t forward = producers[origins[call.operands[kSavedOperand]]];
    if (forward == step.calls.size() ||
        step.calls[forward].attention != AttentionPart::Forward) {
      return mismatch(call, "logsumexp", call.operands[kSavedOperand]);
    }
    call.attention = AttentionPart::Backward;
    call.attentionForward = forward;
    if (Status status = checkPair(step.calls[forward], call); !status.ok()) {
      return status;
    }
    readForward(step.calls[forward], call);
    return checkNoDropout(call, kBackwardDropout);
  }

  Status checkPair(const CapturedCall &forward,
                   const CapturedCall &backward) const {
    auto isSame = [&](ValueId left, ValueId right) {
      return origins[left] == origins[right];
    };
    if (!isSame(backward.operands[kSavedOperand], *forward.results[1])) {
      return mismatch(backward, "logsumexp", backward.operands[kSavedOperand]);
    }
    if (!isSame(backward.operands[kOutputOperand], *forward.results[0])) {
      return mismatch(backward, "out", backward.operands[kOutputOperand]);
    }
    bool agrees = true;
    for (size_t i = 0; i < kInputCount; ++i) {
      agrees &=
          isSame(backward.operands[kGradientCount + i], forward.operands[i]);
    }
    auto agreesOn = [&](size_t ofForward, size_t ofBackward) {
      return forward.call.arguments[ofForward] ==
             backward.call.arguments[ofBackward];
    };
    agrees &= agreesOn(kForwardCausal, kBackwardCausal);
    agrees &= agreesOn(kForwardScale, kBackwardScale);
    agrees &= agreesOn(kForwardMask, kBackwardMask);
    if (agrees && !forward.call.isNone(kForwardMask)) {
      agrees = isSame(forward.operands.back(), backward.operands.back());
    }
    if (!agrees) {
      return Status::error(describeCall(backward) +
                           ": expected query, key, value, is_causal, "
                           "attn_mask and scale of node \"" +
                           forward.node + "\", whose results it reads");
    }
    return Status();
  }

  /// Replaces renamed operands by those that the forward has and makes.
  void readForward(const CapturedCall &forward, CapturedCall &backward) const {
    for (size_t i = 0; i < kInputCount; ++i) {
      backward.operands[kGradientCount + i] = forward.operands[i];
    }
    backward.operands[kOutputOperand] = *forward.results[0];
    backward.operands[kSavedOperand] = *forward.results[1];
    if (!forward.call.isNone(kForwardMask)) {
      backward.operands.back() = forward.operands.back();
    }
  }

  Status mismatch(const CapturedCall &backward, std::string_view what,
                  ValueId value) const {
    size_t producer = producers[origins[value]];
    std::string source = producer == step.calls.size()
                             ? "graph input \"" + step.values[value].name + "\""
                             : describeCall(step.calls[producer]);
    return Status::error(
        describeCall(backward) + ": expected " + std::string(what) +
        " to come from the matching " + std::string(rules::kAttentionForward) +
        ", got it from " + source +
        "; the gradients would be wrong; capture with simplefsdp_capture, "
        "which keeps both kernels of attention");
  }

  static Status checkNoDropout(const CapturedCall &call, size_t index) {
    if (call.call.number(index).value_or(0) == 0) {
      return Status();
    }
    return Status::error(describeCall(call) +
                         ": expected dropout_p 0: dropout inside of attention "
                         "is not supported; set it to 0");
  }

  CapturedStep &step;
  /// The value that each value is a mere renaming of; itself for most.
  std::vector<ValueId> origins;
  /// The call that makes each value; the number of calls for graph inputs.
  std::vector<size_t> producers;
};

} // namespace

Status matchAttention(CapturedStep &step) {
  return AttentionMatcher(step).run();
}

} // namespace sfsdp::exported
