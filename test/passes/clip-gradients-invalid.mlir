// RUN: simplefsdp-opt %s -split-input-file --sfsdp-clip-gradients="clip-norm=1" -verify-diagnostics
// RUN: not simplefsdp-opt %s --sfsdp-clip-gradients="clip-norm=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not simplefsdp-opt %s --sfsdp-clip-gradients="clip-norm=1,2" 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not simplefsdp-opt %s --sfsdp-clip-gradients="clip-norm=inf" 2>&1 | FileCheck %s --check-prefix=INFINITE

// ZERO: error: option clip-norm: expected one positive finite number, got 0
// TWO: error: option clip-norm: expected one positive finite number, got 1{{.*}}, 2
// INFINITE: error: option clip-norm: expected one positive finite number, got {{[iI][nN][fF]}}

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  // expected-warning@+1 {{options clip-norm and skip-nonfinite change nothing: the step has no updates}}
  func.func @no_update(
      %w: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "w">}) {
    return
  }
}

// -----

module {
  // expected-error@+1 {{expected a module with a mesh to clip gradients, got none}}
  func.func @no_mesh(
      %w: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
      %s: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "lr">}) {
    %n = sfsdp.sgd %w, %w step_size %s step %s weight_decay 0.0 momentum 0.0 : tensor<4xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"a" = 2, "b" = 2>} {
  // expected-error@+1 {{parameter "v": expected all parameters to be split along dimension 0 over the same axes to clip them, got #sfsdp.placement<"b" = shard(0)>}}
  func.func @two_ways(
      %w: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "w">,
                         sfsdp.placement = #sfsdp.placement<"a" = shard(0)>,
                         sfsdp.global = tensor<4xf32>},
      %v: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "v">,
                         sfsdp.placement = #sfsdp.placement<"b" = shard(0)>,
                         sfsdp.global = tensor<4xf32>},
      %s: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "lr">}) {
    %n = sfsdp.sgd %w, %w step_size %s step %s weight_decay 0.0 momentum 0.0 : tensor<2xf32>
    %m = sfsdp.sgd %v, %v step_size %s step %s weight_decay 0.0 momentum 0.0 : tensor<2xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @guarded(
      %w: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
      %ok: tensor<i1> {sfsdp.role = #sfsdp.role<input "ok">},
      %s: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "lr">}) {
    // expected-error@+1 {{expected no guard before sfsdp-clip-gradients, got one}}
    %n = sfsdp.sgd %w, %w step_size %s step %s weight_decay 0.0 momentum 0.0 guard %ok : tensor<4xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @not_an_argument(
      %w: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
      %s: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "lr">}) {
    %m = sfsdp.sgd %w, %w step_size %s step %s weight_decay 0.0 momentum 0.0 : tensor<4xf32>
    // expected-error@+1 {{expected to update an argument, got another value}}
    %n = sfsdp.sgd %m, %w step_size %s step %s weight_decay 0.0 momentum 0.0 : tensor<4xf32>
    return
  }
}
