//===- SfsdpDialect.cpp - Registration and discardable attributes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/dialect/attributes.mlir and attributes-invalid.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/Layout.h"
#include "dialect/Sfsdp.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::sfsdp;

#include "dialect/SfsdpDialect.cpp.inc"

#include "dialect/SfsdpInterfaces.cpp.inc"

void SfsdpDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "dialect/SfsdpOps.cpp.inc"
      >();
}

MeshAttr sfsdp::meshOf(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module) {
    module = op->getParentOfType<ModuleOp>();
  }
  return module ? module->getAttrOfType<MeshAttr>(kMeshAttrName) : MeshAttr();
}

LogicalResult SfsdpDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  if (attribute.getName() == kMeshAttrName) {
    if (!isa<ModuleOp>(op) || !isa<MeshAttr>(attribute.getValue())) {
      return op->emitError() << "expected " << attribute.getName()
                             << " to be a mesh on a module";
    }
    return success();
  }
  if (attribute.getName() == kInputsAttrName) {
    auto files = dyn_cast<ArrayAttr>(attribute.getValue());
    if (!files || !llvm::all_of(files, llvm::IsaPred<InputFileAttr>)) {
      return op->emitError() << "expected " << attribute.getName()
                             << " to be an array of input files";
    }
    return success();
  }
  if (attribute.getName() == kMicroBatchesAttrName) {
    auto count = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!isa<ModuleOp>(op) || !count || count.getInt() < 2) {
      return op->emitError() << "expected " << attribute.getName()
                             << " to be an integer above 1 on a module";
    }
    return success();
  }
  if (attribute.getName() == kOptionsAttrName) {
    if (!isa<ModuleOp>(op) || !isa<StringAttr>(attribute.getValue())) {
      return op->emitError() << "expected " << attribute.getName()
                             << " to be a string on a module";
    }
    return success();
  }
  return op->emitError() << "expected no attribute " << attribute.getName()
                         << " on an operation";
}

/// The local shape that `placement` gives a tensor of `globalShape`.
static FailureOr<SmallVector<int64_t>>
localShape(function_ref<InFlightDiagnostic()> emitError, MeshAttr mesh,
           PlacementAttr placement, ArrayRef<int64_t> globalShape) {
  SmallVector<int64_t> shape(globalShape);
  // Inner axes split first, so that tensor parallelism comes before data
  // parallelism when both split one dimension.
  for (auto [axis, dim] :
       llvm::reverse(llvm::zip(placement.getAxes(), placement.getDims()))) {
    std::optional<int64_t> size =
        mesh ? mesh.axisSize(axis) : std::optional<int64_t>();
    if (!size) {
      return emitError() << "expected axes of the module's mesh, got " << axis;
    }
    if (dim >= static_cast<int64_t>(shape.size())) {
      return emitError() << "expected a split dimension below " << shape.size()
                         << ", got " << dim;
    }
    shape[dim] = chunkOf(shape[dim], *size);
  }
  return shape;
}

/// Checks role, placement and global type of one argument or result.
static LogicalResult
verifyValueAttribute(function_ref<InFlightDiagnostic()> emitError,
                     Operation *function, Type type, DictionaryAttr all,
                     NamedAttribute attribute) {
  if (attribute.getName() == kRoleAttrName) {
    if (!isa<RoleAttr>(attribute.getValue())) {
      return emitError() << "expected " << kRoleAttrName << " to be a role";
    }
    return success();
  }
  if (attribute.getName() == kGlobalAttrName) {
    auto global = dyn_cast<TypeAttr>(attribute.getValue());
    if (!global || !isa<RankedTensorType>(global.getValue())) {
      return emitError() << "expected " << kGlobalAttrName
                         << " to be a tensor type";
    }
    return success();
  }
  if (attribute.getName() != kPlacementAttrName) {
    return emitError() << "expected no attribute " << attribute.getName()
                       << " on an argument or result";
  }
  auto placement = dyn_cast<PlacementAttr>(attribute.getValue());
  auto local = dyn_cast<RankedTensorType>(type);
  if (!placement || !local) {
    return emitError() << "expected " << kPlacementAttrName
                       << " to be a placement of a tensor";
  }
  RankedTensorType global = local;
  if (auto given = all.getAs<TypeAttr>(kGlobalAttrName)) {
    global = dyn_cast<RankedTensorType>(given.getValue());
  }
  if (!global) {
    return success(); // reported for kGlobalAttrName
  }
  FailureOr<SmallVector<int64_t>> expected =
      localShape(emitError, meshOf(function), placement, global.getShape());
  if (failed(expected)) {
    return failure();
  }
  if (ArrayRef<int64_t>(*expected) != local.getShape()) {
    return emitError() << "expected the local shape [" << *expected << "] of "
                       << global << " under " << placement << ", got " << local;
  }
  return success();
}

LogicalResult SfsdpDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                     unsigned index,
                                                     NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function) {
    return op->emitError() << "expected " << attribute.getName()
                           << " on an argument of a function";
  }
  return verifyValueAttribute(
      [&]() { return op->emitError() << "argument " << index << ": "; }, op,
      function.getArgumentTypes()[index], function.getArgAttrDict(index),
      attribute);
}

LogicalResult SfsdpDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function) {
    return op->emitError() << "expected " << attribute.getName()
                           << " on a result of a function";
  }
  return verifyValueAttribute(
      [&]() { return op->emitError() << "result " << index << ": "; }, op,
      function.getResultTypes()[index], function.getResultAttrDict(index),
      attribute);
}
