//===- SfsdpDialect.td - The sfsdp dialect -----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/dialect/; the examples of descriptions by
// test/dialect/description-examples.test.

#ifndef SFSDP_DIALECT_TD
#define SFSDP_DIALECT_TD

include "mlir/IR/DialectBase.td"

def Sfsdp_Dialect : Dialect {
  let name = "sfsdp";
  let cppNamespace = "::mlir::sfsdp";
  let summary = "What a sharded training graph can say";
  let description = [{
    One training step of a model, the same for all ranks: captured ATen
    operators, collectives over named mesh axes, host scalars, and optimizer
    updates. A module carries the mesh and one function; roles and placements of
    its arguments and results are attributes, so that a function describes
    itself:

    ```mlir
    module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
      func.func @train_step(
          %w: tensor<2x3xf32> {sfsdp.role = #sfsdp.role<parameter "proj.weight">,
                               sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>,
                               sfsdp.global = tensor<4x3xf32>},
          %x: tensor<5x3xf32> {sfsdp.role = #sfsdp.role<input "x">})
          -> (tensor<5x4xf32> {sfsdp.role = #sfsdp.role<output "y">}) {
        %full = sfsdp.all_gather %w on ["dp"] : (tensor<2x3xf32>) -> tensor<4x3xf32>
        %y = sfsdp.aten "linear.default"(%x, %full)
            : (tensor<5x3xf32>, tensor<4x3xf32>) -> tensor<5x4xf32>
        return %y : tensor<5x4xf32>
      }
    }
    ```

    Discardable attributes:

    | name | on | holds |
    |---|---|---|
    | `sfsdp.mesh` | module | `#sfsdp.mesh`, the named axes |
    | `sfsdp.inputs` | module | array of `#sfsdp.input_file`, the files that were read |
    | `sfsdp.micro_batches` | module | integer above 1, forward and backward passes per step; absent: 1 |
    | `sfsdp.options` | module | string, the effective options of the pipeline |
    | `sfsdp.role` | argument, result | `#sfsdp.role`, what it is to the training step |
    | `sfsdp.placement` | argument, result | `#sfsdp.placement`; absent: replicated |
    | `sfsdp.global` | argument, result | the type before sharding; absent: the type itself |

    A tensor type carries its strides as `#sfsdp.strides` unless it is
    contiguous. Shards have the padded chunk size `ceil(rows / ranks)`; gathered
    tensors and inputs of reductions have the true rows.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

#endif // SFSDP_DIALECT_TD
