// RUN: simplefsdp-opt %s --sfsdp-clip-gradients="clip-norm=0.5 skip-nonfinite" | FileCheck %s

// One parameter is sharded, the other whole on both ranks.
// CHECK: -> ({{.*}}<parameter "w">}, tensor<3xf32> {{{.*}}<parameter "b">},
// CHECK-SAME: tensor<f32> {sfsdp.role = #sfsdp.role<gradient_norm "grad_norm">},
// CHECK-SAME: tensor<i1> {sfsdp.role = #sfsdp.role<applied "applied">},
// CHECK-SAME: tensor<2xf32> {sfsdp.role = #sfsdp.role<chunk_norms "w">},
// CHECK-SAME: tensor<2xf32> {sfsdp.role = #sfsdp.role<chunk_norms "b">})
// CHECK: %[[ROWS:.+]] = sfsdp.valid_rows "dp" of 5
// CHECK: %[[GW:.+]] = sfsdp.reduce_scatter
// CHECK: %[[OWN:.+]] = sfsdp.chunk_norms %[[GW]] rows %[[ROWS]] scope <optimizer "" by "sfsdp-clip-gradients"> : tensor<3x3xf32> -> tensor<1xf32>
// CHECK: %[[GB:.+]] = sfsdp.all_reduce
// CHECK: %[[B:.+]] = sfsdp.chunk_norms %[[GB]] scope {{.*}} : tensor<3xf32> -> tensor<2xf32>
// CHECK: %[[W:.+]] = sfsdp.all_gather %[[OWN]] on ["dp"] scope <optimizer "" by "sfsdp-clip-gradients"> : (tensor<1xf32>) -> tensor<2xf32>
// CHECK: %[[N:.+]] = sfsdp.total_norm %[[W]], %[[B]]
// CHECK: %[[C:.+]] = sfsdp.clip_coefficient %[[N]] max 5.000000e-01
// CHECK: %[[OK:.+]] = sfsdp.is_finite %[[N]]
// CHECK: %[[CW:.+]] = sfsdp.aten "mul.Tensor"(%[[GW]], %[[C]])
// CHECK: %[[NW:.+]] = sfsdp.sgd %{{.+}}, %[[CW]] {{.*}} guard %[[OK]]
// CHECK: %[[CB:.+]] = sfsdp.aten "mul.Tensor"(%[[GB]], %[[C]])
// CHECK: %[[NB:.+]] = sfsdp.sgd %{{.+}}, %[[CB]] {{.*}} guard %[[OK]]
// CHECK: return %[[NW]], %[[NB]], %[[N]], %[[OK]], %[[W]], %[[B]]
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @train_step(
      %w: tensor<3x3xf32> {sfsdp.role = #sfsdp.role<parameter "w">,
                           sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>,
                           sfsdp.global = tensor<5x3xf32>},
      %b: tensor<3xf32> {sfsdp.role = #sfsdp.role<parameter "b">},
      %x: tensor<5x3xf32> {sfsdp.role = #sfsdp.role<input "x">},
      %y: tensor<3xf32> {sfsdp.role = #sfsdp.role<input "y">},
      %lr: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "lr">})
      -> (tensor<3x3xf32> {sfsdp.role = #sfsdp.role<parameter "w">,
                           sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>,
                           sfsdp.global = tensor<5x3xf32>},
          tensor<3xf32> {sfsdp.role = #sfsdp.role<parameter "b">}) {
    %size = sfsdp.scalar_compute neg %lr
    %gw = sfsdp.reduce_scatter %x on ["dp"] divisor 2.0 for ["w"] : (tensor<5x3xf32>) -> tensor<3x3xf32>
    %nw = sfsdp.sgd %w, %gw step_size %size step %lr weight_decay 0.0 momentum 0.0 : tensor<3x3xf32>
    %gb = sfsdp.all_reduce %y on ["dp"] divisor 2.0 for ["b"] : (tensor<3xf32>) -> tensor<3xf32>
    %nb = sfsdp.sgd %b, %gb step_size %size step %lr weight_decay 0.0 momentum 0.0 : tensor<3xf32>
    return %nw, %nb : tensor<3x3xf32>, tensor<3xf32>
  }
}
