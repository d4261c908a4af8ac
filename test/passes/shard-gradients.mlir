// RUN: simplefsdp-opt %s -split-input-file --sfsdp-shard="mesh=dp:4" -verify-diagnostics | FileCheck %s

// F08: a transposed gradient is copied before it is sent, and the copy shows.
// CHECK-LABEL: module @F08_transposed
// CHECK: %[[T:.*]] = sfsdp.aten "t.default"
// CHECK: %[[C:.*]] = sfsdp.aten "clone.default"(%[[T]], #sfsdp.memory_format<contiguous>) scope <backward "" by "sfsdp-shard"> : (tensor<4x3xf32, #sfsdp.strides<[1, 4]>>) -> tensor<4x3xf32>
// CHECK: sfsdp.reduce_scatter %[[C]] on ["dp"] divisor 4.000000e+00 for ["w"]
module @F08_transposed {
  func.func @train_step(
      %w: tensor<4x3xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
      %x: tensor<3x4xf32> {sfsdp.role = #sfsdp.role<input "x">})
      -> (tensor<4x3xf32, #sfsdp.strides<[1, 4]>> {sfsdp.role = #sfsdp.role<gradient "w">}) {
    %g = sfsdp.aten "t.default"(%x) scope <backward ""> : (tensor<3x4xf32>) -> tensor<4x3xf32, #sfsdp.strides<[1, 4]>>
    return %g : tensor<4x3xf32, #sfsdp.strides<[1, 4]>>
  }
}

// -----

// F03: a scalar parameter stays whole with a remark; one without elements moves
// nothing.
// CHECK-LABEL: module @F03_scalar_and_empty
// CHECK: tensor<f32> {sfsdp.role = #sfsdp.role<parameter "t">}
// CHECK-SAME: tensor<0x4xf32> {sfsdp.role = #sfsdp.role<parameter "e">}
// CHECK-NOT: sfsdp.all_gather
// CHECK: %[[G:.*]] = sfsdp.all_reduce %{{.*}} on ["dp"] divisor 4.000000e+00 for ["t"]
// CHECK-NOT: sfsdp.{{all_reduce|reduce_scatter}}
// CHECK: return %[[G]], %{{.*}} : tensor<f32>, tensor<0x4xf32>
module @F03_scalar_and_empty {
  func.func @train_step(
      // expected-remark@+1 {{parameter 't' stays whole on every rank: it has 0 dimensions}}
      %t: tensor<f32> {sfsdp.role = #sfsdp.role<parameter "t">},
      %e: tensor<0x4xf32> {sfsdp.role = #sfsdp.role<parameter "e">})
      -> (tensor<f32> {sfsdp.role = #sfsdp.role<gradient "t">},
          tensor<0x4xf32> {sfsdp.role = #sfsdp.role<gradient "e">}) {
    %a = sfsdp.aten "exp.default"(%t) scope <backward ""> : (tensor<f32>) -> tensor<f32>
    %b = sfsdp.aten "neg.default"(%e) scope <backward ""> : (tensor<0x4xf32>) -> tensor<0x4xf32>
    return %a, %b : tensor<f32>, tensor<0x4xf32>
  }
}

// -----

// Fewer rows than ranks: chunks of one row, some of them padding.
// CHECK-LABEL: module @fewer_rows_than_ranks
// CHECK: %{{.*}}: tensor<1x3xf32> {sfsdp.global = tensor<2x3xf32>
// CHECK: sfsdp.all_gather {{.*}} : (tensor<1x3xf32>) -> tensor<2x3xf32>
// CHECK: sfsdp.reduce_scatter {{.*}} : (tensor<2x3xf32>) -> tensor<1x3xf32>
module @fewer_rows_than_ranks {
  func.func @train_step(
      %w: tensor<2x3xf32> {sfsdp.role = #sfsdp.role<parameter "w">})
      -> (tensor<2x3xf32> {sfsdp.role = #sfsdp.role<gradient "w">}) {
    %g = sfsdp.aten "neg.default"(%w) scope <backward ""> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %g : tensor<2x3xf32>
  }
}
