//===- SfsdpOptimizers.td - Updates and clipping -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/dialect/optimizers*.mlir and clipping*.mlir; the examples of
// descriptions by test/dialect/description-examples.test.

#ifndef SFSDP_OPTIMIZERS_TD
#define SFSDP_OPTIMIZERS_TD

include "dialect/SfsdpOps.td"

/// A 0-dim bool tensor: the same on all ranks.
def Sfsdp_FlagTensor
    : Type<CPred<"$_self == ::mlir::RankedTensorType::get({}, "
                 "::mlir::IntegerType::get($_self.getContext(), 1))">,
           "0-dim bool tensor", "::mlir::RankedTensorType">,
      BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getI1Type())">;

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

class Sfsdp_InPlaceOp<string mnemonic, list<Trait> traits = []>
    : Sfsdp_Op<mnemonic, !listconcat(traits, [
        Pure, DeclareOpInterfaceMethods<Sfsdp_InPlaceOpInterface>])> {
  let hasVerifier = 1;
}

class Sfsdp_UpdateOp<string mnemonic, list<Trait> traits = []>
    : Sfsdp_InPlaceOp<mnemonic,
                      !listconcat(traits, [Sfsdp_UpdateOpInterface])>;

def Sfsdp_AccumulateOp : Sfsdp_InPlaceOp<"accumulate"> {
  let summary = "Add a gradient to the sum over micro-batches";
  let description = [{
    Assigns at micro-batch 0 and adds after it, so that nobody has to clear the
    sum. The result takes the memory of the accumulator.

    **Constraints**
    - `accumulate_c1`: all tensors have one type

    ```mlir
    %sum = sfsdp.accumulate %total, %gradient at %n : tensor<8xf32>
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$accumulator, AnyRankedTensor:$gradient,
    Sfsdp_ScalarType:$micro_batch, OptionalAttr<Sfsdp_ScopeAttr>:$scope);
  let results = (outs AnyRankedTensor:$sum);
  let assemblyFormat = [{
    $accumulator `,` $gradient `at` $micro_batch attr-dict (`scope` $scope^)?
    `:` custom<OneType>(type($accumulator), type($gradient), type($sum))
  }];
}

def Sfsdp_AdamWOp : Sfsdp_UpdateOp<"adamw"> {
  let summary = "Update a parameter by AdamW";
  let description = [{
    The arithmetic of torch.optim.AdamW with foreach=False and fused=False,
    operation by operation, on the local shard. What depends on the step comes
    as host scalars: `decay` = 1 - lr · weight_decay, `step_size` = -(lr / (1 -
    beta1 ** step)), `correction` = (1 - beta2 ** step) ** 0.5. The results take
    the memory of parameter, exp_avg and exp_avg_sq. Where `guard` is false they
    are what stood there before.

    **Constraints**
    - `adamw_c1`: all tensors but the guard have one type

    ```mlir
    %p1, %m1, %v1 = sfsdp.adamw %p, %g, %m, %v
        decay %d step_size %s correction %c betas 0.9, 0.999 eps 1.0e-8
        : tensor<8xf32>
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$parameter, AnyRankedTensor:$gradient,
    AnyRankedTensor:$exp_avg, AnyRankedTensor:$exp_avg_sq,
    Sfsdp_ScalarType:$decay, Sfsdp_ScalarType:$step_size,
    Sfsdp_ScalarType:$correction, Optional<Sfsdp_FlagTensor>:$guard,
    F64Attr:$beta1, F64Attr:$beta2, F64Attr:$eps,
    OptionalAttr<Sfsdp_ScopeAttr>:$scope);
  let results = (outs
    AnyRankedTensor:$new_parameter, AnyRankedTensor:$new_exp_avg,
    AnyRankedTensor:$new_exp_avg_sq);
  let assemblyFormat = [{
    $parameter `,` $gradient `,` $exp_avg `,` $exp_avg_sq
    `decay` $decay `step_size` $step_size `correction` $correction
    `betas` $beta1 `,` $beta2 `eps` $eps (`guard` $guard^)? attr-dict
    (`scope` $scope^)? `:`
    custom<OneType>(type($parameter), type($gradient), type($exp_avg),
        type($exp_avg_sq), type($new_parameter), type($new_exp_avg),
        type($new_exp_avg_sq))
  }];
}

def Sfsdp_AdamOp : Sfsdp_UpdateOp<"adam"> {
  let summary = "Update a parameter by Adam";
  let description = [{
    The arithmetic of torch.optim.Adam with foreach=False and fused=False: as
    `sfsdp.adamw`, but `weight_decay` · parameter is added to the gradient
    first, and the parameter does not decay on its own.

    **Constraints**
    - `adam_c1`: all tensors but the guard have one type

    ```mlir
    %p1, %m1, %v1 = sfsdp.adam %p, %g, %m, %v step_size %s correction %c
        weight_decay 0.01 betas 0.9, 0.999 eps 1.0e-8 : tensor<8xf32>
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$parameter, AnyRankedTensor:$gradient,
    AnyRankedTensor:$exp_avg, AnyRankedTensor:$exp_avg_sq,
    Sfsdp_ScalarType:$step_size, Sfsdp_ScalarType:$correction,
    Optional<Sfsdp_FlagTensor>:$guard,
    F64Attr:$weight_decay, F64Attr:$beta1, F64Attr:$beta2, F64Attr:$eps,
    OptionalAttr<Sfsdp_ScopeAttr>:$scope);
  let results = (outs
    AnyRankedTensor:$new_parameter, AnyRankedTensor:$new_exp_avg,
    AnyRankedTensor:$new_exp_avg_sq);
  let assemblyFormat = [{
    $parameter `,` $gradient `,` $exp_avg `,` $exp_avg_sq
    `step_size` $step_size `correction` $correction
    `weight_decay` $weight_decay `betas` $beta1 `,` $beta2 `eps` $eps
    (`guard` $guard^)? attr-dict (`scope` $scope^)? `:`
    custom<OneType>(type($parameter), type($gradient), type($exp_avg),
        type($exp_avg_sq), type($new_parameter), type($new_exp_avg),
        type($new_exp_avg_sq))
  }];
}

def Sfsdp_SgdOp : Sfsdp_UpdateOp<"sgd", [AttrSizedOperandSegments]> {
  let summary = "Update a parameter by SGD";
  let description = [{
    The arithmetic of torch.optim.SGD with foreach=False and fused=False. With
    momentum the first step assigns the buffer, later ones update it. `step_size`
    = -lr. The results take the memory of parameter and momentum buffer. Where
    `guard` is false they are what stood there before.

    **Constraints**
    - `sgd_c1`: all tensors but the guard have one type
    - `sgd_c2`: a momentum buffer is there exactly if `momentum` is not 0, and
      so is its new value
    - `sgd_c3`: `nesterov` needs momentum

    ```mlir
    %p1 = sfsdp.sgd %p, %g step_size %s step %n weight_decay 0.0 momentum 0.0
        : tensor<8xf32>
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$parameter, AnyRankedTensor:$gradient,
    Optional<AnyRankedTensor>:$momentum_buffer,
    Sfsdp_ScalarType:$step_size, Sfsdp_ScalarType:$step,
    Optional<Sfsdp_FlagTensor>:$guard,
    F64Attr:$weight_decay, F64Attr:$momentum, UnitAttr:$nesterov,
    OptionalAttr<Sfsdp_ScopeAttr>:$scope);
  let results = (outs
    AnyRankedTensor:$new_parameter,
    Optional<AnyRankedTensor>:$new_momentum_buffer);
  let assemblyFormat = [{
    $parameter `,` $gradient (`buffer` $momentum_buffer^)?
    `step_size` $step_size `step` $step `weight_decay` $weight_decay
    `momentum` $momentum (`nesterov` $nesterov^)? (`guard` $guard^)? attr-dict
    (`scope` $scope^)?
    `:` custom<SgdTypes>(ref($momentum_buffer), type($parameter),
        type($gradient), type($momentum_buffer), type($new_parameter),
        type($new_momentum_buffer))
  }];
}

//===----------------------------------------------------------------------===//
// Clipping
//===----------------------------------------------------------------------===//

class Sfsdp_NormOp<string mnemonic, list<Trait> traits = []>
    : Sfsdp_Op<mnemonic, !listconcat(traits, [Pure])>;

def Sfsdp_ChunkNormsOp : Sfsdp_NormOp<"chunk_norms"> {
  let summary = "Give the 2-norms of the chunks of a gradient";
  let description = [{
    Of a whole gradient: the norms of its n chunks of dimension 0 by the chunk
    rule, n the length of the result; a tensor of 0 dimensions has one row. Of
    one rank's chunk: its norm, over the first `rows` rows, which are the true
    ones (`rows` below 0 counts as 0, above the chunk's as those). A chunk
    without rows has norm 0. Each norm is torch.linalg.vector_norm's, computed
    in the gradient's type.

    **Constraints**
    - `chunk_norms_c1`: with `rows` there is one chunk, of one dimension or more

    ```mlir
    %both = sfsdp.chunk_norms %whole : tensor<7x3xf32> -> tensor<2xf32>
    %true_rows = sfsdp.valid_rows "dp" of 7
    %mine = sfsdp.chunk_norms %chunk rows %true_rows
        : tensor<4x3xf32> -> tensor<1xf32>
    ```
  }];
  let arguments = (ins
    RankedTensorOf<[AnyFloat]>:$gradient, Optional<Sfsdp_ScalarType>:$rows,
    OptionalAttr<Sfsdp_ScopeAttr>:$scope);
  let results = (outs 1DTensorOf<[AnyFloat]>:$norms);
  let assemblyFormat = [{
    $gradient (`rows` $rows^)? attr-dict (`scope` $scope^)?
    `:` type($gradient) `->` type($norms)
  }];
  let hasVerifier = 1;
}

def Sfsdp_TotalNormOp : Sfsdp_NormOp<"total_norm"> {
  let summary = "Give the 2-norm of all gradients";
  let description = [{
    One operand per parameter, in the order of the arguments: the norms of all
    its chunks. The norm of a parameter with one chunk is that chunk's; else the
    squares of its chunks' are added in order and rooted, half types in f32. The
    result is the norm of these norms, as torch.nn.utils.clip_grad_norm_ forms
    it.

    **Constraints**
    - `total_norm_c1`: at least one operand; all have one type
    - `total_norm_c2`: the result has their element type

    ```mlir
    %norm = sfsdp.total_norm %a, %b
        : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
    ```
  }];
  let arguments = (ins
    Variadic<1DTensorOf<[AnyFloat]>>:$norms,
    OptionalAttr<Sfsdp_ScopeAttr>:$scope);
  let results = (outs 0DTensorOf<[AnyFloat]>:$norm);
  let assemblyFormat = [{
    $norms attr-dict (`scope` $scope^)? `:` functional-type($norms, $norm)
  }];
  let hasVerifier = 1;
}

def Sfsdp_ClipCoefficientOp
    : Sfsdp_NormOp<"clip_coefficient", [SameOperandsAndResultType]> {
  let summary = "Give the factor that clips gradients";
  let description = [{
    min(1, max / (norm + 1e-6)) in the arithmetic of
    torch.nn.utils.clip_grad_norm_: NaN stays NaN, and an infinite norm gives 0.

    **Constraints**
    - `clip_coefficient_c1`: `max` is positive and finite

    ```mlir
    %factor = sfsdp.clip_coefficient %norm max 1.0 : tensor<f32>
    ```
  }];
  let arguments = (ins
    0DTensorOf<[AnyFloat]>:$norm, F64Attr:$max,
    OptionalAttr<Sfsdp_ScopeAttr>:$scope);
  let results = (outs 0DTensorOf<[AnyFloat]>:$coefficient);
  let assemblyFormat = [{
    $norm `max` $max attr-dict (`scope` $scope^)? `:` type($norm)
  }];
  let hasVerifier = 1;
}

def Sfsdp_IsFiniteOp : Sfsdp_NormOp<"is_finite"> {
  let summary = "Say whether a norm is neither infinite nor NaN";
  let description = [{
    The guard of updates that `skip-nonfinite` asks for.

    ```mlir
    %ok = sfsdp.is_finite %norm : tensor<f32>
    ```
  }];
  let arguments = (ins
    0DTensorOf<[AnyFloat]>:$norm, OptionalAttr<Sfsdp_ScopeAttr>:$scope);
  let results = (outs Sfsdp_FlagTensor:$flag);
  let assemblyFormat = [{
    $norm attr-dict (`scope` $scope^)? `:` type($norm)
  }];
}

#endif // SFSDP_OPTIMIZERS_TD
