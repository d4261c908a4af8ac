// RUN: simplefsdp-opt %s -split-input-file --sfsdp-shard="mesh=dp:2 reshard=always" | FileCheck %s

// Backward reads a view of the parameter that forward made: it gets its own, of
// the second gather.
// CHECK-LABEL: module @view
// CHECK: %[[FULL:.*]] = sfsdp.all_gather
// CHECK: sfsdp.aten "t.default"(%[[FULL]]) scope <forward "w">
// CHECK: %[[AGAIN:.*]] = sfsdp.all_gather {{.*}} regather
// CHECK: %[[T:.*]] = sfsdp.aten "t.default"(%[[AGAIN]]) scope <backward "w" by "sfsdp-shard">
// CHECK: sfsdp.aten "mm.default"(%{{.*}}, %[[T]]) scope <backward "">
module @view {
  func.func @train_step(
      %w: tensor<4x4xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
      %x: tensor<4x4xf32> {sfsdp.role = #sfsdp.role<input "x">})
      -> (tensor<4x4xf32> {sfsdp.role = #sfsdp.role<output "y">}) {
    %t = sfsdp.aten "t.default"(%w) scope <forward "w"> : (tensor<4x4xf32>) -> tensor<4x4xf32, #sfsdp.strides<[1, 4]>>
    %a = sfsdp.aten "mm.default"(%x, %t) scope <forward ""> : (tensor<4x4xf32>, tensor<4x4xf32, #sfsdp.strides<[1, 4]>>) -> tensor<4x4xf32>
    %y = sfsdp.aten "mm.default"(%a, %t) scope <backward ""> : (tensor<4x4xf32>, tensor<4x4xf32, #sfsdp.strides<[1, 4]>>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}

// -----

// 64 bytes of copy against a shard of 32: computed again, its chain with it.
// CHECK-LABEL: module @large_copy
// CHECK: %[[AGAIN:.*]] = sfsdp.all_gather {{.*}} regather
// CHECK: %[[T:.*]] = sfsdp.aten "t.default"(%[[AGAIN]]) scope <backward
// CHECK: %[[C:.*]] = sfsdp.aten "clone.default"(%[[T]], #sfsdp.memory_format<contiguous>) scope <backward
// CHECK: sfsdp.aten "mm.default"(%{{.*}}, %[[C]]) scope <backward
module @large_copy {
  func.func @train_step(
      %w: tensor<4x4xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
      %x: tensor<4x4xf32> {sfsdp.role = #sfsdp.role<input "x">})
      -> (tensor<4x4xf32> {sfsdp.role = #sfsdp.role<output "y">}) {
    %t = sfsdp.aten "t.default"(%w) scope <forward "w"> : (tensor<4x4xf32>) -> tensor<4x4xf32, #sfsdp.strides<[1, 4]>>
    %c = sfsdp.aten "clone.default"(%t, #sfsdp.memory_format<contiguous>) scope <forward "w"> : (tensor<4x4xf32, #sfsdp.strides<[1, 4]>>) -> tensor<4x4xf32>
    %a = sfsdp.aten "mm.default"(%x, %c) scope <forward ""> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %y = sfsdp.aten "mm.default"(%a, %c) scope <backward ""> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}

// -----

// A sum of 4 bytes is kept: no second gather.
// CHECK-LABEL: module @negative_small_value
// CHECK: sfsdp.all_gather
// CHECK-NOT: sfsdp.all_gather
// CHECK: %[[S:.*]] = sfsdp.aten "sum.default"
// CHECK: sfsdp.aten "mul.Tensor"(%{{.*}}, %[[S]]) scope <backward
module @negative_small_value {
  func.func @train_step(
      %w: tensor<4x4xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
      %x: tensor<4x4xf32> {sfsdp.role = #sfsdp.role<input "x">})
      -> (tensor<4x4xf32> {sfsdp.role = #sfsdp.role<output "y">}) {
    %s = sfsdp.aten "sum.default"(%w) scope <forward ""> : (tensor<4x4xf32>) -> tensor<f32>
    %y = sfsdp.aten "mul.Tensor"(%x, %s) scope <backward ""> : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}

// -----

// What also depends on an input, and random numbers, are saved as captured.
// CHECK-LABEL: module @negative_activation
// CHECK-NOT: regather
module @negative_activation {
  func.func @train_step(
      %w: tensor<4x4xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
      %x: tensor<4x4xf32> {sfsdp.role = #sfsdp.role<input "x">})
      -> (tensor<4x4xf32> {sfsdp.role = #sfsdp.role<output "y">}) {
    %a = sfsdp.aten "mul.Tensor"(%w, %x) scope <forward ""> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %r = sfsdp.aten "bernoulli.p"(%w, 0.5) effect random random 0 scope <forward ""> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %y = sfsdp.aten "mul.Tensor"(%a, %r) scope <backward ""> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}
