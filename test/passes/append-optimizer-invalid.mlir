// RUN: simplefsdp-opt %s -split-input-file --sfsdp-append-optimizer -verify-diagnostics

module {
  // expected-error@+1 {{parameter "w": expected a tensor of floats to update, got 'tensor<4xcomplex<f32>>'}}
  func.func @train_step(
      %w: tensor<4xcomplex<f32>> {sfsdp.role = #sfsdp.role<parameter "w">})
      -> (tensor<4xcomplex<f32>> {sfsdp.role = #sfsdp.role<gradient "w">}) {
    return %w : tensor<4xcomplex<f32>>
  }
}

// -----

module {
  // expected-error@+1 {{expected a step without optimizer, got one with optimizer state or hyper-parameters}}
  func.func @train_step(
      %lr: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "lr">}) {
    return
  }
}

// -----

module {
  // expected-remark@+1 {{nothing to update: no parameter has a gradient}}
  func.func @evaluation(
      %w: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "w">}) {
    return
  }
}
