// RUN: simplefsdp-opt %s --sfsdp-canonicalize -verify-diagnostics

module {
  // expected-error@+1 {{expected a body of one block, got 2}}
  func.func @train_step(
      %x: tensor<4xf32> {sfsdp.role = #sfsdp.role<input "x">}) {
    return
  ^unreachable:
    return
  }
}
