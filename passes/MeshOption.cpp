//===- MeshOption.cpp - The mesh of a module, from options ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/shard-mesh.mlir and shard-invalid.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/MeshOption.h"

using namespace mlir;
using namespace mlir::sfsdp;

static FailureOr<MeshAttr> parseMesh(ModuleOp module, StringRef text,
                                     ArrayRef<int64_t> ranks) {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (StringRef part : parts) {
    auto [name, digits] = part.split(':');
    int64_t size = 0;
    if (name.empty() || digits.getAsInteger(10, size)) {
      return module.emitError()
             << "option mesh: expected axis:size,… as in dp:2,tp:2, got '"
             << text << "'";
    }
    axes.push_back(StringAttr::get(module.getContext(), name));
    sizes.push_back(size);
  }
  MeshAttr mesh = MeshAttr::getChecked(
      [&]() { return module.emitError() << "option mesh: "; },
      module.getContext(), ArrayRef<StringAttr>(axes), ArrayRef<int64_t>(sizes),
      ranks);
  if (!mesh) {
    return failure();
  }
  return mesh;
}

FailureOr<MeshAttr> mlir::sfsdp::chooseMesh(ModuleOp module, StringRef text,
                                            ArrayRef<int64_t> ranks) {
  MeshAttr present = meshOf(module);
  if (text.empty()) {
    if (!ranks.empty()) {
      return module.emitError() << "option ranks: expected mesh with it";
    }
    if (!present) {
      return module.emitError()
             << "expected a mesh, got none; give the option mesh=dp:2";
    }
    return present;
  }
  FailureOr<MeshAttr> given = parseMesh(module, text, ranks);
  if (succeeded(given) && present && present != *given) {
    return module.emitError() << "option mesh: expected the module's "
                              << present << ", got " << *given;
  }
  return given;
}

static AxisGroup groupOf(MeshAttr mesh, ArrayRef<StringAttr> axes) {
  AxisGroup group;
  SmallVector<Attribute> split;
  for (StringAttr axis : axes) {
    int64_t size = *mesh.axisSize(axis);
    group.all.push_back(axis);
    group.ranks *= size;
    if (size > 1) {
      split.push_back(axis);
    }
  }
  group.split = ArrayAttr::get(mesh.getContext(), split);
  return group;
}

AxisGroup mlir::sfsdp::dataAxesOf(MeshAttr mesh) {
  return groupOf(mesh,
                 llvm::filter_to_vector(mesh.getAxes(), [](StringAttr axis) {
                   return axis.getValue() != kTensorAxis;
                 }));
}

AxisGroup mlir::sfsdp::axesWhere(const AxisGroup &group, MeshAttr mesh,
                                 function_ref<bool(StringAttr)> keep) {
  return groupOf(mesh, llvm::filter_to_vector(group.all, keep));
}
