// RUN: simplefsdp-opt %s --sfsdp-bucket="policy=block" | FileCheck %s

// The gathers of layer 0 meet at the first one, with the cast that the second
// reads; its reductions meet at the last one, and the cast of the first moves
// down behind it. The embedding stays alone.
// CHECK: func.func @train_step(%[[E:[a-z0-9]+]]: tensor<2xf32>
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2xf32> {{[^%]*}}%[[B:[a-z0-9]+]]: tensor<2xf32>
// CHECK: sfsdp.all_gather %[[E]]
// CHECK: %[[HALF:.*]] = sfsdp.aten "_to_copy.default"(%[[B]], bf16)
// CHECK: %[[FULL:.*]]:2 = sfsdp.all_gather %[[A]], %[[HALF]] on ["dp"] for ["layers.0.a", "layers.0.b"] scope <forward "layers.0" by "sfsdp-bucket"> : (tensor<2xf32>, tensor<2xbf16>) -> (tensor<4xf32>, tensor<4xbf16>)
// CHECK: sfsdp.aten "mul.Tensor"(%{{.*}}, %[[FULL]]#0)
// CHECK: sfsdp.aten "mul.Tensor"(%{{.*}}, %[[FULL]]#1)
// CHECK: %[[G:.*]] = sfsdp.aten "neg.default"
// CHECK: %[[H:.*]] = sfsdp.aten "exp.default"
// CHECK: %[[MEAN:.*]]:2 = sfsdp.reduce_scatter %[[H]], %[[G]] on ["dp"] divisor 2.000000e+00 for ["layers.0.a", "layers.0.b"] scope <backward "layers.0" by "sfsdp-bucket">
// CHECK: sfsdp.aten "_to_copy.default"(%[[MEAN]]#1, bf16)
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @train_step(
      %e: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "embedding">},
      %a: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "layers.0.a">},
      %b: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "layers.0.b">})
      -> (tensor<2xf32> {sfsdp.role = #sfsdp.role<output "a">},
          tensor<2xbf16> {sfsdp.role = #sfsdp.role<output "b">}) {
    %fe = sfsdp.all_gather %e on ["dp"] for ["embedding"] scope <forward "" by "sfsdp-shard"> : (tensor<2xf32>) -> tensor<4xf32>
    %fa = sfsdp.all_gather %a on ["dp"] for ["layers.0.a"] scope <forward "layers.0" by "sfsdp-shard"> : (tensor<2xf32>) -> tensor<4xf32>
    %x = sfsdp.aten "mul.Tensor"(%fe, %fa) scope <forward ""> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %cb = sfsdp.aten "_to_copy.default"(%b, bf16) scope <forward ""> : (tensor<2xf32>) -> tensor<2xbf16>
    %fb = sfsdp.all_gather %cb on ["dp"] for ["layers.0.b"] scope <forward "layers.0" by "sfsdp-shard"> : (tensor<2xbf16>) -> tensor<4xbf16>
    %y = sfsdp.aten "mul.Tensor"(%x, %fb) scope <forward ""> : (tensor<4xf32>, tensor<4xbf16>) -> tensor<4xf32>
    %g = sfsdp.aten "neg.default"(%y) scope <backward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %rb = sfsdp.reduce_scatter %g on ["dp"] divisor 2.0 for ["layers.0.b"] scope <backward "layers.0" by "sfsdp-shard"> : (tensor<4xf32>) -> tensor<2xf32>
    %c = sfsdp.aten "_to_copy.default"(%rb, bf16) scope <backward ""> : (tensor<2xf32>) -> tensor<2xbf16>
    %h = sfsdp.aten "exp.default"(%g) scope <backward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %ra = sfsdp.reduce_scatter %h on ["dp"] divisor 2.0 for ["layers.0.a"] scope <backward "layers.0" by "sfsdp-shard"> : (tensor<4xf32>) -> tensor<2xf32>
    return %ra, %c : tensor<2xf32>, tensor<2xbf16>
  }
}
