// RUN: simplefsdp-opt %s -split-input-file --sfsdp-reorder --sfsdp-verify | FileCheck %s

// F45: sum and avg are awaited alike, after the product that needs neither.
// CHECK-LABEL: module @F45_sum_and_avg
// CHECK: %[[S:.*]] = sfsdp.all_reduce_start %{{[a-z0-9]+}} on ["dp"] :
// CHECK: %[[A:.*]] = sfsdp.all_reduce_start %{{.*}} reduce avg order backend
// CHECK: sfsdp.aten "mul.Tensor"
// CHECK-DAG: sfsdp.wait %[[S]]
// CHECK-DAG: sfsdp.wait %[[A]]
// CHECK: return
module @F45_sum_and_avg attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @train_step(
      %x: tensor<4xf32> {sfsdp.role = #sfsdp.role<input "x">},
      %y: tensor<4xf32> {sfsdp.role = #sfsdp.role<input "y">})
      -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<output "sum">},
          tensor<4xf32> {sfsdp.role = #sfsdp.role<output "avg">},
          tensor<4xf32> {sfsdp.role = #sfsdp.role<output "yy">}) {
    %s = sfsdp.all_reduce %x on ["dp"] : (tensor<4xf32>) -> tensor<4xf32>
    %a = sfsdp.all_reduce %x on ["dp"] reduce avg order backend : (tensor<4xf32>) -> tensor<4xf32>
    %yy = sfsdp.aten "mul.Tensor"(%y, %y) scope <forward ""> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %s, %a, %yy : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// F43, F44: operand and result of a collective live on; the output is a view of
// what the wait gives.
// CHECK-LABEL: module @F44_view_of_waited
// CHECK: %[[P:.*]] = sfsdp.all_gather_start
// CHECK: %[[W:.*]] = sfsdp.wait %[[P]]
// CHECK: %[[V:.*]] = sfsdp.aten "view.default"(%[[W]], [32])
// CHECK: return %[[V]]
module @F44_view_of_waited attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @train_step(
      %x: tensor<4x4xf32> {sfsdp.role = #sfsdp.role<input "x">})
      -> (tensor<32xf32> {sfsdp.role = #sfsdp.role<output "flat">}) {
    %full = sfsdp.all_gather %x on ["dp"] : (tensor<4x4xf32>) -> tensor<8x4xf32>
    %flat = sfsdp.aten "view.default"(%full, [32]) scope <forward ""> : (tensor<8x4xf32>) -> tensor<32xf32>
    return %flat : tensor<32xf32>
  }
}

// -----

// The start takes along the cast that it reads, and the update of the parameter
// stays behind the wait of the gather that reads it.
// CHECK-LABEL: module @casts_and_updates
// CHECK: %[[A:.*]] = sfsdp.all_gather_start
// CHECK: %[[C:.*]] = sfsdp.aten "_to_copy.default"
// CHECK: %[[B:.*]] = sfsdp.all_gather_start %[[C]]
// CHECK: sfsdp.wait %[[A]]
// CHECK: sfsdp.aten "neg.default"
// CHECK: sfsdp.wait %[[B]]
// CHECK: sfsdp.aten "mul.Tensor"
// CHECK: %[[R:.*]] = sfsdp.reduce_scatter_start
// CHECK: sfsdp.aten "exp.default"
// CHECK: sfsdp.wait %[[R]]
// CHECK: sfsdp.sgd
module @casts_and_updates attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @train_step(
      %a: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "0.a">},
      %b: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "1.b">},
      %s: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "lr">})
      -> (tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "1.b">},
          tensor<4xf32> {sfsdp.role = #sfsdp.role<output "z">}) {
    %fa = sfsdp.all_gather %a on ["dp"] for ["0.a"] scope <forward ""> : (tensor<2xf32>) -> tensor<4xf32>
    %x = sfsdp.aten "neg.default"(%fa) scope <forward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %c = sfsdp.aten "_to_copy.default"(%b, bf16) scope <forward ""> : (tensor<2xf32>) -> tensor<2xbf16>
    %fb = sfsdp.all_gather %c on ["dp"] for ["1.b"] scope <forward ""> : (tensor<2xbf16>) -> tensor<4xbf16>
    %y = sfsdp.aten "mul.Tensor"(%x, %fb) scope <backward ""> : (tensor<4xf32>, tensor<4xbf16>) -> tensor<4xf32>
    %r = sfsdp.reduce_scatter %y on ["dp"] for ["1.b"] scope <backward ""> : (tensor<4xf32>) -> tensor<2xf32>
    %n = sfsdp.sgd %b, %r step_size %s step %s weight_decay 0.0 momentum 0.0 : tensor<2xf32>
    %z = sfsdp.aten "exp.default"(%x) scope <backward ""> : (tensor<4xf32>) -> tensor<4xf32>
    return %n, %z : tensor<2xf32>, tensor<4xf32>
  }
}

// -----

// Nothing crosses an operator that nobody knows.
// CHECK-LABEL: module @negative_barrier
// CHECK: sfsdp.all_gather_start
// CHECK: sfsdp.wait
// CHECK: "mylib::log.default"
// CHECK: sfsdp.all_gather_start
// CHECK: sfsdp.wait
module @negative_barrier attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @train_step(
      %a: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "0.a">},
      %b: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "1.b">})
      -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<output "y">}) {
    %fa = sfsdp.all_gather %a on ["dp"] for ["0.a"] : (tensor<2xf32>) -> tensor<4xf32>
    %u = sfsdp.aten "mylib::log.default"(%b) effect unknown scope <forward ""> : (tensor<2xf32>) -> tensor<2xf32>
    %fb = sfsdp.all_gather %b on ["dp"] for ["1.b"] : (tensor<2xf32>) -> tensor<4xf32>
    %y = sfsdp.aten "mul.Tensor"(%fa, %fb) scope <forward ""> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
