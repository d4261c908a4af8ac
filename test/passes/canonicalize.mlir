// RUN: simplefsdp-opt %s -split-input-file --sfsdp-canonicalize | FileCheck %s

// Two equal casts of a phase are one.
// CHECK-LABEL: module @casts
// CHECK-COUNT-1: "_to_copy.default"
// CHECK-NOT: "_to_copy.default"
module @casts {
  func.func @train_step(
      %w: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "w">})
      -> (tensor<4xbf16> {sfsdp.role = #sfsdp.role<output "y">}) {
    %a = sfsdp.aten "_to_copy.default"(%w, bf16) scope <forward "a" at "m.py:1"> : (tensor<4xf32>) -> tensor<4xbf16>
    %b = sfsdp.aten "_to_copy.default"(%w, bf16) scope <forward "b" at "m.py:2"> : (tensor<4xf32>) -> tensor<4xbf16>
    %y = sfsdp.aten "mul.Tensor"(%a, %b) scope <forward ""> : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
    return %y : tensor<4xbf16>
  }
}

// -----

// Other arguments, or another operator, are other values; computation is not
// merged, whatever its arguments.
// CHECK-LABEL: module @negative_different
// CHECK-COUNT-2: "view.default"
// CHECK-COUNT-2: "neg.default"
module @negative_different {
  func.func @train_step(
      %x: tensor<4xf32> {sfsdp.role = #sfsdp.role<input "x">})
      -> (tensor<2x2xf32> {sfsdp.role = #sfsdp.role<output "a">},
          tensor<1x4xf32> {sfsdp.role = #sfsdp.role<output "b">},
          tensor<4xf32> {sfsdp.role = #sfsdp.role<output "c">},
          tensor<4xf32> {sfsdp.role = #sfsdp.role<output "d">}) {
    %a = sfsdp.aten "view.default"(%x, [2, 2]) scope <forward ""> : (tensor<4xf32>) -> tensor<2x2xf32>
    %b = sfsdp.aten "view.default"(%x, [1, 4]) scope <forward ""> : (tensor<4xf32>) -> tensor<1x4xf32>
    %c = sfsdp.aten "neg.default"(%x) scope <forward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %d = sfsdp.aten "neg.default"(%x) scope <forward ""> : (tensor<4xf32>) -> tensor<4xf32>
    return %a, %b, %c, %d : tensor<2x2xf32>, tensor<1x4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Nobody knows what an unknown operator does: it stays. A collective stays.
// CHECK-LABEL: module @negative_effects
// CHECK: "mylib::log.default"
// CHECK: sfsdp.all_gather
module @negative_effects attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @train_step(
      %x: tensor<4xf32> {sfsdp.role = #sfsdp.role<input "x">}) {
    %a = sfsdp.aten "mylib::log.default"(%x) effect unknown scope <forward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %b = sfsdp.all_gather %x on ["dp"] : (tensor<4xf32>) -> tensor<8xf32>
    return
  }
}

// -----

// A chain of dead operators goes as a whole, a dead random one with it.
// CHECK-LABEL: module @dead_chain
// CHECK-NOT: sfsdp.aten
module @dead_chain {
  func.func @train_step(
      %x: tensor<4xf32> {sfsdp.role = #sfsdp.role<input "x">}) {
    %a = sfsdp.aten "neg.default"(%x) scope <forward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %r = sfsdp.aten "bernoulli.p"(%a, 0.5) effect random random 0 scope <forward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %b = sfsdp.aten "detach.default"(%r) scope <forward ""> : (tensor<4xf32>) -> tensor<4xf32>
    return
  }
}
