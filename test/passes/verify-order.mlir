// RUN: simplefsdp-opt %s -split-input-file --sfsdp-verify -verify-diagnostics

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @start_without_wait(%a: tensor<2xf32>) {
    // expected-error@+1 {{expected one wait for the all_gather of layers.0.w, got 0 uses}}
    %p = sfsdp.all_gather_start %a on ["dp"] for ["layers.0.w"] : (tensor<2xf32>) -> !sfsdp.pending<tensor<4xf32>>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @pending_returned(%a: tensor<2xf32>) -> !sfsdp.pending<tensor<4xf32>> {
    // expected-error@+1 {{expected a wait for the all_gather, got func.return}}
    %p = sfsdp.all_gather_start %a on ["dp"] : (tensor<2xf32>) -> !sfsdp.pending<tensor<4xf32>>
    return %p : !sfsdp.pending<tensor<4xf32>>
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @unknown_in_flight(%a: tensor<2xf32>) {
    // expected-note@+1 {{started here}}
    %p = sfsdp.all_gather_start %a, %a on ["dp"] for ["w", "v"] : (tensor<2xf32>, tensor<2xf32>) -> !sfsdp.pending<tensor<4xf32>, tensor<4xf32>>
    // expected-error@+1 {{has unknown effects, expected no collective in flight, got the all_gather of w, v}}
    %u = sfsdp.aten "mylib::log.default"(%a) effect unknown : (tensor<2xf32>) -> tensor<2xf32>
    %f:2 = sfsdp.wait %p : !sfsdp.pending<tensor<4xf32>, tensor<4xf32>>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  // expected-error@+1 {{expected one block, got 2}}
  func.func @two_blocks() {
    return
  ^unreachable:
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @nested(%a: tensor<2xf32>) {
    builtin.module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
      func.func @inner(%b: tensor<2xf32>) {
        // expected-error@+1 {{expected to stand in the function's own block, so that every rank reaches it}}
        %f = sfsdp.all_gather %b on ["dp"] : (tensor<2xf32>) -> tensor<4xf32>
        return
      }
    }
    return
  }
}
