//===- ReductionOption.cpp - How gradients are summed and scaled ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/shard-hybrid.mlir, shard-reduction.mlir and
// shard-options-invalid.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/ReductionOption.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sfsdp;

static bool isHybridOnly(Reduction::Kind kind) {
  return kind == Reduction::Kind::Flat ||
         kind == Reduction::Kind::AllreduceFirst;
}

FailureOr<Reduction>
mlir::sfsdp::parseReduction(ModuleOp module, StringRef text, ShardMode mode) {
  Reduction reduction;
  StringRef digits = text;
  if (digits.consume_front("grouped:")) {
    reduction.kind = Reduction::Kind::Grouped;
    if (digits.getAsInteger(10, reduction.ranksPerBlock) ||
        reduction.ranksPerBlock < 1) {
      return module.emitError()
             << "option reduction: expected grouped:K with K ranks per block, "
                "got '"
             << text << "'";
    }
    if (mode == ShardMode::HybridShard) {
      return module.emitError()
             << "option reduction: hybrid_shard sums replica by replica, "
                "expected auto, ordered, flat or allreduce_first, got '"
             << text << "'";
    }
    return reduction;
  }
  if (text == "backend") {
    return module.emitError() << "option reduction: backend is not built yet, "
                                 "expected an order that every transport has";
  }
  auto kind = llvm::StringSwitch<std::optional<Reduction::Kind>>(text)
                  .Cases({"auto", "ordered"}, Reduction::Kind::Ordered)
                  .Case("flat", Reduction::Kind::Flat)
                  .Case("allreduce_first", Reduction::Kind::AllreduceFirst)
                  .Default(std::nullopt);
  if (!kind) {
    return module.emitError()
           << "option reduction: expected auto, ordered, flat, grouped:K or "
              "allreduce_first, got '"
           << text << "'";
  }
  reduction.kind = *kind;
  if (isHybridOnly(*kind) && mode != ShardMode::HybridShard) {
    module.emitWarning() << "option reduction: " << text
                         << " changes nothing, as only hybrid_shard has two "
                            "steps to order";
    reduction.kind = Reduction::Kind::Ordered;
  }
  return reduction;
}

FailureOr<GradientScale> mlir::sfsdp::parseGradientScale(ModuleOp module,
                                                         StringRef text) {
  GradientScale scale;
  if (text == "mean") {
    return scale;
  }
  scale.kind = GradientScale::Kind::Divisor;
  if (text == "sum") {
    return scale;
  }
  StringRef rest = text;
  if (rest.consume_front("1/") && !rest.getAsDouble(scale.divisor) &&
      std::isfinite(scale.divisor) && scale.divisor > 0) {
    return scale;
  }
  rest = text;
  if (rest.consume_front("global:") && !rest.empty()) {
    scale.kind = GradientScale::Kind::Global;
    scale.output = rest.str();
    return scale;
  }
  return module.emitError()
         << "option gradient-scale: expected mean, sum, 1/F with a positive F, "
            "or global:NAME of an output, got '"
         << text << "'";
}
