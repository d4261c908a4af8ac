//===- GradientNorms.cpp - The norm of all gradients ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/clip-gradients*.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/GradientNorms.h"

#include "passes/MeshOption.h"
#include "passes/TrainStep.h"

using namespace mlir;
using namespace mlir::sfsdp;

ScopeAttr mlir::sfsdp::clippingScope(MLIRContext *context) {
  return ScopeAttr::get(context, Phase::Optimizer, StringAttr::get(context, ""),
                        StringAttr(),
                        StringAttr::get(context, kClipGradientsPassName));
}

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

/// The element type in which all of `updates` fit, as torch.stack promotes:
/// the widest, and f32 for bf16 with f16.
static Type commonType(ArrayRef<UpdateOpInterface> updates) {
  Type common;
  for (UpdateOpInterface update : updates) {
    auto tensor =
        cast<RankedTensorType>(update.getUpdatedParameter().getType());
    Type type = tensor.getElementType();
    if (!common ||
        type.getIntOrFloatBitWidth() > common.getIntOrFloatBitWidth()) {
      common = type;
    } else if (common != type &&
               type.getIntOrFloatBitWidth() == common.getIntOrFloatBitWidth()) {
      common = Float32Type::get(type.getContext());
    }
  }
  return common;
}

/// The axes of `placement` with more than one rank.
static SmallVector<StringAttr> splitAxes(PlacementAttr placement,
                                         MeshAttr mesh) {
  SmallVector<StringAttr> axes;
  for (StringAttr axis :
       placement ? placement.getAxes() : ArrayRef<StringAttr>()) {
    if (mesh.axisSize(axis).value_or(1) > 1) {
      axes.push_back(axis);
    }
  }
  return axes;
}

/// Notes how the parameter of `update` is held.
static LogicalResult addUpdate(NormPlan &plan, func::FuncOp function,
                               UpdateOpInterface update, MeshAttr mesh) {
  unsigned index =
      cast<BlockArgument>(update.getUpdatedParameter()).getArgNumber();
  auto placement =
      function.getArgAttrOfType<PlacementAttr>(index, kPlacementAttrName);
  SmallVector<StringAttr> axes = splitAxes(placement, mesh);
  plan.hasPlacements |= placement != nullptr;
  if (axes.empty()) {
    plan.shardedRows.push_back(std::nullopt);
    return success();
  }
  bool isByRows =
      llvm::all_of(placement.getDims(), [](int64_t dim) { return dim == 0; });
  if (!isByRows || (!plan.axes.empty() && plan.axes != axes)) {
    return function.emitError()
           << "parameter " << argumentRole(function, index).getName()
           << ": expected all parameters to be split along dimension 0 over "
              "the same axes to clip them, got "
           << placement;
  }
  plan.axes = axes;
  auto global = function.getArgAttrOfType<TypeAttr>(index, kGlobalAttrName);
  plan.shardedRows.push_back(
      cast<RankedTensorType>(global.getValue()).getDimSize(0));
  return success();
}

