// RUN: simplefsdp-opt %s -split-input-file --sfsdp-bucket | FileCheck %s
// RUN: simplefsdp-opt %s -split-input-file --sfsdp-bucket="policy=none" | FileCheck %s --check-prefix=NONE

// F33: a gather that needs the other one's result is not merged with it.
// CHECK-LABEL: module @F33_dependent_gathers
// CHECK: %[[A:.*]] = sfsdp.all_gather %{{.*}} for ["0.a"]
// CHECK: %[[N:.*]] = sfsdp.aten "neg.default"(%[[A]])
// CHECK: sfsdp.all_gather %[[N]] on ["dp"] for ["0.b"]
module @F33_dependent_gathers attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @train_step(
      %a: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "0.a">},
      %b: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "0.b">})
      -> (tensor<8xf32> {sfsdp.role = #sfsdp.role<output "y">}) {
    %fa = sfsdp.all_gather %a on ["dp"] for ["0.a"] : (tensor<2xf32>) -> tensor<4xf32>
    %n = sfsdp.aten "neg.default"(%fa) : (tensor<4xf32>) -> tensor<4xf32>
    %fb = sfsdp.all_gather %n on ["dp"] for ["0.b"] : (tensor<4xf32>) -> tensor<8xf32>
    return %fb : tensor<8xf32>
  }
}

// -----

// F33: reductions meet behind the later gradient, in registration order.
// CHECK-LABEL: module @F33_reductions
// CHECK: %[[G:.*]] = sfsdp.aten "neg.default"
// CHECK: %[[H:.*]] = sfsdp.aten "exp.default"
// CHECK: %[[R:.*]]:2 = sfsdp.all_reduce %[[H]], %[[G]] on ["dp"] for ["a", "b"]
// CHECK: return %[[R]]#0, %[[R]]#1
// NONE-LABEL: module @F33_reductions
// NONE-COUNT-2: sfsdp.all_reduce
module @F33_reductions attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @train_step(
      %a: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "a">},
      %b: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "b">})
      -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "a">},
          tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "b">}) {
    %g = sfsdp.aten "neg.default"(%b) scope <backward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %rb = sfsdp.all_reduce %g on ["dp"] for ["b"] scope <backward "" by "sfsdp-shard"> : (tensor<4xf32>) -> tensor<4xf32>
    %h = sfsdp.aten "exp.default"(%a) scope <backward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %ra = sfsdp.all_reduce %h on ["dp"] for ["a"] scope <backward "" by "sfsdp-shard"> : (tensor<4xf32>) -> tensor<4xf32>
    return %ra, %rb : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Updates move down with the reduction that they need, and still come before
// nothing that reads the old value.
// CHECK-LABEL: module @updates_move_down
// CHECK: sfsdp.all_reduce
// CHECK-NEXT: sfsdp.sgd
// CHECK-NEXT: sfsdp.sgd
module @updates_move_down attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @train_step(
      %a: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "a">},
      %b: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "b">},
      %s: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "lr">})
      -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "a">},
          tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "b">}) {
    %g = sfsdp.aten "neg.default"(%b) scope <backward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %rb = sfsdp.all_reduce %g on ["dp"] for ["b"] scope <backward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %nb = sfsdp.sgd %b, %rb step_size %s step %s weight_decay 0.0 momentum 0.0 : tensor<4xf32>
    %h = sfsdp.aten "exp.default"(%a) scope <backward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %ra = sfsdp.all_reduce %h on ["dp"] for ["a"] scope <backward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %na = sfsdp.sgd %a, %ra step_size %s step %s weight_decay 0.0 momentum 0.0 : tensor<4xf32>
    return %na, %nb : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Other attributes, another phase and another block are other buckets; nothing
// crosses an operator that nobody knows; an unnamed collective stays.
// CHECK-LABEL: module @negative_apart
// CHECK-COUNT-7: sfsdp.all_gather %{{[a-z0-9]+}} on
module @negative_apart attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @train_step(
      %a: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "0.a">},
      %b: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "0.b">},
      %c: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "1.c">})
      -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<output "y">}) {
    %0 = sfsdp.all_gather %a on ["dp"] for ["0.a"] scope <forward ""> : (tensor<2xf32>) -> tensor<4xf32>
    %1 = sfsdp.all_gather %b on ["dp"] regather for ["0.b"] scope <forward ""> : (tensor<2xf32>) -> tensor<4xf32>
    %2 = sfsdp.all_gather %b on ["dp"] for ["0.b"] scope <backward ""> : (tensor<2xf32>) -> tensor<4xf32>
    %3 = sfsdp.all_gather %c on ["dp"] for ["1.c"] scope <forward ""> : (tensor<2xf32>) -> tensor<4xf32>
    %4 = sfsdp.all_gather %b on ["dp"] : (tensor<2xf32>) -> tensor<4xf32>
    %5 = sfsdp.all_gather %b on ["dp"] for ["unknown"] : (tensor<2xf32>) -> tensor<4xf32>
    %u = sfsdp.aten "mylib::log.default"(%0) effect unknown scope <forward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %6 = sfsdp.all_gather %b on ["dp"] for ["0.b"] scope <forward ""> : (tensor<2xf32>) -> tensor<4xf32>
    return %6 : tensor<4xf32>
  }
}
