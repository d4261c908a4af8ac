//===- SfsdpAttrs.td - Attributes and types ----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/dialect/; the examples of descriptions by
// test/dialect/description-examples.test.

#ifndef SFSDP_ATTRS_TD
#define SFSDP_ATTRS_TD

include "dialect/SfsdpEnums.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"

class Sfsdp_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Sfsdp_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

//===----------------------------------------------------------------------===//
// Mesh and placement
//===----------------------------------------------------------------------===//

def Sfsdp_MeshAttr : Sfsdp_Attr<"Mesh", "mesh"> {
  let summary = "Named axes of ranks, outermost first";
  let description = [{
    The rank at a mesh position is its row-major index, or the entry of `ranks`
    there:

    ```mlir
    #sfsdp.mesh<"dp" = 2, "tp" = 2>
    #sfsdp.mesh<"dp" = 2, "tp" = 2, ranks = [0, 2, 1, 3]>
    ```

    **Constraints**
    - `mesh_c1`: axis names are distinct and not empty
    - `mesh_c2`: sizes are at least 1
    - `mesh_c3`: `ranks` is a permutation of 0 … product of sizes - 1
    - `mesh_c4`: there are at most 2^31 - 1 ranks
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::StringAttr", "axis names">:$axes,
    ArrayRefParameter<"int64_t", "axis sizes">:$sizes,
    OptionalArrayRefParameter<"int64_t", "rank at each position">:$ranks);
  let extraClassDeclaration = [{
    /// Size of the named axis; absent if the mesh has none of that name.
    std::optional<int64_t> axisSize(::llvm::StringRef axis) const;
  }];
  // A list of pairs has no declarative form.
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Sfsdp_PlacementAttr : Sfsdp_Attr<"Placement", "placement"> {
  let summary = "Which mesh axes split which dimensions of a tensor";
  let description = [{
    An axis that is not listed replicates. Split dimensions follow the chunk
    rule: rank r holds rows [r * c, min(rows, (r + 1) * c)), c = ceil(rows /
    ranks), in c rows of memory.

    ```mlir
    #sfsdp.placement<"dp" = shard(0)>
    #sfsdp.placement<"dp" = shard(0), "tp" = shard(1)>
    #sfsdp.placement<>
    ```

    **Constraints**
    - `placement_c1`: each axis occurs once
    - `placement_c2`: dimensions are not negative
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::StringAttr", "axes that split">:$axes,
    ArrayRefParameter<"int64_t", "dimension that each splits">:$dims);
  // A list of pairs has no declarative form.
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Roles and provenance
//===----------------------------------------------------------------------===//

def Sfsdp_RoleAttr : Sfsdp_Attr<"Role", "role"> {
  let summary = "What an argument or result is to the training step";
  let description = [{
    Names are those of the PyTorch model. On a result, `parameter`, `buffer`,
    `state` and `accumulator` mean the new value of the argument of the same role
    and name, which is updated in place. A tied parameter is one argument with
    `also` names. An `accumulator` holds the sum of the gradients of the
    parameter of that name over the micro-batches so far.
    Of clipping, results alone: `gradient_norm` is the norm of all gradients
    before it, `chunk_norms` those of the chunks of one parameter's gradient,
    and `applied` says whether the updates were carried out.

    ```mlir
    #sfsdp.role<parameter "tok_embeddings.weight" also ["output.weight"]>
    #sfsdp.role<parameter "frozen.weight" frozen>
    #sfsdp.role<state "norm.weight" slot "exp_avg">
    #sfsdp.role<accumulator "norm.weight">
    #sfsdp.role<hyper_parameter "lr">
    #sfsdp.role<loss "loss">
    ```

    **Constraints**
    - `role_c1`: exactly `state` has a slot
    - `role_c2`: only `parameter` has `also` names and `frozen`
  }];
  let parameters = (ins
    EnumParameter<Sfsdp_RoleKind>:$kind,
    "::mlir::StringAttr":$name,
    OptionalParameter<"::mlir::StringAttr", "optimizer state slot">:$slot,
    OptionalArrayRefParameter<"::mlir::StringAttr", "tied names">:$aliases,
    DefaultValuedParameter<"bool", "false", "has no gradient">:$frozen);
  let builders = [
    AttrBuilder<(ins "::mlir::sfsdp::RoleKind":$kind, "::llvm::StringRef":$name), [{
      return $_get($_ctxt, kind, ::mlir::StringAttr::get($_ctxt, name),
                   ::mlir::StringAttr(), ::llvm::ArrayRef<::mlir::StringAttr>(),
                   /*frozen=*/false);
    }]>,
    AttrBuilder<(ins "::mlir::sfsdp::RoleKind":$kind, "::llvm::StringRef":$name,
                     "::llvm::StringRef":$slot), [{
      return $_get($_ctxt, kind, ::mlir::StringAttr::get($_ctxt, name),
                   ::mlir::StringAttr::get($_ctxt, slot),
                   ::llvm::ArrayRef<::mlir::StringAttr>(), /*frozen=*/false);
    }]>
  ];
  // Optional words in a fixed order read better than a parameter list.
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Sfsdp_ScopeAttr : Sfsdp_Attr<"Scope", "scope"> {
  let summary = "Where an operation comes from";
  let description = [{
    Module, phase, and source line of the captured operator; an operation that a
    pass made names the pass and keeps the module and phase that it serves.

    ```mlir
    #sfsdp.scope<forward "layers.0.attention.wq" at "model.py:42">
    #sfsdp.scope<backward "layers.0" by "sfsdp-shard">
    ```
  }];
  let parameters = (ins
    EnumParameter<Sfsdp_Phase>:$phase,
    "::mlir::StringAttr":$module,
    OptionalParameter<"::mlir::StringAttr", "file:line">:$source,
    OptionalParameter<"::mlir::StringAttr", "pass that made it">:$pass);
  let assemblyFormat = "`<` $phase $module (`at` $source^)? (`by` $pass^)? `>`";
}

def Sfsdp_InputFileAttr : Sfsdp_Attr<"InputFile", "input_file"> {
  let summary = "A file that the compiler read";
  let description = [{
    Base name and SHA-256, never a path, so that equal inputs give equal IR.

    ```mlir
    #sfsdp.input_file<"step.pt2" sha256 "e3b0c442">
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::StringAttr":$sha256);
  let assemblyFormat = "`<` $name `sha256` $sha256 `>`";
}

//===----------------------------------------------------------------------===//
// Tensor layout and operator arguments
//===----------------------------------------------------------------------===//

def Sfsdp_StridesAttr : Sfsdp_Attr<"Strides", "strides", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Strides of a tensor that is not contiguous, in elements";
  let description = [{
    The encoding of a tensor type. A contiguous tensor has no encoding, so that
    equal layouts have equal types.

    ```mlir
    tensor<64x32xf32, #sfsdp.strides<[1, 64]>>
    ```

    **Constraints**
    - `strides_c1`: one stride per dimension
    - `strides_c2`: strides are not negative
    - `strides_c3`: the layout is not contiguous
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$values);
  let assemblyFormat = "`<` `[` $values `]` `>`";
}

def Sfsdp_OperandAttr : Sfsdp_Attr<"Operand", "operand"> {
  let summary = "The next operand, as an operator argument";
  let description = [{
    Marks the place of an SSA operand in the argument list of `sfsdp.aten`. The
    pretty form prints the operand itself there.

    ```mlir
    #sfsdp.operand
    ```
  }];
}

def Sfsdp_StridedAttr : Sfsdp_Attr<"Strided", "strided"> {
  let summary = "torch.strided, as an operator argument";
  let description = [{
    The only layout of the tensors here, as operators that make tensors want it.

    ```mlir
    #sfsdp.strided
    ```
  }];
}

def Sfsdp_DeviceAttr : Sfsdp_Attr<"Device", "device"> {
  let summary = "The plan's device, as an operator argument";
  let description = [{
    Graphs name no device: which one it is, is a choice at compile time.

    ```mlir
    #sfsdp.device
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Sfsdp_Type<string name, string typeMnemonic>
    : TypeDef<Sfsdp_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Sfsdp_ScalarType : Sfsdp_Type<"Scalar", "scalar"> {
  let summary = "A 64-bit number on the host";
  let description = [{
    Learning rate, step, and what is computed from them in the order of
    PyTorch's Python code; also mesh coordinates and true rows of a shard. As
    f32 tensors they would change the bits of an update.

    ```mlir
    !sfsdp.scalar
    ```
  }];
}

def Sfsdp_PendingType : Sfsdp_Type<"Pending", "pending"> {
  let summary = "The tensors of a collective under way";
  let description = [{
    Made by a `*_start` operation, used once, by `sfsdp.wait`.

    ```mlir
    !sfsdp.pending<tensor<64x64xf32>, tensor<64xf32>>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "`<` $types `>`";
}

#endif // SFSDP_ATTRS_TD
