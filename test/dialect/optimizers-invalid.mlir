// RUN: simplefsdp-opt %s -split-input-file -verify-diagnostics

func.func @accumulate_c1(%a: tensor<8xf32>, %g: tensor<8xbf16>, %at: !sfsdp.scalar) {
  // expected-error@+1 {{expected all tensors to be 'tensor<8xf32>', got 'tensor<8xbf16>'}}
  %sum = "sfsdp.accumulate"(%a, %g, %at) : (tensor<8xf32>, tensor<8xbf16>, !sfsdp.scalar) -> tensor<8xf32>
  return
}

// -----

func.func @adamw_c1(%p: tensor<8xf32>, %g: tensor<8xbf16>, %s: !sfsdp.scalar) {
  // expected-error@+1 {{expected all tensors to be 'tensor<8xf32>', got 'tensor<8xbf16>'}}
  %p1, %m1, %v1 = "sfsdp.adamw"(%p, %g, %p, %p, %s, %s, %s) {beta1 = 0.9, beta2 = 0.999, eps = 1.0e-8}
      : (tensor<8xf32>, tensor<8xbf16>, tensor<8xf32>, tensor<8xf32>, !sfsdp.scalar, !sfsdp.scalar, !sfsdp.scalar) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @sgd_c2(%p: tensor<8xf32>, %s: !sfsdp.scalar) {
  // expected-error@+1 {{expected a momentum buffer and its new value exactly if momentum is not 0, got momentum 9.000000e-01 : f64}}
  %p1 = sfsdp.sgd %p, %p step_size %s step %s weight_decay 0.0 momentum 0.9 : tensor<8xf32>
  return
}

// -----

func.func @sgd_c3(%p: tensor<8xf32>, %s: !sfsdp.scalar) {
  // expected-error@+1 {{expected momentum with nesterov, got momentum 0}}
  %p1 = sfsdp.sgd %p, %p step_size %s step %s weight_decay 0.0 momentum 0.0 nesterov : tensor<8xf32>
  return
}

// -----

func.func @sgd_c1(%p: tensor<8xf32>, %g: tensor<4xf32>, %s: !sfsdp.scalar) {
  // expected-error@+1 {{expected all tensors to be 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %p1 = "sfsdp.sgd"(%p, %g, %s, %s) {weight_decay = 0.0, momentum = 0.0, operandSegmentSizes = array<i32: 1, 1, 0, 1, 1, 0>}
      : (tensor<8xf32>, tensor<4xf32>, !sfsdp.scalar, !sfsdp.scalar) -> tensor<8xf32>
  return
}

// -----

func.func @adam_c1(%p: tensor<8xf32>, %g: tensor<8xbf16>, %s: !sfsdp.scalar) {
  // expected-error@+1 {{expected all tensors to be 'tensor<8xf32>', got 'tensor<8xbf16>'}}
  %p1, %m1, %v1 = "sfsdp.adam"(%p, %g, %p, %p, %s, %s) {weight_decay = 0.0, beta1 = 0.9, beta2 = 0.999, eps = 1.0e-8}
      : (tensor<8xf32>, tensor<8xbf16>, tensor<8xf32>, tensor<8xf32>, !sfsdp.scalar, !sfsdp.scalar) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}

// -----

func.func @guard_type(%p: tensor<8xf32>, %s: !sfsdp.scalar, %ok: tensor<1xi1>) {
  // expected-error@+1 {{operand #6 must be 0-dim bool tensor, but got 'tensor<1xi1>'}}
  %p1, %m1, %v1 = "sfsdp.adam"(%p, %p, %p, %p, %s, %s, %ok) {weight_decay = 0.0, beta1 = 0.9, beta2 = 0.999, eps = 1.0e-8}
      : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, !sfsdp.scalar, !sfsdp.scalar, tensor<1xi1>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  return
}
