// RUN: simplefsdp-opt %s -split-input-file --sfsdp-emit-plan=output=%t.json -verify-diagnostics
// RUN: test ! -e %t.json

// expected-error@+1 {{expected a module with sfsdp.mesh, got none; pass --simplefsdp="mesh=dp:2" or --sfsdp-shard}}
func.func @without_mesh() {
  return
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 1>} {
  // expected-error@+1 {{argument 0: expected a role, got none}}
  func.func @without_role(%x: tensor<4xf32>) {
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 1>} {
  // expected-error@+1 {{argument 0: expected lr, step or micro_batch, got "momentum"}}
  func.func @unknown_hyper_parameter(%x: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "momentum">}) {
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 1>} {
  // expected-error@+1 {{result 0: expected an argument that #sfsdp.role<parameter "other"> updates, got none}}
  func.func @update_of_nothing(%x: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "w">})
      -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "other">}) {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error@+1 {{expected one function, the training step, or micro_step and last_micro_step, got 2}}
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 1>} {
  func.func @one() {
    return
  }
  func.func @two() {
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @F09_avg(%x: tensor<4xf32> {sfsdp.role = #sfsdp.role<input "x">}) {
    // expected-error@+1 {{expected sum with a divisor, got avg, which no transport does}}
    %0 = sfsdp.all_reduce %x on ["dp"] reduce avg order backend : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @other_dimension(%x: tensor<4x4xf32> {sfsdp.role = #sfsdp.role<input "x">}) {
    // expected-error@+1 {{expected dim 0 on the wire, got 1}}
    %0 = sfsdp.all_gather %x on ["dp"] dim 1 : (tensor<4x4xf32>) -> tensor<4x8xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @foreign_operation(%x: tensor<4x4xf32> {sfsdp.role = #sfsdp.role<input "x">}) {
    // expected-error@+1 {{expected an operation that a plan can hold}}
    %0 = builtin.unrealized_conversion_cast %x : tensor<4x4xf32> to tensor<16xf32>
    return
  }
}

// -----

// expected-error@+1 {{expected sfsdp.micro_batches on the module of micro_step and last_micro_step, and on no other}}
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @micro_step() {
    return
  }
  func.func @last_micro_step() {
    return
  }
}

// -----

// expected-error@+1 {{expected sfsdp.micro_batches on the module of micro_step and last_micro_step, and on no other}}
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>, sfsdp.micro_batches = 2 : i64} {
  func.func @train_step() {
    return
  }
}
