// RUN: simplefsdp-opt %s | simplefsdp-opt | FileCheck %s
// RUN: simplefsdp-opt %s --mlir-print-op-generic | simplefsdp-opt | FileCheck %s

// CHECK-LABEL: @description
// CHECK: %[[SUM:.+]] = sfsdp.aten "add.Tensor"(%arg0, %arg1, 2.000000e+00)
// CHECK: sfsdp.aten "_to_copy.default"(%[[SUM]], bf16) scope <forward "norm" at "model.py:7">
func.func @description(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  %sum = sfsdp.aten "add.Tensor"(%x, %y, 2.0)
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %half = sfsdp.aten "_to_copy.default"(%sum, bf16)
      scope <forward "norm" at "model.py:7"> : (tensor<4xf32>) -> tensor<4xbf16>
  return
}

// CHECK-LABEL: @every_kind_of_argument
// CHECK: (none, [%arg0, none, %arg0], 1, -1.500000e+00, 1.000000e-100, true, "same",
// CHECK-SAME: [1, -2], [], [5.000000e-01, 2.000000e+00], [true, false], bf16,
// CHECK-SAME: #sfsdp.memory_format<channels_last>, #sfsdp.strided, #sfsdp.device, %arg1)
func.func @every_kind_of_argument(%x: tensor<4xf32>, %s: !sfsdp.scalar) {
  %y = sfsdp.aten "mylib::all.default"(none, [%x, none, %x], 1, -1.5, 1.0e-100,
      true, "same", [1, -2], [], [0.5, 2.0], [true, false], bf16,
      #sfsdp.memory_format<channels_last>, #sfsdp.strided, #sfsdp.device, %s)
      : (tensor<4xf32>, tensor<4xf32>, !sfsdp.scalar) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @infinities
// CHECK: (%arg0, 0x7FF0000000000000 : f64, 0xFFF0000000000000 : f64)
func.func @infinities(%x: tensor<4xf32>) {
  %y = sfsdp.aten "clamp.default"(%x, 0x7FF0000000000000 : f64,
      0xFFF0000000000000 : f64) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: @absent_and_random
// CHECK: absent [1] effect random random 7 scope
func.func @absent_and_random(%x: tensor<4xf32>) {
  %y = sfsdp.aten "native_dropout.default"(%x, 0.5, true) absent [1]
      effect random random 7 scope <forward "drop"> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// Equal operators merge, but for random ones, which have different ids, and
// unknown ones, which may do anything.
// CSE-LABEL: @merging
// RUN: simplefsdp-opt %s --cse | FileCheck %s --check-prefix=CSE
// CSE-COUNT-1: "neg.default"
// CSE-COUNT-2: "rand_like.default"
// CSE-COUNT-2: "mylib::log.default"
func.func @merging(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = sfsdp.aten "neg.default"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = sfsdp.aten "neg.default"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %c = sfsdp.aten "rand_like.default"(%x) effect random random 0 : (tensor<4xf32>) -> tensor<4xf32>
  %d = sfsdp.aten "rand_like.default"(%x) effect random random 1 : (tensor<4xf32>) -> tensor<4xf32>
  %e = sfsdp.aten "mylib::log.default"(%x) effect unknown : (tensor<4xf32>) -> tensor<4xf32>
  %f = sfsdp.aten "mylib::log.default"(%x) effect unknown : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b, %c, %d, %e, %f : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
