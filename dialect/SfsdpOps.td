//===- SfsdpOps.td - Operators and host scalars ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/dialect/; the examples of descriptions by
// test/dialect/description-examples.test.

#ifndef SFSDP_OPS_TD
#define SFSDP_OPS_TD

include "dialect/SfsdpAttrs.td"
include "dialect/SfsdpInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Sfsdp_Op<string mnemonic, list<Trait> traits = []>
    : Op<Sfsdp_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

def Sfsdp_AtenOp : Sfsdp_Op<"aten", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Call an ATen operator";
  let description = [{
    Carries any overload of any ATen operator, or of the user's own libraries
    (`"mylib::scale.default"`). Arguments stand in schema order; those at the
    end that have their default are absent. An argument is an operand, `none`, a
    list of operands and `none`, a number, a Boolean, a string, a list of
    numbers, an element type, or one of the marker attributes of this dialect.
    Floats and integers are different arguments: `1.0` is not `1`.

    A returned list of tensors is flat. A tensor that this call does not return
    (PyTorch gives None) has no result; its position is in `absent`.

    **Constraints**
    - `aten_c1`: as many operand markers in `arguments` as operands
    - `aten_c2`: exactly a `random` operator has a random id
    - `aten_c3`: every argument is of a kind named above
    - `aten_c4`: `absent` positions rise and leave room for the results

    ```mlir
    %sum = sfsdp.aten "add.Tensor"(%x, %y, 2.0)
        : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %half = sfsdp.aten "_to_copy.default"(%sum, bf16)
        scope <forward "norm" at "model.py:7"> : (tensor<4xf32>) -> tensor<4xbf16>
    ```
  }];
  let arguments = (ins
    StrAttr:$callee,
    Variadic<AnyTypeOf<[AnyRankedTensor, Sfsdp_ScalarType]>>:$inputs,
    ArrayAttr:$arguments,                     // aten_c1, aten_c3
    OptionalAttr<DenseI64ArrayAttr>:$absent,  // aten_c4
    DefaultValuedAttr<Sfsdp_OperatorEffectAttr,
        "::mlir::sfsdp::OperatorEffect::Pure">:$effect,
    OptionalAttr<I64Attr>:$random_id,         // aten_c2
    OptionalAttr<Sfsdp_ScopeAttr>:$scope);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $callee `` custom<CallArguments>($inputs, $arguments)
    (`absent` $absent^)? (`effect` `` $effect^)? (`random` $random_id^)? attr-dict
    (`scope` $scope^)? `:` functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

class Sfsdp_AttentionBase<string mnemonic> : Sfsdp_Op<mnemonic, [Pure]> {
  let hasVerifier = 1;
}

