//===- SfsdpCollectives.td - Collectives over mesh axes ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each collective has a synchronous form and a start form with the same
// operands and attributes. Constraints are stated once, at the synchronous form.
//
// Tested by test/dialect/.

#ifndef SFSDP_COLLECTIVES_TD
#define SFSDP_COLLECTIVES_TD

include "dialect/SfsdpOptimizers.td"

def Sfsdp_WaitOp : Sfsdp_Op<"wait", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Wait for a collective and give its tensors";
  let description = [{
    **Constraints**
    - `wait_c1`: the operand has no other use

    ```mlir
    %pending = sfsdp.all_gather_start %shard on ["dp"]
        : (tensor<2x3xf32>) -> !sfsdp.pending<tensor<4x3xf32>>
    %full = sfsdp.wait %pending : !sfsdp.pending<tensor<4x3xf32>>
    ```
  }];
  let arguments = (ins Sfsdp_PendingType:$pending,
                       OptionalAttr<Sfsdp_ScopeAttr>:$scope);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $pending attr-dict (`scope` $scope^)? `:` qualified(type($pending))
  }];
  let hasVerifier = 1;
}

/// Operands, attributes and results shared by both forms.
class Sfsdp_CollectiveBase<string mnemonic, dag ownAttributes, dag outputs>
    : Sfsdp_Op<mnemonic, [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<Sfsdp_CollectiveOpInterface,
            ["getMemberResultTypes", "isStart", "getCollectiveName",
             "canShareBucketWith"]>]> {
  let arguments = !con((ins Variadic<AnyRankedTensor>:$inputs, StrArrayAttr:$axes),
                       ownAttributes,
                       (ins OptionalAttr<StrArrayAttr>:$names,
                            OptionalAttr<Sfsdp_ScopeAttr>:$scope));
  let results = outputs;
  let hasVerifier = 1;
}

class Sfsdp_Collective<string mnemonic, dag ownAttributes, string ownFormat>
    : Sfsdp_CollectiveBase<mnemonic, ownAttributes,
                           (outs Variadic<AnyRankedTensor>:$results)> {
  let assemblyFormat = "$inputs `on` $axes " # ownFormat # [{
    (`for` $names^)? attr-dict (`scope` $scope^)?
    `:` functional-type($inputs, $results)
  }];
}

class Sfsdp_CollectiveStart<string mnemonic, dag ownAttributes, string ownFormat>
    : Sfsdp_CollectiveBase<mnemonic, ownAttributes,
                           (outs Sfsdp_PendingType:$pending)> {
  let description = [{
    The asynchronous form: operands stay untouched until the wait. The order of
    starts in the text is the order in which they are issued.
  }];
  let assemblyFormat = "$inputs `on` $axes " # ownFormat # [{
    (`for` $names^)? attr-dict (`scope` $scope^)?
    `:` functional-type($inputs, $pending)
  }];
}

//===----------------------------------------------------------------------===//
// all_gather
//===----------------------------------------------------------------------===//

defvar gatherAttributes = (ins
  DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$dim,
  UnitAttr:$regather);
defvar gatherFormat = "(`dim` $dim^)? (`regather` $regather^)? ";

def Sfsdp_AllGatherOp
    : Sfsdp_Collective<"all_gather", gatherAttributes, gatherFormat> {
  let summary = "Put the shards of all ranks together";
  let description = [{
    Each operand is a chunk along `dim`; the result has the true rows, a prefix
    of ranks · chunk rows in memory. `regather` marks the second gather of a
    parameter, for backward, which a schedule may fold into the first.

    ```
      rank 0: +---+          rank 0: +---+---+
              | A |                  | A | B |
              +---+                  +---+---+
      rank 1: +---+   ====>  rank 1: +---+---+
              | B |                  | A | B |
              +---+                  +---+---+
    ```

    **Constraints**
    - `all_gather_c1`: as many results as operands, at least one
    - `all_gather_c2`: each result has the operand's element type
    - `all_gather_c3`: all axes are axes of the module's mesh, each once
    - `all_gather_c4`: along `dim` the operand has ceil(rows / ranks) of the
      result's rows; the other dimensions are equal
    - `all_gather_c5`: operands and results are contiguous
    - `all_gather_c6`: `names`, if given, has one name per operand

    ```mlir
    %full = sfsdp.all_gather %shard on ["dp"] for ["norm.weight"]
        : (tensor<2x3xf32>) -> tensor<4x3xf32>
    ```
  }];
}

