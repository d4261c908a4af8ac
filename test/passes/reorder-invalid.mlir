// RUN: simplefsdp-opt %s --sfsdp-reorder="policy=auto" -verify-diagnostics

// expected-error@+1 {{option policy: auto is not built yet, expected none or prefetch}}
module {
  func.func @train_step() {
    return
  }
}
