// RUN: simplefsdp-opt %s -split-input-file --sfsdp-shard="mesh=dp:2" -verify-diagnostics

// expected-error@+1 {{option mesh: expected the module's #sfsdp.mesh<"dp" = 4>, got #sfsdp.mesh<"dp" = 2>}}
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @train_step() {
    return
  }
}

// -----

// expected-error@+1 {{expected one function, the training step, got 2}}
module {
  func.func @train_step() {
    return
  }
  func.func @eval_step() {
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  // expected-error@+1 {{parameter 'w': expected no placement before sfsdp-shard, got #sfsdp.placement<"dp" = shard(0)>}}
  func.func @train_step(
      %w: tensor<3xf32> {sfsdp.role = #sfsdp.role<parameter "w">,
                         sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>,
                         sfsdp.global = tensor<6xf32>}) {
    return
  }
}

// -----

module {
  // expected-error@+1 {{parameter 'w': expected dense strides to shard it, got 'tensor<2x3xf32, #sfsdp.strides<[6, 2]>>'; keep it by keep-replicated}}
  func.func @train_step(
      %w: tensor<2x3xf32, #sfsdp.strides<[6, 2]>> {sfsdp.role = #sfsdp.role<parameter "w">}) {
    return
  }
}

// -----

module {
  // expected-error@+1 {{result 0: expected the gradient of a parameter, got one of 'v', which is none}}
  func.func @train_step(
      %w: tensor<3xf32> {sfsdp.role = #sfsdp.role<parameter "w">})
      -> (tensor<3xf32> {sfsdp.role = #sfsdp.role<gradient "v">}) {
    return %w : tensor<3xf32>
  }
}

// -----

module {
  // expected-error@+1 {{result 0: expected a gradient of 'tensor<3xf32>' for parameter 'w', got 'tensor<4xf32>'}}
  func.func @train_step(
      %w: tensor<3xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
      %x: tensor<4xf32> {sfsdp.role = #sfsdp.role<input "x">})
      -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "w">}) {
    return %x : tensor<4xf32>
  }
}
