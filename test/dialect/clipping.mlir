// RUN: simplefsdp-opt %s | simplefsdp-opt | FileCheck %s
// RUN: simplefsdp-opt %s --mlir-print-op-generic | simplefsdp-opt | FileCheck %s

// CHECK-LABEL: @clipping
// CHECK: %[[W:.+]] = sfsdp.chunk_norms %{{.+}} : tensor<7x3xf32> -> tensor<2xf32>
// CHECK: %[[C:.+]] = sfsdp.chunk_norms %{{.+}} rows %{{.+}} scope <optimizer "w"> : tensor<4x3xf32> -> tensor<1xf32>
// CHECK: %[[N:.+]] = sfsdp.total_norm %[[W]], %[[W]] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
// CHECK: sfsdp.total_norm %[[C]] : (tensor<1xf32>) -> tensor<f32>
// CHECK: sfsdp.clip_coefficient %[[N]] max 5.000000e-01 : tensor<f32>
// CHECK: sfsdp.is_finite %[[N]] : tensor<f32>
func.func @clipping(%whole: tensor<7x3xf32>, %chunk: tensor<4x3xf32>, %rows: !sfsdp.scalar) {
  %w = sfsdp.chunk_norms %whole : tensor<7x3xf32> -> tensor<2xf32>
  %c = sfsdp.chunk_norms %chunk rows %rows scope <optimizer "w">
      : tensor<4x3xf32> -> tensor<1xf32>
  %n = sfsdp.total_norm %w, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  %m = sfsdp.total_norm %c : (tensor<1xf32>) -> tensor<f32>
  %factor = sfsdp.clip_coefficient %n max 0.5 : tensor<f32>
  %ok = sfsdp.is_finite %n : tensor<f32>
  return
}

// Half types, and tensors of 0 dimensions and without elements, have norms too.
// CHECK-LABEL: @shapes
// CHECK: sfsdp.chunk_norms %{{.+}} : tensor<f32> -> tensor<3xf32>
// CHECK: sfsdp.chunk_norms %{{.+}} : tensor<0x4xbf16> -> tensor<3xbf16>
func.func @shapes(%scalar: tensor<f32>, %empty: tensor<0x4xbf16>) {
  %a = sfsdp.chunk_norms %scalar : tensor<f32> -> tensor<3xf32>
  %b = sfsdp.chunk_norms %empty : tensor<0x4xbf16> -> tensor<3xbf16>
  return
}