def Sfsdp_AttentionOp : Sfsdp_AttentionBase<"attention"> {
  let summary = "Compute scaled dot-product attention";
  let description = [{
    softmax(q kᵀ · scale + mask) v, device-neutral: which kernel computes it is
    chosen by device and element type. `saved` (the logarithm of the sum of
    exponentials) belongs to the backward of the same kernel.

    **Constraints**
    - `attention_c1`: query, key and value are [batch, heads, length, width]
    - `attention_c2`: the output has the query's sizes up to the value's width

    ```mlir
    %out, %saved = sfsdp.attention %q, %k, %v causal
        : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
        -> (tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value,
    Optional<AnyRankedTensor>:$mask,
    UnitAttr:$causal, OptionalAttr<F64Attr>:$scale,
    OptionalAttr<Sfsdp_ScopeAttr>:$scope);
  let results = (outs AnyRankedTensor:$output, AnyRankedTensor:$saved);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? (`causal` $causal^)?
    (`scale` $scale^)? attr-dict (`scope` $scope^)?
    `:` functional-type(operands, results)
  }];
}

def Sfsdp_AttentionBackwardOp : Sfsdp_AttentionBase<"attention_backward"> {
  let summary = "Compute the gradients of attention";
  let description = [{
    `output` and `saved` are the results of the matching `sfsdp.attention`: a
    pair that is mixed from two kernels gives wrong gradients without any error,
    so the verifier insists.

    **Constraints**
    - `attention_backward_c1`: `output` and `saved` come from one
      `sfsdp.attention` with the same query, key, value, mask and attributes
    - `attention_backward_c2`: each gradient has the sizes and element type of
      its tensor

    ```mlir
    %gq, %gk, %gv = sfsdp.attention_backward %g, %q, %k, %v, %out, %saved causal
        : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>,
           tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
        -> (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$gradient,
    AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value,
    AnyRankedTensor:$output, AnyRankedTensor:$saved,
    Optional<AnyRankedTensor>:$mask,
    UnitAttr:$causal, OptionalAttr<F64Attr>:$scale,
    OptionalAttr<Sfsdp_ScopeAttr>:$scope);
  let results = (outs
    AnyRankedTensor:$query_gradient, AnyRankedTensor:$key_gradient,
    AnyRankedTensor:$value_gradient);
  let assemblyFormat = [{
    $gradient `,` $query `,` $key `,` $value `,` $output `,` $saved
    (`mask` $mask^)? (`causal` $causal^)? (`scale` $scale^)? attr-dict
    (`scope` $scope^)? `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Host scalars
//===----------------------------------------------------------------------===//

class Sfsdp_ScalarOp<string mnemonic> : Sfsdp_Op<mnemonic, [Pure]> {
  let results = (outs Sfsdp_ScalarType:$result);
}

def Sfsdp_ScalarConstantOp : Sfsdp_ScalarOp<"scalar_constant"> {
  let summary = "Give a 64-bit number";
  let description = [{
    ```mlir
    %beta1 = sfsdp.scalar_constant 0.9
    ```
  }];
  let arguments = (ins F64Attr:$value);
  let assemblyFormat = "$value attr-dict";
}

def Sfsdp_ScalarComputeOp : Sfsdp_ScalarOp<"scalar_compute"> {
  let summary = "Compute with 64-bit numbers on the host";
  let description = [{
    IEEE double arithmetic, `pow` as C's, so that results equal Python's.

    **Constraints**
    - `scalar_compute_c1`: `neg` takes one operand, the others take two

    ```mlir
    %lr = sfsdp.scalar_constant 1.0e-3
    %decay = sfsdp.scalar_constant 0.1
    %product = sfsdp.scalar_compute mul %lr, %decay
    ```
  }];
  let arguments = (ins
    Sfsdp_ScalarFunctionAttr:$function, Variadic<Sfsdp_ScalarType>:$operands_);
  let assemblyFormat = "`` $function $operands_ attr-dict";
  let hasVerifier = 1;
}

def Sfsdp_MeshCoordinateOp : Sfsdp_ScalarOp<"mesh_coordinate"> {
  let summary = "Give this rank's position on a mesh axis";
  let description = [{
    One of the two ways in which a rank enters a module that is the same for
    all ranks; the other is `sfsdp.valid_rows`.

    ```mlir
    %position = sfsdp.mesh_coordinate "dp"
    ```
  }];
  let arguments = (ins StrAttr:$axis);
  let assemblyFormat = "$axis attr-dict";
}

def Sfsdp_ValidRowsOp : Sfsdp_ScalarOp<"valid_rows"> {
  let summary = "Give the true rows of this rank's chunk";
  let description = [{
    clamp(rows - coordinate · c, 0, c) with c = ceil(rows / axis size).

    ```mlir
    %rows = sfsdp.valid_rows "dp" of 7
    ```
  }];
  let arguments = (ins StrAttr:$axis, I64Attr:$rows);
  let assemblyFormat = "$axis `of` $rows attr-dict";
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

def Sfsdp_LocalChunkOp : Sfsdp_Op<"local_chunk", [Pure]> {
  let summary = "Keep this rank's chunk of a tensor that all ranks have";
  let description = [{
    The chunk along dimension 0 that a `sfsdp.reduce_scatter` on `axis` would
    leave on the rank at `coordinate`: ceil(rows / ranks) rows, zero where it
    passes the last row.

    **Constraints**
    - `local_chunk_c1`: `axis` is an axis of the module's mesh
    - `local_chunk_c2`: the result is a chunk of the operand, both contiguous,
      with one element type

    ```mlir
    %position = sfsdp.mesh_coordinate "dp"
    %chunk = sfsdp.local_chunk %full at %position on "dp"
        : tensor<5x3xf32> -> tensor<3x3xf32>
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$full, Sfsdp_ScalarType:$coordinate, StrAttr:$axis,
    OptionalAttr<Sfsdp_ScopeAttr>:$scope);
  let results = (outs AnyRankedTensor:$chunk);
  let assemblyFormat = [{
    $full `at` $coordinate `on` $axis attr-dict (`scope` $scope^)?
    `:` type($full) `->` type($chunk)
  }];
  let hasVerifier = 1;
}

#endif // SFSDP_OPS_TD
