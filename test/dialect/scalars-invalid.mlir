// RUN: simplefsdp-opt %s -split-input-file -verify-diagnostics

func.func @scalar_compute_c1(%a: !sfsdp.scalar) {
  // expected-error@+1 {{expected 1 operands for neg, got 2}}
  %b = sfsdp.scalar_compute neg %a, %a
  return
}

// -----

func.func @scalar_compute_c1_binary(%a: !sfsdp.scalar) {
  // expected-error@+1 {{expected 2 operands for pow, got 1}}
  %b = sfsdp.scalar_compute pow %a
  return
}