FailureOr<NormPlan>
mlir::sfsdp::planNorms(func::FuncOp function,
                       ArrayRef<UpdateOpInterface> updates) {
  NormPlan plan;
  plan.elementType = commonType(updates);
  MeshAttr mesh = meshOf(function);
  if (!mesh) {
    return function.emitError() << "expected a module with a mesh to clip "
                                   "gradients, got none";
  }
  for (UpdateOpInterface update : updates) {
    if (failed(addUpdate(plan, function, update, mesh))) {
      return failure();
    }
  }
  if (!plan.hasPlacements) {
    llvm::append_range(plan.axes,
                       dataAxesOf(mesh).split.getAsRange<StringAttr>());
  }
  for (StringAttr axis : plan.axes) {
    plan.chunks *= *mesh.axisSize(axis);
  }
  return plan;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {

class NormWriter {
public:
  NormWriter(func::FuncOp function, const NormPlan &plan)
      : function(function), plan(plan), builder(function.getContext()),
        loc(function.getLoc()), scope(clippingScope(function.getContext())) {}

  GradientNorms write(ArrayRef<UpdateOpInterface> updates) {
    GradientNorms norms;
    SmallVector<unsigned> sharded;
    for (unsigned index = 0; index < updates.size(); ++index) {
      norms.ofChunks.push_back(
          chunkNorms(updates[index], plan.shardedRows[index]));
      if (plan.shardedRows[index]) {
        sharded.push_back(index);
      }
    }
    setInsertionPointAfterAll(norms.ofChunks);
    if (!sharded.empty()) {
      gather(norms.ofChunks, sharded);
    }
    norms.total = TotalNormOp::create(
        builder, loc, RankedTensorType::get({}, plan.elementType),
        norms.ofChunks, scope);
    return norms;
  }

private:
  RankedTensorType normsType(int64_t count) const {
    return RankedTensorType::get({count}, plan.elementType);
  }

  /// The norms that this rank makes of what `update` reads.
  Value chunkNorms(UpdateOpInterface update, std::optional<int64_t> rows) {
    Value gradient = update.getGradientOperand().get();
    Value trueRows = rows ? trueRowsOf(*rows, gradient) : Value();
    Operation *maker = gradient.getDefiningOp();
    if (maker) {
      builder.setInsertionPointAfter(maker);
    } else {
      builder.setInsertionPoint(update);
    }
    ScopeAttr own = scopeMovedBy(builder.getContext(), scopeOf(update),
                                 Phase::Optimizer, kClipGradientsPassName);
    return ChunkNormsOp::create(builder, update.getLoc(),
                                normsType(rows ? 1 : plan.chunks), gradient,
                                trueRows, own);
  }

  /// The true rows of this rank's chunk of `rows`.
  Value trueRowsOf(int64_t rows, Value chunk) {
    Value &known = trueRows[rows];
    if (known) {
      return known;
    }
    builder.setInsertionPointToStart(&function.getBody().front());
    if (plan.axes.size() == 1) {
      known = ValidRowsOp::create(builder, loc, plan.axes[0], rows);
      return known;
    }
    // rows - position * chunk, which the kernel brings into its range
    Value product = compute(
        ScalarFunction::Mul,
        {position(),
         constant(cast<RankedTensorType>(chunk.getType()).getDimSize(0))});
    known = compute(ScalarFunction::Sub, {constant(rows), product});
    return known;
  }

  /// This rank's row-major position on the axes.
  Value position() {
    MeshAttr mesh = meshOf(function);
    Value index;
    for (StringAttr axis : plan.axes) {
      Value own = MeshCoordinateOp::create(builder, loc, axis);
      if (!index) {
        index = own;
        continue;
      }
      Value size = constant(*mesh.axisSize(axis));
      Value outer = compute(ScalarFunction::Mul, {index, size});
      index = compute(ScalarFunction::Add, {outer, own});
    }
    return index;
  }

  Value constant(int64_t value) {
    return ScalarConstantOp::create(builder, loc,
                                    APFloat(static_cast<double>(value)));
  }

  Value compute(ScalarFunction function, ValueRange operands) {
    return ScalarComputeOp::create(builder, loc, function, operands);
  }

  void setInsertionPointAfterAll(ArrayRef<Value> values) {
    Operation *last = values.front().getDefiningOp();
    for (Value value : values) {
      Operation *maker = value.getDefiningOp();
      last = last->isBeforeInBlock(maker) ? maker : last;
    }
    builder.setInsertionPointAfter(last);
  }

  /// Replaces the entries `sharded` of `norms` by those of all ranks.
  void gather(MutableArrayRef<Value> norms, ArrayRef<unsigned> sharded) {
    SmallVector<Value> own;
    for (unsigned index : sharded) {
      own.push_back(norms[index]);
    }
    SmallVector<Type> types(own.size(), normsType(plan.chunks));
    SmallVector<Attribute> axes(plan.axes.begin(), plan.axes.end());
    // Without names: it serves no single parameter, and no bucket takes it.
    auto gathered = AllGatherOp::create(
        builder, loc, types, own, builder.getArrayAttr(axes), /*dim=*/0,
        /*regather=*/false, /*names=*/ArrayAttr(), scope);
    for (auto [index, result] : llvm::zip(sharded, gathered.getResults())) {
      norms[index] = result;
    }
  }

  func::FuncOp function;
  const NormPlan &plan;
  OpBuilder builder;
  Location loc;
  ScopeAttr scope;
  llvm::DenseMap<int64_t, Value> trueRows; ///< by rows of the whole
};

} // namespace

GradientNorms mlir::sfsdp::writeNorms(func::FuncOp function,
                                      ArrayRef<UpdateOpInterface> updates,
                                      const NormPlan &plan) {
  return NormWriter(function, plan).write(updates);
}
