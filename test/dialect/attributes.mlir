// RUN: simplefsdp-opt %s | simplefsdp-opt | FileCheck %s
// RUN: simplefsdp-opt %s --mlir-print-op-generic | simplefsdp-opt | FileCheck %s

// CHECK: sfsdp.inputs = [#sfsdp.input_file<"step.pt2" sha256 "e3b0c442">]
// CHECK-SAME: sfsdp.mesh = #sfsdp.mesh<"dp" = 2, "tp" = 2, ranks = [0, 2, 1, 3]>
module attributes {
  sfsdp.mesh = #sfsdp.mesh<"dp" = 2, "tp" = 2, ranks = [0, 2, 1, 3]>,
  sfsdp.inputs = [#sfsdp.input_file<"step.pt2" sha256 "e3b0c442">]
} {
  // CHECK-LABEL: @roles
  // CHECK-SAME: sfsdp.role = #sfsdp.role<parameter "tok_embeddings.weight" also ["output.weight"]>
  // CHECK-SAME: sfsdp.role = #sfsdp.role<parameter "frozen.weight" frozen>
  // CHECK-SAME: sfsdp.role = #sfsdp.role<state "norm.weight" slot "exp_avg">
  // CHECK-SAME: sfsdp.role = #sfsdp.role<hyper_parameter "lr">
  // CHECK-SAME: sfsdp.role = #sfsdp.role<loss "loss">
  func.func @roles(
      %tied: tensor<f32> {sfsdp.role = #sfsdp.role<parameter "tok_embeddings.weight" also ["output.weight"]>},
      %frozen: tensor<f32> {sfsdp.role = #sfsdp.role<parameter "frozen.weight" frozen>},
      %state: tensor<f32> {sfsdp.role = #sfsdp.role<state "norm.weight" slot "exp_avg">},
      %lr: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "lr">})
      -> (tensor<f32> {sfsdp.role = #sfsdp.role<loss "loss">}) {
    return %tied : tensor<f32>
  }

  // Rows: ceil(5 / 2) = 3 on "tp" first, then ceil(3 / 2) = 2 on "dp".
  // CHECK-LABEL: @placement_two_axes_one_dim
  // CHECK-SAME: sfsdp.global = tensor<5x8xf32>
  // CHECK-SAME: sfsdp.placement = #sfsdp.placement<"dp" = shard(0), "tp" = shard(0)>
  func.func @placement_two_axes_one_dim(
      %w: tensor<2x8xf32> {sfsdp.global = tensor<5x8xf32>,
                           sfsdp.placement = #sfsdp.placement<"dp" = shard(0), "tp" = shard(0)>}) {
    return
  }

  // CHECK-LABEL: @placement_replicated
  // CHECK-SAME: sfsdp.placement = #sfsdp.placement<>
  func.func @placement_replicated(
      %w: tensor<5x8xf32> {sfsdp.placement = #sfsdp.placement<>}) {
    return
  }

  // CHECK-LABEL: @strides
  // CHECK-SAME: tensor<64x32xf32, #sfsdp.strides<[1, 64]>>
  func.func @strides(%t: tensor<64x32xf32, #sfsdp.strides<[1, 64]>>) {
    return
  }

  // CHECK-LABEL: @pending
  // CHECK-SAME: !sfsdp.pending<tensor<64x64xf32>, tensor<64xf32>>
  func.func @pending(%p: !sfsdp.pending<tensor<64x64xf32>, tensor<64xf32>>) {
    return
  }
}
