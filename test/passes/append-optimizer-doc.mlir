// RUN: simplefsdp-opt %s --sfsdp-append-optimizer="optimizer=adamw weight-decay=0.1" | FileCheck %s

// CHECK: func.func @train_step(%[[W:[a-z0-9]+]]: tensor<2x3xf32>
// States have the placement of the parameter.
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<2x3xf32> {sfsdp.global = tensor<4x3xf32>, sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>, sfsdp.role = #sfsdp.role<state "w" slot "exp_avg">}
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<2x3xf32> {{[^}]*}}<state "w" slot "exp_avg_sq">}
// CHECK-SAME: %[[LR:[a-z0-9]+]]: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "lr">}
// CHECK-SAME: %[[STEP:[a-z0-9]+]]: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "step">}
// CHECK-SAME: -> (tensor<2x3xf32> {{[^}]*}}<parameter "w">}, tensor<2x3xf32> {{[^}]*}}<state "w" slot "exp_avg">}, tensor<2x3xf32> {{[^}]*}}<state "w" slot "exp_avg_sq">})
//
// 1 - lr * weight_decay
// CHECK: %[[ONE:.*]] = sfsdp.scalar_constant 1.0
// CHECK: %[[WD:.*]] = sfsdp.scalar_constant 1.000000e-01
// CHECK: %[[LRWD:.*]] = sfsdp.scalar_compute mul %[[LR]], %[[WD]]
// CHECK: %[[DECAY:.*]] = sfsdp.scalar_compute sub %[[ONE]], %[[LRWD]]
// -(lr / (1 - beta1 ** step))
// CHECK: %[[B1:.*]] = sfsdp.scalar_constant 9.000000e-01
// CHECK: %[[P1:.*]] = sfsdp.scalar_compute pow %[[B1]], %[[STEP]]
// CHECK: %[[C1:.*]] = sfsdp.scalar_compute sub %[[ONE]], %[[P1]]
// CHECK: %[[Q:.*]] = sfsdp.scalar_compute div %[[LR]], %[[C1]]
// CHECK: %[[SIZE:.*]] = sfsdp.scalar_compute neg %[[Q]]
// (1 - beta2 ** step) ** 0.5
// CHECK: %[[B2:.*]] = sfsdp.scalar_constant {{0.99[89].*}}
// CHECK: %[[P2:.*]] = sfsdp.scalar_compute pow %[[B2]], %[[STEP]]
// CHECK: %[[C2:.*]] = sfsdp.scalar_compute sub %[[ONE]], %[[P2]]
// CHECK: %[[HALF:.*]] = sfsdp.scalar_constant 5.000000e-01
// CHECK: %[[ROOT:.*]] = sfsdp.scalar_compute pow %[[C2]], %[[HALF]]
//
// CHECK: %[[G:.*]] = sfsdp.reduce_scatter
// CHECK: %[[NW:.*]], %[[NM:.*]], %[[NV:.*]] = sfsdp.adamw %[[W]], %[[G]], %[[M]], %[[V]] decay %[[DECAY]] step_size %[[SIZE]] correction %[[ROOT]] betas 9.000000e-01, {{0.99[89][0-9]*}} eps 1.000000e-08 scope <optimizer "" by "sfsdp-append-optimizer">
// CHECK: return %[[NW]], %[[NM]], %[[NV]]
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @train_step(
      %w: tensor<2x3xf32> {sfsdp.role = #sfsdp.role<parameter "w">,
                           sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>,
                           sfsdp.global = tensor<4x3xf32>},
      %x: tensor<4x3xf32> {sfsdp.role = #sfsdp.role<input "x">})
      -> (tensor<2x3xf32> {sfsdp.role = #sfsdp.role<gradient "w">,
                           sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>,
                           sfsdp.global = tensor<4x3xf32>}) {
    %g = sfsdp.reduce_scatter %x on ["dp"] divisor 2.0 for ["w"] : (tensor<4x3xf32>) -> tensor<2x3xf32>
    return %g : tensor<2x3xf32>
  }
}
