// RUN: simplefsdp-opt %s -split-input-file -verify-diagnostics

func.func @aten_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected one operand per operand marker, got 1 operands for 0 markers}}
  %y = "sfsdp.aten"(%x) {callee = "neg.default", arguments = []} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @aten_c2_without_id(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected exactly a random operator to have a random id, got effect random without}}
  %y = sfsdp.aten "rand_like.default"(%x) effect random : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @aten_c2_with_id(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected exactly a random operator to have a random id, got effect pure with one}}
  %y = sfsdp.aten "neg.default"(%x) random 3 : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @aten_c3_narrow_integer(%x: tensor<4xf32>) {
  // expected-error@+1 {{argument 1: expected an operator argument, got 1 : i32}}
  %y = sfsdp.aten "add.Scalar"(%x, 1 : i32) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @aten_c3_mixed_list(%x: tensor<4xf32>) {
  // expected-error@+1 {{argument 1: expected an operator argument}}
  %y = sfsdp.aten "cat.default"(%x, [1, 2.0]) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @aten_c4(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected absent results to rise from 0 to 1, got 2}}
  %y = sfsdp.aten "native_dropout.default"(%x, 0.5, true) absent [2] : (tensor<4xf32>) -> tensor<4xf32>
  return
}
