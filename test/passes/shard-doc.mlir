// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 reshard=always" | FileCheck %s

// One weight of five rows on two ranks: chunks of three rows, one gather per
// phase, and a gradient that is averaged and scattered.
//
// CHECK: sfsdp.mesh = #sfsdp.mesh<"dp" = 2>
// CHECK: func.func @train_step(%[[W:.*]]: tensor<3x3xf32>
// CHECK-SAME: sfsdp.global = tensor<5x3xf32>, sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>
// CHECK-SAME: -> (tensor<f32> {{.*}}, tensor<3x3xf32> {sfsdp.global = tensor<5x3xf32>, sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>
// CHECK: %[[FULL:.*]] = sfsdp.all_gather %[[W]] on ["dp"] for ["proj.weight"] scope <forward "proj" by "sfsdp-shard"> : (tensor<3x3xf32>) -> tensor<5x3xf32>
// CHECK: sfsdp.aten "mul.Tensor"(%[[FULL]], %{{.*}})
// CHECK: %[[AGAIN:.*]] = sfsdp.all_gather %[[W]] on ["dp"] regather for ["proj.weight"] scope <backward "proj" by "sfsdp-shard">
// CHECK: %[[G:.*]] = sfsdp.aten "mul.Tensor"(%[[AGAIN]], %{{.*}})
// CHECK: %[[MEAN:.*]] = sfsdp.reduce_scatter %[[G]] on ["dp"] divisor 2.000000e+00 for ["proj.weight"] scope <backward "proj" by "sfsdp-shard"> : (tensor<5x3xf32>) -> tensor<3x3xf32>
// CHECK: return %{{.*}}, %[[MEAN]]
func.func @train_step(
    %w: tensor<5x3xf32> {sfsdp.role = #sfsdp.role<parameter "proj.weight">},
    %x: tensor<5x3xf32> {sfsdp.role = #sfsdp.role<input "x">})
    -> (tensor<f32> {sfsdp.role = #sfsdp.role<loss "loss">},
        tensor<5x3xf32> {sfsdp.role = #sfsdp.role<gradient "proj.weight">}) {
  %y = sfsdp.aten "mul.Tensor"(%w, %x) scope <forward "proj"> : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %loss = sfsdp.aten "sum.default"(%y) scope <forward ""> : (tensor<5x3xf32>) -> tensor<f32>
  %g = sfsdp.aten "mul.Tensor"(%w, %x) scope <backward "proj"> : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  return %loss, %g : tensor<f32>, tensor<5x3xf32>
}
