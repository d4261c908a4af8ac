// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:4 keep-replicated=kept*,other" -verify-diagnostics | FileCheck %s
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:4 mode=replicate reshard=never keep-replicated=*" 2>&1 | FileCheck %s --check-prefix=REPLICATE

// REPLICATE-DAG: warning: option keep-replicated: changes nothing, as replicate keeps parameters whole
// REPLICATE-DAG: warning: option reshard: changes nothing, as replicate keeps parameters whole

// One value that is the gradient of two parameters is reduced for each; a
// parameter that an option names stays whole.
// CHECK-LABEL: module @shared_gradient
// CHECK: %[[G:.*]] = sfsdp.aten "mul.Tensor"
// CHECK-DAG: %[[A:.*]] = sfsdp.reduce_scatter %[[G]] {{.*}} for ["a"]
// CHECK-DAG: %[[B:.*]] = sfsdp.all_reduce %[[G]] {{.*}} for ["kept.b"]
// CHECK: return %[[A]], %[[B]] : tensor<1xf32>, tensor<4xf32>
// expected-warning@+1 {{option keep-replicated: 'other' names no parameter}}
module @shared_gradient {
  func.func @train_step(
      %a: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "a">},
      // expected-remark@+1 {{parameter 'kept.b' stays whole on every rank: keep-replicated names it}}
      %b: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "kept.b">},
      %x: tensor<4xf32> {sfsdp.role = #sfsdp.role<input "x">})
      -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "a">},
          tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "kept.b">}) {
    %g = sfsdp.aten "mul.Tensor"(%x, %x) scope <backward ""> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %g, %g : tensor<4xf32>, tensor<4xf32>
  }
}
