// RUN: simplefsdp-opt %s -split-input-file --sfsdp-shard="mesh=dp:4 reshard=always" | FileCheck %s
// RUN: simplefsdp-opt %s -split-input-file --sfsdp-shard="mesh=dp:4 reduce-dtype=f32 reshard=always" | FileCheck %s --check-prefix=F32
// RUN: simplefsdp-opt %s -split-input-file --sfsdp-shard="mesh=dp:4 reduce-dtype=f16 reshard=always" | FileCheck %s --check-prefix=F16

// F17: f32 shards, bf16 compute. The cast is on the shard, the gather in bf16,
// in forward and, because forward's cast is not kept, in backward.
// CHECK-LABEL: module @F17_narrowing
// CHECK: %[[W:.*]]: tensor<2x8xf32>
// CHECK: %[[A:.*]] = sfsdp.aten "_to_copy.default"(%[[W]], bf16) scope <forward "w" at "m.py:1" by "sfsdp-shard"> : (tensor<2x8xf32>) -> tensor<2x8xbf16>
// CHECK: %[[FULL:.*]] = sfsdp.all_gather %[[A]] on ["dp"] for ["w.weight"] scope <forward "w" by "sfsdp-shard"> : (tensor<2x8xbf16>) -> tensor<8x8xbf16>
// CHECK: sfsdp.aten "mm.default"(%{{.*}}, %[[FULL]]) scope <forward "w">
// CHECK: %[[B:.*]] = sfsdp.aten "_to_copy.default"(%[[W]], bf16) scope <backward "w" at "m.py:1" by "sfsdp-shard">
// CHECK: sfsdp.all_gather %[[B]] on ["dp"] regather
// The gradient is reduced in the stored type, cast before it is sent.
// CHECK: %[[G:.*]] = sfsdp.aten "_to_copy.default"(%{{.*}}, f32) scope <backward "w">
// CHECK: sfsdp.reduce_scatter %[[G]] {{.*}} : (tensor<8x8xf32>) -> tensor<2x8xf32>
// F16-LABEL: module @F17_narrowing
// F16: %[[H:.*]] = sfsdp.aten "_to_copy.default"(%{{.*}}, f16) {{.*}} -> tensor<8x8xf16>
// F16: %[[R:.*]] = sfsdp.reduce_scatter %[[H]] on ["dp"] divisor 4.000000e+00 {{.*}} -> tensor<2x8xf16>
// F16: sfsdp.aten "_to_copy.default"(%[[R]], f32) {{.*}} : (tensor<2x8xf16>) -> tensor<2x8xf32>
module @F17_narrowing {
  func.func @train_step(
      %w: tensor<8x8xf32> {sfsdp.role = #sfsdp.role<parameter "w.weight">},
      %x: tensor<8x8xbf16> {sfsdp.role = #sfsdp.role<input "x">})
      -> (tensor<8x8xf32> {sfsdp.role = #sfsdp.role<gradient "w.weight">}) {
    %c = sfsdp.aten "_to_copy.default"(%w, bf16) scope <forward "w" at "m.py:1"> : (tensor<8x8xf32>) -> tensor<8x8xbf16>
    %y = sfsdp.aten "mm.default"(%x, %c) scope <forward "w"> : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
    %b = sfsdp.aten "mm.default"(%y, %c) scope <backward "w"> : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
    %g = sfsdp.aten "_to_copy.default"(%b, f32) scope <backward "w"> : (tensor<8x8xbf16>) -> tensor<8x8xf32>
    return %g : tensor<8x8xf32>
  }
}

// -----

// F17, the other way round: bf16 stored, f32 compute. The small type travels.
// F18: with reduce-dtype the cast stands before the reduction.
// CHECK-LABEL: module @F17_widening
// CHECK: %[[FULL:.*]] = sfsdp.all_gather %{{.*}} : (tensor<2x8xbf16>) -> tensor<8x8xbf16>
// CHECK: sfsdp.aten "_to_copy.default"(%[[FULL]], f32)
// CHECK: sfsdp.reduce_scatter {{.*}} : (tensor<8x8xbf16>) -> tensor<2x8xbf16>
// F32-LABEL: module @F17_widening
// F32: %[[G:.*]] = sfsdp.aten "_to_copy.default"(%{{.*}}, bf16) scope <backward "">
// F32: %[[WIDE:.*]] = sfsdp.aten "_to_copy.default"(%[[G]], f32) scope <backward "" by "sfsdp-shard"> : (tensor<8x8xbf16>) -> tensor<8x8xf32>
// F32: %[[MEAN:.*]] = sfsdp.reduce_scatter %[[WIDE]] on ["dp"] divisor 4.000000e+00 {{.*}} -> tensor<2x8xf32>
// F32: sfsdp.aten "_to_copy.default"(%[[MEAN]], bf16) {{.*}} -> tensor<2x8xbf16>
module @F17_widening {
  func.func @train_step(
      %w: tensor<8x8xbf16> {sfsdp.role = #sfsdp.role<parameter "w">})
      -> (tensor<8x8xf32> {sfsdp.role = #sfsdp.role<output "y">},
          tensor<8x8xbf16> {sfsdp.role = #sfsdp.role<gradient "w">}) {
    %y = sfsdp.aten "_to_copy.default"(%w, f32) scope <forward ""> : (tensor<8x8xbf16>) -> tensor<8x8xf32>
    %g = sfsdp.aten "_to_copy.default"(%y, bf16) scope <backward ""> : (tensor<8x8xf32>) -> tensor<8x8xbf16>
    return %y, %g : tensor<8x8xf32>, tensor<8x8xbf16>
  }
}

// -----

// A reader without the cast keeps the stored type on the wire.
// CHECK-LABEL: module @cast_not_shared
// CHECK: sfsdp.all_gather %{{.*}} : (tensor<2x8xf32>) -> tensor<8x8xf32>
module @cast_not_shared {
  func.func @train_step(
      %w: tensor<8x8xf32> {sfsdp.role = #sfsdp.role<parameter "w" frozen>})
      -> (tensor<8x8xbf16> {sfsdp.role = #sfsdp.role<output "y">},
          tensor<8x8xf32> {sfsdp.role = #sfsdp.role<output "z">}) {
    %y = sfsdp.aten "_to_copy.default"(%w, bf16) scope <forward ""> : (tensor<8x8xf32>) -> tensor<8x8xbf16>
    %z = sfsdp.aten "neg.default"(%w) scope <forward ""> : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %y, %z : tensor<8x8xbf16>, tensor<8x8xf32>
  }
}
