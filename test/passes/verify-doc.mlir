// RUN: simplefsdp-opt %s --sfsdp-verify | FileCheck %s

// A finished step: gather, use, reduce, update, and a second gather of another
// parameter in flight meanwhile. Nothing is to be said, and nothing changes.
// CHECK: sfsdp.all_gather_start
// CHECK: sfsdp.sgd
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @train_step(
      %a: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "a">,
                         sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>,
                         sfsdp.global = tensor<4xf32>},
      %b: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "b" frozen>,
                         sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>,
                         sfsdp.global = tensor<4xf32>},
      %m: tensor<2xf32> {sfsdp.role = #sfsdp.role<state "a" slot "momentum_buffer">,
                         sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>,
                         sfsdp.global = tensor<4xf32>},
      %s: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "lr">})
      -> (tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "a">,
                         sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>,
                         sfsdp.global = tensor<4xf32>},
          tensor<2xf32> {sfsdp.role = #sfsdp.role<state "a" slot "momentum_buffer">,
                         sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>,
                         sfsdp.global = tensor<4xf32>},
          tensor<4xf32> {sfsdp.role = #sfsdp.role<output "b">}) {
    %pa = sfsdp.all_gather_start %a on ["dp"] for ["a"] : (tensor<2xf32>) -> !sfsdp.pending<tensor<4xf32>>
    %fa = sfsdp.wait %pa : !sfsdp.pending<tensor<4xf32>>
    %pb = sfsdp.all_gather_start %b on ["dp"] for ["b"] : (tensor<2xf32>) -> !sfsdp.pending<tensor<4xf32>>
    %pr = sfsdp.reduce_scatter_start %fa on ["dp"] for ["a"] : (tensor<4xf32>) -> !sfsdp.pending<tensor<2xf32>>
    %g = sfsdp.wait %pr : !sfsdp.pending<tensor<2xf32>>
    %na, %nm = sfsdp.sgd %a, %g buffer %m step_size %s step %s weight_decay 0.0 momentum 0.9 : tensor<2xf32>
    %fb = sfsdp.wait %pb : !sfsdp.pending<tensor<4xf32>>
    return %na, %nm, %fb : tensor<2xf32>, tensor<2xf32>, tensor<4xf32>
  }
}
