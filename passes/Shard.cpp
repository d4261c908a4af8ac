//===- Shard.cpp - Shard parameters and reduce gradients ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides how each parameter is held before anything is edited, so that a
// refusal leaves the module as it was.
//
// Tested by test/passes/shard*.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/Sharding.h"

#include "dialect/Layout.h"
#include "passes/NamePatterns.h"
#include "passes/Names.h"
#include "passes/TrainStep.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::sfsdp {
#define GEN_PASS_DEF_SHARDPASS
#include "passes/Passes.h.inc"
} // namespace mlir::sfsdp

using namespace mlir;
using namespace mlir::sfsdp;

/// The float type of that name; null for text that is none.
static Type parseReduceType(MLIRContext *context, StringRef text) {
  Builder builder(context);
  return llvm::StringSwitch<Type>(text)
      .Case("f16", builder.getF16Type())
      .Case("bf16", builder.getBF16Type())
      .Case("f32", builder.getF32Type())
      .Case("f64", builder.getF64Type())
      .Default(Type());
}

/// How the ranks hold `parameter`.
static Holding chooseHolding(const Sharding &sharding, ShardMode mode,
                             const ShardedParameter &parameter, bool isKept) {
  if (sharding.data.ranks == 1 || parameter.captured.getNumElements() == 0) {
    return Holding::Alone;
  }
  if (mode == ShardMode::Replicate || sharding.shard.ranks == 1) {
    return Holding::Replicated;
  }
  return parameter.captured.getRank() != 0 && !isKept ? Holding::Sharded
                                                      : Holding::Replicated;
}

/// One remark on all parameters that stay whole for the same reason.
static void remarkOnWhole(ArrayRef<const ShardedParameter *> whole,
                          StringRef reasonOfOne, StringRef reasonOfMany) {
  if (whole.empty()) {
    return;
  }
  auto remark = emitRemark(whole.front()->argument.getLoc());
  if (whole.size() == 1) {
    remark << "parameter '" << whole.front()->name
           << "' stays whole on every rank: " << reasonOfOne;
    return;
  }
  SmallVector<std::string> names;
  for (const ShardedParameter *parameter : whole) {
    names.push_back("'" + parameter->name + "'");
  }
  remark << whole.size() << " parameters stay whole on every rank, "
         << reasonOfMany << ": " << listNames(names);
}

static RankedTensorType chunkType(RankedTensorType type, int64_t ranks) {
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = chunkOf(shape[0], ranks);
  return RankedTensorType::get(shape, type.getElementType());
}

/// Adds the result positions of gradients to the parameters of that name.
static LogicalResult matchGradients(Sharding &sharding) {
  llvm::StringMap<ShardedParameter *> byName;
  for (ShardedParameter &parameter : sharding.parameters) {
    byName[parameter.name] = &parameter;
  }
  func::FuncOp function = sharding.function;
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    RoleAttr role = resultRole(function, index);
    if (!role || role.getKind() != RoleKind::Gradient) {
      continue;
    }
    ShardedParameter *parameter = byName.lookup(role.getName());
    if (!parameter) {
      return function.emitError()
             << "result " << index << ": expected the gradient of a parameter, "
             << "got one of '" << role.getName().getValue()
             << "', which is none";
    }
    auto type = dyn_cast<RankedTensorType>(function.getResultTypes()[index]);
    if (!type || type.getShape() != parameter->captured.getShape()) {
      return function.emitError()
             << "result " << index << ": expected a gradient of "
             << parameter->captured << " for parameter '" << parameter->name
             << "', got " << function.getResultTypes()[index];
    }
    parameter->gradient = index;
  }
  return success();
}

/// Says which parameters stay whole against the mode, and why.
static void remarkOnWhole(const Sharding &sharding, NamePatterns &patterns) {
  SmallVector<const ShardedParameter *> kept, scalars;
  func::FuncOp function = sharding.function;
  for (const ShardedParameter &parameter : sharding.parameters) {
    if (parameter.holding == Holding::Replicated) {
      unsigned index = parameter.argument.getArgNumber();
      bool named = patterns.match(argumentRole(function, index)).has_value();
      (named ? kept : scalars).push_back(&parameter);
    }
  }
  remarkOnWhole(kept, "keep-replicated names it", "as keep-replicated says");
  remarkOnWhole(scalars, "it has 0 dimensions", "as they have 0 dimensions");
}

