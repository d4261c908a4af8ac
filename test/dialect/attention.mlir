// RUN: simplefsdp-opt %s | simplefsdp-opt | FileCheck %s
// RUN: simplefsdp-opt %s --mlir-print-op-generic | simplefsdp-opt | FileCheck %s

// CHECK-LABEL: @causal
// CHECK: %[[OUT:.+]], %[[SAVED:.+]] = sfsdp.attention %arg0, %arg1, %arg2 causal :
// CHECK: sfsdp.attention_backward %arg3, %arg0, %arg1, %arg2, %[[OUT]], %[[SAVED]] causal :
func.func @causal(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x8x16xf32>, %v: tensor<2x4x8x16xf32>, %g: tensor<2x4x8x16xf32>) {
  %out, %saved = sfsdp.attention %q, %k, %v causal
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
      -> (tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
  %gq, %gk, %gv = sfsdp.attention_backward %g, %q, %k, %v, %out, %saved causal
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>,
         tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
      -> (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
  return
}

// CHECK-LABEL: @mask_and_scale
// CHECK: sfsdp.attention %arg0, %arg0, %arg0 mask %arg1 scale 1.250000e-01 scope <forward "layers.0">
func.func @mask_and_scale(%q: tensor<2x4x8x16xf32>, %m: tensor<2x1x8x8xf32>) {
  %out, %saved = sfsdp.attention %q, %q, %q mask %m scale 0.125 scope <forward "layers.0">
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x1x8x8xf32>)
      -> (tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
  return
}