def Sfsdp_AllGatherStartOp
    : Sfsdp_CollectiveStart<"all_gather_start", gatherAttributes, gatherFormat> {
  let summary = "Start putting the shards of all ranks together";
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

defvar reduceAttributes = (ins
  DefaultValuedAttr<Sfsdp_ReduceKindAttr,
      "::mlir::sfsdp::ReduceKind::Sum">:$reduce,
  DefaultValuedAttr<Sfsdp_ReductionOrderAttr,
      "::mlir::sfsdp::ReductionOrder::Ordered">:$order,
  DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$grouped,
  DefaultValuedAttr<F64Attr, "1.0">:$divisor);
defvar reduceFormat = "(`reduce` `` $reduce^)? (`order` `` $order^)? (`grouped` $grouped^)? (`divisor` $divisor^)? ";
defvar scatterAttributes = !con(
  (ins DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$dim),
  reduceAttributes);
defvar scatterFormat = !strconcat("(`dim` $dim^)? ", reduceFormat);

def Sfsdp_ReduceScatterOp
    : Sfsdp_Collective<"reduce_scatter", scatterAttributes, scatterFormat> {
  let summary = "Sum over the ranks and keep this rank's chunk";
  let description = [{
    The operand has the true rows; the result is this rank's chunk, its tail
    zero where the chunk passes the last row. Each element is summed in rank
    order and then divided once by `divisor`. `grouped` K sums blocks of K
    consecutive ranks first and then the blocks, both in order.

    ```
      rank 0: +---+---+          rank 0: +-------+
              | A | B |                  | A + C |
              +---+---+                  +-------+
      rank 1: +---+---+   ====>  rank 1: +-------+
              | C | D |                  | B + D |
              +---+---+                  +-------+
    ```

    **Constraints**: those of `all_gather` with operand and result exchanged
    (`reduce_scatter_c1` … `reduce_scatter_c6`), and
    - `reduce_scatter_c7`: `divisor` is positive and finite
    - `reduce_scatter_c8`: `avg` needs `order backend` and no divisor
    - `reduce_scatter_c9`: element types are not bool
    - `reduce_scatter_c10`: `grouped` needs `order ordered`

    ```mlir
    %shard = sfsdp.reduce_scatter %gradient on ["dp"] divisor 2.0
        : (tensor<4x3xf32>) -> tensor<2x3xf32>
    ```
  }];
}

def Sfsdp_ReduceScatterStartOp
    : Sfsdp_CollectiveStart<"reduce_scatter_start", scatterAttributes, scatterFormat> {
  let summary = "Start summing over the ranks to chunks";
}

def Sfsdp_AllReduceOp
    : Sfsdp_Collective<"all_reduce", reduceAttributes, reduceFormat> {
  let summary = "Sum over the ranks";
  let description = [{
    By definition a reduce-scatter followed by an all-gather: the same additions
    in the same order.

    ```
      rank 0: +---+          rank 0: +-------+
              | A |                  | A + B |
              +---+                  +-------+
      rank 1: +---+   ====>  rank 1: +-------+
              | B |                  | A + B |
              +---+                  +-------+
    ```

    **Constraints**
    - `all_reduce_c1`: as many results as operands, at least one
    - `all_reduce_c2`: each result has the operand's type
    - `all_reduce_c3`: all axes are axes of the module's mesh, each once
    - `all_reduce_c5`: operands and results are contiguous
    - `all_reduce_c6`: `names`, if given, has one name per operand
    - `all_reduce_c7`: `divisor` is positive and finite
    - `all_reduce_c8`: `avg` needs `order backend` and no divisor
    - `all_reduce_c9`: element types are not bool
    - `all_reduce_c10`: `grouped` needs `order ordered`

    ```mlir
    %mean = sfsdp.all_reduce %gradient on ["dp"] divisor 2.0
        : (tensor<4x3xf32>) -> tensor<4x3xf32>
    ```
  }];
}

def Sfsdp_AllReduceStartOp
    : Sfsdp_CollectiveStart<"all_reduce_start", reduceAttributes, reduceFormat> {
  let summary = "Start summing over the ranks";
}

//===----------------------------------------------------------------------===//
// broadcast
//===----------------------------------------------------------------------===//

defvar broadcastAttributes = (ins
  DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$root);
defvar broadcastFormat = "(`root` $root^)? ";

def Sfsdp_BroadcastOp
    : Sfsdp_Collective<"broadcast", broadcastAttributes, broadcastFormat> {
  let summary = "Copy one rank's tensors to all";
  let description = [{
    ```
      rank 0: +---+          rank 0: +---+
              | A |                  | A |
              +---+                  +---+
      rank 1: +---+   ====>  rank 1: +---+
              | B |                  | A |
              +---+                  +---+
    ```

    **Constraints**
    - `broadcast_c1`: as many results as operands, at least one
    - `broadcast_c2`: each result has the operand's type
    - `broadcast_c3`: all axes are axes of the module's mesh, each once
    - `broadcast_c4`: `root` is a rank of the group
    - `broadcast_c5`: operands and results are contiguous
    - `broadcast_c6`: `names`, if given, has one name per operand

    ```mlir
    %same = sfsdp.broadcast %buffer on ["dp"] : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
}

def Sfsdp_BroadcastStartOp
    : Sfsdp_CollectiveStart<"broadcast_start", broadcastAttributes, broadcastFormat> {
  let summary = "Start copying one rank's tensors to all";
}

//===----------------------------------------------------------------------===//
// all_to_all
//===----------------------------------------------------------------------===//

defvar exchangeAttributes = (ins
  ConfinedAttr<I64Attr, [IntNonNegative]>:$split_dim,
  ConfinedAttr<I64Attr, [IntNonNegative]>:$concat_dim);
defvar exchangeFormat = "`split` $split_dim `concat` $concat_dim ";

def Sfsdp_AllToAllOp
    : Sfsdp_Collective<"all_to_all", exchangeAttributes, exchangeFormat> {
  let summary = "Split along one dimension, exchange, put together along another";
  let description = [{
    ```
      rank 0: +---+---+          rank 0: +---+
              | A | B |                  | A |
              +---+---+                  +---+
                                         | C |
      rank 1: +---+---+                  +---+
              | C | D |   ====>  rank 1: +---+
              +---+---+                  | B |
                                         +---+
                                         | D |
                                         +---+
    ```

    **Constraints**
    - `all_to_all_c1`: as many results as operands, at least one
    - `all_to_all_c2`: each result has the operand's element type
    - `all_to_all_c3`: all axes are axes of the module's mesh, each once
    - `all_to_all_c4`: `split_dim` divides by the ranks; the result is smaller
      there and larger at `concat_dim` by that factor
    - `all_to_all_c5`: operands and results are contiguous
    - `all_to_all_c6`: `names`, if given, has one name per operand

    ```mlir
    %rows = sfsdp.all_to_all %columns on ["dp"] split 1 concat 0
        : (tensor<2x4xf32>) -> tensor<4x2xf32>
    ```
  }];
}

def Sfsdp_AllToAllStartOp
    : Sfsdp_CollectiveStart<"all_to_all_start", exchangeAttributes, exchangeFormat> {
  let summary = "Start an exchange between all ranks";
}

#endif // SFSDP_COLLECTIVES_TD