static LogicalResult chooseParameters(Sharding &sharding, ShardMode mode,
                                      NamePatterns &keepReplicated) {
  func::FuncOp function = sharding.function;
  for (BlockArgument argument :
       argumentsWithRole(function, RoleKind::Parameter)) {
    unsigned index = argument.getArgNumber();
    RoleAttr role = argumentRole(function, index);
    ShardedParameter parameter{argument, role.getName().str()};
    if (function.getArgAttr(index, kPlacementAttrName)) {
      return function.emitError()
             << "parameter '" << parameter.name
             << "': expected no placement before " << kShardPassName << ", got "
             << function.getArgAttr(index, kPlacementAttrName);
    }
    parameter.captured = dyn_cast<RankedTensorType>(argument.getType());
    if (!parameter.captured) {
      return function.emitError()
             << "parameter '" << parameter.name << "': expected a tensor, got "
             << argument.getType();
    }
    bool isKept = keepReplicated.match(role).has_value();
    parameter.holding = chooseHolding(sharding, mode, parameter, isKept);
    parameter.local = parameter.captured;
    if (parameter.holding == Holding::Sharded) {
      if (!isDense(parameter.captured)) {
        return function.emitError()
               << "parameter '" << parameter.name
               << "': expected dense strides to shard it, got "
               << parameter.captured << "; keep it by keep-replicated";
      }
      parameter.local = chunkType(parameter.captured, sharding.shard.ranks);
    }
    sharding.parameters.push_back(std::move(parameter));
  }
  return matchGradients(sharding);
}

/// A parameter that one rank holds alone is declared sharded all the same, so
/// that files and reports do not depend on the number of ranks.
static bool isDeclaredSharded(const Sharding &sharding, ShardMode mode,
                              const ShardedParameter &parameter) {
  return parameter.holding == Holding::Sharded ||
         (sharding.shard.ranks == 1 && mode != ShardMode::Replicate &&
          parameter.captured.getRank() != 0 &&
          parameter.captured.getNumElements() != 0);
}

/// Adds placement and global type to the arguments and gradients of what is
/// declared sharded. All at once: each change of one attribute copies the list.
static void declarePlacements(const Sharding &sharding, ShardMode mode) {
  func::FuncOp function = sharding.function;
  SmallVector<DictionaryAttr> arguments, results;
  function.getAllArgAttrs(arguments);
  function.getAllResultAttrs(results);
  auto declare = [&](DictionaryAttr &of, RankedTensorType global) {
    NamedAttrList attributes(of);
    attributes.set(kGlobalAttrName, TypeAttr::get(global));
    attributes.set(kPlacementAttrName, sharding.placement);
    of = attributes.getDictionary(function.getContext());
  };
  llvm::StringMap<unsigned> accumulators;
  for (BlockArgument argument :
       argumentsWithRole(function, RoleKind::Accumulator)) {
    unsigned index = argument.getArgNumber();
    accumulators[argumentRole(function, index).getName()] = index;
  }
  for (const ShardedParameter &parameter : sharding.parameters) {
    if (!isDeclaredSharded(sharding, mode, parameter)) {
      continue;
    }
    declare(arguments[parameter.argument.getArgNumber()], parameter.captured);
    if (!parameter.gradient) {
      continue;
    }
    auto total = RankedTensorType::get(parameter.captured.getShape(),
                                       reduceTypeOf(sharding, parameter));
    bool isWhole = accumulationPoint(sharding, parameter) ==
                   AccumulationPoint::BeforeReduction;
    auto accumulator = accumulators.find(parameter.name);
    if (accumulator != accumulators.end() && !isWhole) {
      declare(arguments[accumulator->second], total);
    }
    if (sharding.isLast) {
      declare(results[*parameter.gradient], parameter.captured);
    } else if (!isWhole) {
      declare(results[*parameter.gradient], total);
    }
  }
  function.setAllArgAttrs(arguments);
  function.setAllResultAttrs(results);
}

