// Generic simplification after any pass keeps the collectives: those that
// repeat each other too, and those whose results nobody reads.
//
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 reshard=always" --cse --canonicalize | FileCheck %s --check-prefix=SHARD
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 reshard=always" --sfsdp-append-optimizer --cse --canonicalize | FileCheck %s --check-prefix=SHARD
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 reshard=always" --sfsdp-canonicalize --sfsdp-bucket --cse --canonicalize | FileCheck %s --check-prefix=BUCKET
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 reshard=always" --sfsdp-reorder --cse --canonicalize --sfsdp-verify | FileCheck %s --check-prefix=REORDER

// SHARD-COUNT-4: sfsdp.all_gather %
// SHARD-COUNT-2: sfsdp.reduce_scatter %
// BUCKET-COUNT-2: sfsdp.all_gather %{{[a-z0-9]+}}, %
// BUCKET: sfsdp.reduce_scatter %{{[a-z0-9]+}}, %
// REORDER-COUNT-4: sfsdp.all_gather_start
// REORDER-COUNT-2: sfsdp.reduce_scatter_start
func.func @train_step(
    %a: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "a">},
    %b: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "b">})
    -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "a">},
        tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "b">}) {
  %x = sfsdp.aten "mul.Tensor"(%a, %b) scope <forward ""> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %g = sfsdp.aten "mul.Tensor"(%a, %b) scope <backward ""> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %g, %g : tensor<4xf32>, tensor<4xf32>
}
