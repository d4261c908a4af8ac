//===- Sfsdp.h - The sfsdp dialect ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that a user of the dialect includes. What each operation,
// attribute and type means stands in the .td files.
//
// Tested by test/dialect/.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_DIALECT_SFSDP_H
#define SFSDP_DIALECT_SFSDP_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/SfsdpEnums.h.inc"

#include "dialect/SfsdpInterfaces.h.inc"

#include "dialect/SfsdpDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/SfsdpAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/SfsdpTypes.h.inc"

#define GET_OP_CLASSES
#include "dialect/SfsdpOps.h.inc"

namespace mlir::sfsdp {

/// Keys of the discardable attributes; SfsdpDialect.td says what they hold.
inline constexpr llvm::StringLiteral kMeshAttrName = "sfsdp.mesh";
inline constexpr llvm::StringLiteral kInputsAttrName = "sfsdp.inputs";
inline constexpr llvm::StringLiteral kMicroBatchesAttrName =
    "sfsdp.micro_batches";
inline constexpr llvm::StringLiteral kOptionsAttrName = "sfsdp.options";
inline constexpr llvm::StringLiteral kRoleAttrName = "sfsdp.role";
inline constexpr llvm::StringLiteral kPlacementAttrName = "sfsdp.placement";
inline constexpr llvm::StringLiteral kGlobalAttrName = "sfsdp.global";

/// The effect on the group of a collective: a write of this resource keeps
/// collectives in order and alive.
struct CommunicationResource
    : public SideEffects::Resource::Base<CommunicationResource> {
  StringRef getName() final { return "<communication>"; }
};

/// The mesh of the module around `op`; null if there is none.
MeshAttr meshOf(Operation *op);

} // namespace mlir::sfsdp

#endif // SFSDP_DIALECT_SFSDP_H