/// Makes the gradient results of a micro-step those of the accumulators, which
/// are what they hold now, and appends the number of the micro-batch.
static Value becomeMicroStep(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    RoleAttr role = resultRole(function, index);
    if (role && role.getKind() == RoleKind::Gradient) {
      function.setResultAttr(
          index, kRoleAttrName,
          RoleAttr::get(context, RoleKind::Accumulator, role.getName()));
    }
  }
  NamedAttrList attributes;
  attributes.set(kRoleAttrName, RoleAttr::get(context, RoleKind::HyperParameter,
                                              "micro_batch"));
  unsigned index = function.getNumArguments();
  (void)function.insertArgument(index, ScalarType::get(context),
                                attributes.getDictionary(context),
                                function.getLoc());
  return function.getArgument(index);
}

static void apply(Sharding &sharding, ShardMode mode) {
  if (sharding.broadcastsBuffers) {
    broadcastBuffers(sharding);
  }
  recomputeSavedValues(sharding);
  Value microBatch;
  if (!sharding.isLast) {
    microBatch = becomeMicroStep(sharding.function);
  }
  if (sharding.scale.kind == GradientScale::Kind::Global) {
    sharding.count = globalScale(sharding, microBatch);
  }
  for (const ShardedParameter &parameter : sharding.parameters) {
    if (parameter.holding == Holding::Sharded) {
      gatherAtUse(sharding, parameter);
    }
    if (parameter.gradient) {
      reduceGradient(sharding, parameter, microBatch);
    }
  }
  declarePlacements(sharding, mode);
  func::FuncOp function = sharding.function;
  function.setType(FunctionType::get(function.getContext(),
                                     function.getBody().getArgumentTypes(),
                                     returnOf(function).getOperandTypes()));
}

namespace {

struct Shard final : mlir::sfsdp::impl::ShardPassBase<Shard> {
  using ShardPassBase::ShardPassBase;

  void runOnOperation() override {
    Sharding sharding;
    NamePatterns patterns("keep-replicated");
    if (failed(readOptions(sharding, patterns)) ||
        failed(chooseParameters(sharding, mode, patterns))) {
      return signalPassFailure();
    }
    chooseReshard(sharding, reshard);
    warnOfUnused(patterns);
    if (mode != ShardMode::Replicate) {
      remarkOnWhole(sharding, patterns);
    }
    if (failed(checkAccumulation(sharding)) ||
        failed(checkGlobalScale(sharding))) {
      return signalPassFailure();
    }
    if (sharding.microBatches > 1) {
      shardMicroStep(sharding, patterns);
    }
    apply(sharding, mode);
  }

  /// Puts a copy of the step before it, for all micro-batches but the last.
  void shardMicroStep(Sharding &last, NamePatterns &patterns) {
    Sharding micro = last;
    micro.function = last.function.clone();
    micro.isLast = false;
    micro.parameters.clear();
    micro.function.setName(kMicroStepName);
    last.function.setName(kLastMicroStepName);
    getOperation().insert(last.function, micro.function);
    getOperation()->setAttr(
        kMicroBatchesAttrName,
        Builder(&getContext()).getI64IntegerAttr(last.microBatches));
    // What is chosen for the last one can be chosen for its copy.
    (void)chooseParameters(micro, mode, patterns);
    chooseReshard(micro, reshard);
    apply(micro, mode);
  }

  LogicalResult checkAccumulation(const Sharding &sharding) {
    if (sharding.microBatches == 1) {
      return success();
    }
    for (const ShardedParameter &parameter : sharding.parameters) {
      if (parameter.gradient && reduceTypeOf(sharding, parameter).isF16() &&
          accumulationPoint(sharding, parameter) !=
              AccumulationPoint::BeforeReduction) {
        return getOperation().emitError()
               << "parameter '" << parameter.name
               << "': sums over ranks and micro-batches leave the range of f16 "
                  "before their mean is formed; expected reduce-dtype=f32 or "
                  "bf16, or sync=last";
      }
    }
    return success();
  }

  void warnOfUnused(const NamePatterns &patterns) {
    ModuleOp module = getOperation();
    patterns.warnOfUnused(module, "parameter");
    if (mode != ShardMode::Replicate) {
      return;
    }
    StringRef reason = "changes nothing, as replicate keeps parameters whole";
    if (!keepReplicated.empty()) {
      module.emitWarning() << "option keep-replicated: " << reason;
    }
    if (reshard != Reshard::Auto) {
      module.emitWarning() << "option reshard: " << reason;
    }
  }

