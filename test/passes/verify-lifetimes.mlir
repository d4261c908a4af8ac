// RUN: simplefsdp-opt %s -split-input-file --sfsdp-verify -verify-diagnostics

module {
  func.func @read_after_update(
      %w: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "layers.0.w">}, %g: tensor<4xf32>,
      %s: !sfsdp.scalar) -> tensor<4xf32> {
    %v = sfsdp.aten "view.default"(%w, [2, 2]) : (tensor<4xf32>) -> tensor<2x2xf32>
    // expected-note@+1 {{updated here}}
    %n = sfsdp.sgd %w, %g step_size %s step %s weight_decay 0.0 momentum 0.0 : tensor<4xf32>
    // expected-error@+1 {{reads parameter layers.0.w after its update}}
    %y = sfsdp.aten "neg.default"(%v) : (tensor<2x2xf32>) -> tensor<2x2xf32>
    return %n : tensor<4xf32>
  }
}

// -----

module {
  func.func @returned_after_update(
      %w: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "w">}, %g: tensor<4xf32>,
      %s: !sfsdp.scalar) -> (tensor<4xf32>, tensor<4xf32>) {
    // expected-note@+1 {{updated here}}
    %n = sfsdp.sgd %w, %g step_size %s step %s weight_decay 0.0 momentum 0.0 : tensor<4xf32>
    // expected-error@+1 {{reads parameter w after its update}}
    return %n, %w : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

module {
  func.func @updated_twice(
      %w: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "w">}, %g: tensor<4xf32>,
      %s: !sfsdp.scalar) {
    // expected-note@+1 {{updated here}}
    %n = sfsdp.sgd %w, %g step_size %s step %s weight_decay 0.0 momentum 0.0 : tensor<4xf32>
    // expected-error@+1 {{reads parameter w after its update}}
    %m = sfsdp.sgd %w, %g step_size %s step %s weight_decay 0.0 momentum 0.0 : tensor<4xf32>
    return
  }
}

// -----

// F20, F43: a collective in flight reads what is overwritten.
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @F43_overwritten_in_flight(
      %w: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "w">}, %g: tensor<4xf32>,
      %s: !sfsdp.scalar) {
    // expected-note@+1 {{started here}}
    %p = sfsdp.all_gather_start %w on ["dp"] : (tensor<4xf32>) -> !sfsdp.pending<tensor<8xf32>>
    // expected-error@+1 {{overwrites parameter w, which a collective in flight reads}}
    %n = sfsdp.sgd %w, %g step_size %s step %s weight_decay 0.0 momentum 0.0 : tensor<4xf32>
    %f = sfsdp.wait %p : !sfsdp.pending<tensor<8xf32>>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  // expected-error@+1 {{result 0: expected the placement of "w", #sfsdp.placement<"dp" = shard(0)>, got none}}
  func.func @gradient_placement(
      %w: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "w">,
                         sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>,
                         sfsdp.global = tensor<4xf32>})
      -> (tensor<2xf32> {sfsdp.role = #sfsdp.role<gradient "w">}) {
    return %w : tensor<2xf32>
  }
}

// -----

module {
  // expected-error@+1 {{result 0: expected the shape of "w", 'tensor<2xf32>', got 'tensor<4xf32>'}}
  func.func @gradient_shape(
      %w: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "w">}, %g: tensor<4xf32>)
      -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "w">}) {
    return %g : tensor<4xf32>
  }
}

// -----

module {
  // expected-error@+1 {{result 0: expected an argument for #sfsdp.role<gradient "v">, got none}}
  func.func @gradient_of_nothing(%g: tensor<4xf32>)
      -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "v">}) {
    return %g : tensor<4xf32>
  }
}

// -----

module {
  // expected-error@+1 {{result 0: expected the updated value of "w", got a value that no update made from it}}
  func.func @not_updated(
      %w: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "w">}, %g: tensor<4xf32>)
      -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "w">}) {
    return %g : tensor<4xf32>
  }
}

// -----

module {
  // expected-error@+1 {{argument 1: expected a result with its new value, #sfsdp.role<state "w" slot "exp_avg">, got none}}
  func.func @state_without_update(
      %w: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
      %m: tensor<4xf32> {sfsdp.role = #sfsdp.role<state "w" slot "exp_avg">}) {
    return
  }
}
