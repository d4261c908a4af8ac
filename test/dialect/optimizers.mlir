// RUN: simplefsdp-opt %s | simplefsdp-opt | FileCheck %s
// RUN: simplefsdp-opt %s --mlir-print-op-generic | simplefsdp-opt | FileCheck %s

// CHECK-LABEL: @accumulate
// CHECK: sfsdp.accumulate %arg0, %arg1 at %arg2 scope <backward "norm"> : tensor<8xf32>
func.func @accumulate(%a: tensor<8xf32>, %g: tensor<8xf32>, %at: !sfsdp.scalar) {
  %sum = sfsdp.accumulate %a, %g at %at scope <backward "norm"> : tensor<8xf32>
  return
}

// CHECK-LABEL: @adamw
// CHECK: sfsdp.adamw %arg0, %arg1, %arg2, %arg3 decay %arg4 step_size %arg4 correction %arg4
// CHECK-SAME: betas 9.000000e-01, 0.99899999999999999 eps 1.000000e-08 : tensor<8xf32>
func.func @adamw(%p: tensor<8xf32>, %g: tensor<8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>, %s: !sfsdp.scalar) {
  %p1, %m1, %v1 = sfsdp.adamw %p, %g, %m, %v
      decay %s step_size %s correction %s betas 0.9, 0.999 eps 1.0e-8
      : tensor<8xf32>
  return
}

// CHECK-LABEL: @adam
// CHECK: sfsdp.adam %arg0, %arg1, %arg2, %arg3 step_size %arg4 correction %arg4
// CHECK-SAME: weight_decay 1.000000e-02 betas 9.000000e-01, 0.99899999999999999 eps 1.000000e-08 : tensor<8xf32>
func.func @adam(%p: tensor<8xf32>, %g: tensor<8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>, %s: !sfsdp.scalar) {
  %p1, %m1, %v1 = sfsdp.adam %p, %g, %m, %v step_size %s correction %s
      weight_decay 0.01 betas 0.9, 0.999 eps 1.0e-8 : tensor<8xf32>
  return
}

// CHECK-LABEL: @guards
// CHECK: sfsdp.adamw {{.*}} eps 1.000000e-08 guard %[[OK:[a-z0-9]+]] : tensor<8xf32>
// CHECK: sfsdp.adam {{.*}} eps 1.000000e-08 guard %[[OK]] : tensor<8xf32>
// CHECK: sfsdp.sgd {{.*}} momentum 9.000000e-01 nesterov guard %[[OK]] : tensor<8xf32>
func.func @guards(%p: tensor<8xf32>, %g: tensor<8xf32>, %m: tensor<8xf32>, %v: tensor<8xf32>, %s: !sfsdp.scalar, %ok: tensor<i1>) {
  %p1, %m1, %v1 = sfsdp.adamw %p, %g, %m, %v decay %s step_size %s
      correction %s betas 0.9, 0.999 eps 1.0e-8 guard %ok : tensor<8xf32>
  %p2, %m2, %v2 = sfsdp.adam %p1, %g, %m1, %v1 step_size %s correction %s
      weight_decay 0.01 betas 0.9, 0.999 eps 1.0e-8 guard %ok : tensor<8xf32>
  %p3, %m3 = sfsdp.sgd %p2, %g buffer %m2 step_size %s step %s weight_decay 0.1
      momentum 0.9 nesterov guard %ok : tensor<8xf32>
  return
}

// CHECK-LABEL: @sgd
// CHECK: sfsdp.sgd %arg0, %arg1 step_size %arg3 step %arg3 weight_decay 0.000000e+00 momentum 0.000000e+00 : tensor<8xf32>
// CHECK: sfsdp.sgd %arg0, %arg1 buffer %arg2 step_size %arg3 step %arg3 weight_decay 1.000000e-01 momentum 9.000000e-01 nesterov : tensor<8xf32>
func.func @sgd(%p: tensor<8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>, %s: !sfsdp.scalar) {
  %p1 = sfsdp.sgd %p, %g step_size %s step %s weight_decay 0.0 momentum 0.0
      : tensor<8xf32>
  %p2, %b2 = sfsdp.sgd %p, %g buffer %b step_size %s step %s weight_decay 0.1
      momentum 0.9 nesterov : tensor<8xf32>
  return
}