  LogicalResult readOptions(Sharding &sharding, NamePatterns &patterns) {
    ModuleOp module = getOperation();
    sharding.reduceType =
        parseReduceType(&getContext(), reduceDtype.getValue());
    if (!sharding.reduceType && !reduceDtype.empty()) {
      return module.emitError() << "option reduce-dtype: expected f16, bf16, "
                                   "f32 or f64, got '"
                                << reduceDtype.getValue() << "'";
    }
    FailureOr<func::FuncOp> function = findTrainStep(module);
    FailureOr<MeshAttr> chosen = chooseMesh(module, mesh, ranks);
    if (failed(function) || failed(chosen) ||
        failed(patterns.parse(module, keepReplicated))) {
      return failure();
    }
    FailureOr<Reduction> order = parseReduction(module, reduction, mode);
    FailureOr<GradientScale> scale = parseGradientScale(module, gradientScale);
    if (failed(order) || failed(scale) ||
        failed(chooseAxes(sharding, *chosen))) {
      return failure();
    }
    module->setAttr(kMeshAttrName, *chosen);
    sharding.function = *function;
    sharding.reduction = *order;
    sharding.broadcastsBuffers = buffers == BufferSync::Broadcast;
    sharding.microBatches = microBatches;
    FailureOr<Sync> chosenSync = chooseSync(sharding);
    if (failed(chosenSync)) {
      return failure();
    }
    sharding.sync = *chosenSync;
    sharding.scale = *scale;
    sharding.divisor =
        scale->kind == GradientScale::Kind::Mean
            ? static_cast<double>(sharding.data.ranks * sharding.microBatches)
            : scale->divisor;
    sharding.placement =
        PlacementAttr::get(&getContext(), sharding.shard.all,
                           SmallVector<int64_t>(sharding.shard.all.size(), 0));
    return success();
  }

  FailureOr<Sync> chooseSync(const Sharding &sharding) {
    ModuleOp module = getOperation();
    constexpr int64_t most = 1'000'000; // kMaxMicroBatches of a plan
    if (microBatches < 1 || microBatches > most) {
      return module.emitError() << "option micro-batches: expected 1 to "
                                << most << ", got " << microBatches.getValue();
    }
    if (microBatches == 1 && sync != Sync::Auto) {
      module.emitWarning() << "option sync: changes nothing with one "
                              "micro-batch per step";
    }
    if (sync == Sync::Auto) {
      return mode == ShardMode::Replicate ? Sync::Last : Sync::Each;
    }
    bool isOrdered = sharding.reduction.kind == Reduction::Kind::Ordered;
    if (sync == Sync::ShardEachReplicaLast &&
        (mode != ShardMode::HybridShard || !isOrdered)) {
      return module.emitError()
             << "option sync: expected mode=hybrid_shard and reduction=ordered "
                "with shard-each-replica-last";
    }
    return sync.getValue();
  }

  /// Which data axes split parameters, and which repeat them.
  LogicalResult chooseAxes(Sharding &sharding, MeshAttr chosen) {
    sharding.data = dataAxesOf(chosen);
    auto names = [](StringRef name) {
      return [name](StringAttr axis) { return axis.getValue() == name; };
    };
    switch (mode) {
    case ShardMode::Replicate:
      sharding.shard = axesWhere(sharding.data, chosen, names(""));
      sharding.replica = sharding.data;
      return success();
    case ShardMode::FullyShard:
      sharding.shard = sharding.data;
      sharding.replica = axesWhere(sharding.data, chosen, names(""));
      return success();
    case ShardMode::HybridShard:
      break;
    }
    sharding.replica = axesWhere(sharding.data, chosen, names(kReplicaAxis));
    sharding.shard = axesWhere(sharding.data, chosen, names(kShardAxis));
    ArrayRef<StringAttr> axes = sharding.data.all;
    if (axes.size() == 2 && axes[0] == kReplicaAxis && axes[1] == kShardAxis) {
      return success();
    }
    return getOperation().emitError()
           << "option mesh: hybrid_shard expects the data axes dp_replicate "
              "and dp_shard, in this order, as in "
              "mesh=dp_replicate:2,dp_shard:4, got "
           << chosen;
  }
};

} // namespace
