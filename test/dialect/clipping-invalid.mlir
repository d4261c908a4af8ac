// RUN: simplefsdp-opt %s -split-input-file -verify-diagnostics

func.func @chunk_norms_c1(%chunk: tensor<4x3xf32>, %rows: !sfsdp.scalar) {
  // expected-error@+1 {{expected one norm of a tensor with rows, got 'tensor<2xf32>' of 'tensor<4x3xf32>'}}
  %n = sfsdp.chunk_norms %chunk rows %rows : tensor<4x3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @chunk_norms_c1_no_rows(%scalar: tensor<f32>, %rows: !sfsdp.scalar) {
  // expected-error@+1 {{expected one norm of a tensor with rows, got 'tensor<1xf32>' of 'tensor<f32>'}}
  %n = sfsdp.chunk_norms %scalar rows %rows : tensor<f32> -> tensor<1xf32>
  return
}

// -----

func.func @chunk_norms_of_integers(%g: tensor<4xi64>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of floating-point values, but got 'tensor<4xi64>'}}
  %n = sfsdp.chunk_norms %g : tensor<4xi64> -> tensor<1xf32>
  return
}

// -----

func.func @total_norm_c1(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{expected one type for all operands, at least one, got}}
  %n = sfsdp.total_norm %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func @total_norm_c1_none() {
  // expected-error@+1 {{expected one type for all operands, at least one, got}}
  %n = "sfsdp.total_norm"() : () -> tensor<f32>
  return
}

// -----

func.func @total_norm_c2(%a: tensor<2xf32>) {
  // expected-error@+1 {{expected a result of element type 'f32', got 'tensor<f64>'}}
  %n = sfsdp.total_norm %a : (tensor<2xf32>) -> tensor<f64>
  return
}

// -----

func.func @clip_coefficient_c1(%n: tensor<f32>) {
  // expected-error@+1 {{expected a positive finite max, got 0.000000e+00 : f64}}
  %c = sfsdp.clip_coefficient %n max 0.0 : tensor<f32>
  return
}

// -----

func.func @clip_coefficient_c1_infinite(%n: tensor<f32>) {
  // expected-error@+1 {{expected a positive finite max, got}}
  %c = "sfsdp.clip_coefficient"(%n) {max = 0x7FF0000000000000 : f64} : (tensor<f32>) -> tensor<f32>
  return
}
