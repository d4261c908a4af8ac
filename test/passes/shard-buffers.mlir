// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 buffers=broadcast" | FileCheck %s
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:1 buffers=broadcast" | FileCheck %s --check-prefix=NONE
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2" | FileCheck %s --check-prefix=NONE
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 buffers=broadcast" | simplefsdp-opt --sfsdp-bucket --sfsdp-reorder --sfsdp-verify | FileCheck %s --check-prefix=REST

// One collective for all buffers; what the step reads and returns comes from it.
// CHECK: (%{{.*}}: tensor<4xf32> {{{.*}}<buffer "mean">}, %[[COUNT:.*]]: tensor<i64>
// CHECK: %[[SAME:.*]]:2 = sfsdp.broadcast %{{.*}}, %[[COUNT]] on ["dp"] for ["mean", "count"] scope <forward "" by "sfsdp-shard">
// CHECK: %[[NEW:.*]] = sfsdp.aten "add.Tensor"(%[[SAME]]#0, %{{.*}})
// CHECK: return %[[NEW]], %[[SAME]]#1
// NONE-NOT: sfsdp.broadcast
// REST: sfsdp.broadcast_start
func.func @train_step(
    %mean: tensor<4xf32> {sfsdp.role = #sfsdp.role<buffer "mean">},
    %count: tensor<i64> {sfsdp.role = #sfsdp.role<buffer "count">},
    %x: tensor<4xf32> {sfsdp.role = #sfsdp.role<input "x">})
    -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<buffer "mean">},
        tensor<i64> {sfsdp.role = #sfsdp.role<output "count">}) {
  %new = sfsdp.aten "add.Tensor"(%mean, %x) scope <forward ""> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %new, %count : tensor<4xf32>, tensor<i64>
}
