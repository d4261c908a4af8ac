// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 reshard=auto" | FileCheck %s --implicit-check-not=sfsdp.all_gather
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2" | FileCheck %s --implicit-check-not=sfsdp.all_gather

// The block that forward gathers last is kept: its backward comes first. Which
// one that is follows from uses, not from the order of registration.
// CHECK: sfsdp.all_gather %{{.*}} on ["dp"] for ["blocks.0.w"]
// CHECK: sfsdp.all_gather %{{.*}} on ["dp"] for ["blocks.1.w"]
// CHECK: %[[HEAD:.*]] = sfsdp.all_gather %{{.*}} on ["dp"] for ["head"]
// CHECK: sfsdp.aten "mul.Tensor"(%{{.*}}, %[[HEAD]]) scope <backward
// CHECK: sfsdp.all_gather %{{.*}} on ["dp"] regather for ["blocks.1.w"]
// CHECK: sfsdp.all_gather %{{.*}} on ["dp"] regather for ["blocks.0.w"]
func.func @train_step(
    %head: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "head">},
    %w0: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "blocks.0.w">},
    %w1: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "blocks.1.w">},
    %x: tensor<4xf32> {sfsdp.role = #sfsdp.role<input "x">})
    -> (tensor<f32> {sfsdp.role = #sfsdp.role<loss "loss">}) {
  %a = sfsdp.aten "mul.Tensor"(%x, %w0) scope <forward "blocks.0"> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = sfsdp.aten "mul.Tensor"(%a, %w1) scope <forward "blocks.1"> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = sfsdp.aten "mul.Tensor"(%b, %head) scope <forward ""> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = sfsdp.aten "sum.default"(%c) scope <forward ""> : (tensor<4xf32>) -> tensor<f32>
  %d = sfsdp.aten "mul.Tensor"(%c, %head) scope <backward ""> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = sfsdp.aten "mul.Tensor"(%d, %w1) scope <backward "blocks.1"> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %f = sfsdp.aten "mul.Tensor"(%e, %w0) scope <backward "blocks.0"> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %loss : tensor<f32>
}
