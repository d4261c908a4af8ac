// RUN: simplefsdp-opt %s -split-input-file --sfsdp-emit-plan -o /dev/null | FileCheck %s

// Every kind of operator argument. A float that is whole stays a float.
// CHECK-LABEL: "name": "arguments"
// CHECK: "call": "aten::cat", "arguments": [{"values": ["%0", "%0"]}, 1]
// CHECK: "call": "aten::add", "overload": "Tensor", "arguments": ["%0", "%0", 2.0]
// CHECK: "call": "aten::_to_copy", "arguments": ["%0", {"dtype": "bf16"}, {"layout": "strided"}, {"device": "plan"}, false, false, {"memory_format": "contiguous"}]
// CHECK: "call": "mylib::scale", "overload": "out", "arguments": ["%0", null, true, {"string": "same"}, {"ints": []}, {"floats": [0.5]}, {"bools": [true]}]
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 1>} {
  func.func @arguments(%x: tensor<2x3xf32> {sfsdp.role = #sfsdp.role<input "x">}) {
    %0 = sfsdp.aten "cat.default"([%x, %x], 1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
    %1 = sfsdp.aten "add.Tensor"(%x, %x, 2.0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %2 = sfsdp.aten "_to_copy.default"(%x, bf16, #sfsdp.strided, #sfsdp.device, false, false, #sfsdp.memory_format<contiguous>) : (tensor<2x3xf32>) -> tensor<2x3xbf16>
    %3 = sfsdp.aten "mylib::scale.out"(%x, none, true, "same", [], [0.5], [true]) effect unknown : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

// Views share the storage of what they view, at an offset; a view of a view too.
// CHECK: {"id": 0, "storage": 0, "dtype": "f32", "sizes": [4, 6], "strides": [6, 1]}
// CHECK: {"id": 1, "storage": 0, "dtype": "f32", "sizes": [3, 6], "strides": [6, 1], "offset": 6}
// CHECK: {"id": 2, "storage": 0, "dtype": "f32", "sizes": [6], "strides": [1], "offset": 12}
// CHECK: {"id": 3, "storage": 0, "dtype": "f32", "sizes": [2, 6], "strides": [6, 1]}
// CHECK: {"id": 4, "storage": 0, "dtype": "f32", "sizes": [2, 6], "strides": [6, 1], "offset": 12}
// CHECK-LABEL: "name": "views"
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 1>} {
  func.func @views(%x: tensor<4x6xf32> {sfsdp.role = #sfsdp.role<input "x">}) {
    %0 = sfsdp.aten "slice.Tensor"(%x, 0, 1, 4) : (tensor<4x6xf32>) -> tensor<3x6xf32>
    %1 = sfsdp.aten "select.int"(%0, 0, 1) : (tensor<3x6xf32>) -> tensor<6xf32>
    %2:2 = sfsdp.aten "split.Tensor"(%x, 2) : (tensor<4x6xf32>) -> (tensor<2x6xf32>, tensor<2x6xf32>)
    return
  }
}

// -----

// Updates happen in the memory of the argument. A buffer whose new value was
// computed elsewhere is copied back at the end.
// CHECK: "results": [{{$}}
// CHECK-NEXT: {"id": 0, "role": "parameter", "name": "w", "value": "%4", "updates": 0, "global_shape": [8]}
// CHECK-NEXT: {"id": 1, "role": "state", "name": "w", "slot": "exp_avg", "value": "%5", "updates": 1, "global_shape": [8]}
// CHECK-NEXT: {"id": 2, "role": "state", "name": "w", "slot": "exp_avg_sq", "value": "%6", "updates": 2, "global_shape": [8]}
// CHECK-NEXT: {"id": 3, "role": "buffer", "name": "count", "value": "%8", "updates": 3, "global_shape": []}
// CHECK: {"id": 4, "storage": 0,
// CHECK-NEXT: {"id": 5, "storage": 1,
// CHECK-NEXT: {"id": 6, "storage": 2,
// CHECK: {"id": 0, "op": "lr"}
// CHECK-NEXT: {"id": 1, "op": "constant", "constant": 0.1}
// CHECK-NEXT: {"id": 2, "op": "mul", "operands": ["$0", "$1"]}
// CHECK: "call": "sfsdp::adamw", "arguments": ["%0", "%0", "%1", "%2", "$2", 0.9, 0.999, "$2", "$2", 1e-08], "results": ["%4", "%5", "%6"]
// CHECK: "call": "aten::add", "overload": "Scalar", "arguments": ["%3", 1], "results": ["%7"]
// CHECK: "call": "aten::copy_", "arguments": ["%3", "%7"], "results": ["%8"]
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 1>} {
  func.func @updates(
      %w: tensor<8xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
      %m: tensor<8xf32> {sfsdp.role = #sfsdp.role<state "w" slot "exp_avg">},
      %v: tensor<8xf32> {sfsdp.role = #sfsdp.role<state "w" slot "exp_avg_sq">},
      %count: tensor<i64> {sfsdp.role = #sfsdp.role<buffer "count">},
      %lr: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "lr">})
      -> (tensor<8xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
          tensor<8xf32> {sfsdp.role = #sfsdp.role<state "w" slot "exp_avg">},
          tensor<8xf32> {sfsdp.role = #sfsdp.role<state "w" slot "exp_avg_sq">},
          tensor<i64> {sfsdp.role = #sfsdp.role<buffer "count">}) {
    %c = sfsdp.scalar_constant 0.1
    %d = sfsdp.scalar_compute mul %lr, %c
    %w1, %m1, %v1 = sfsdp.adamw %w, %w, %m, %v decay %d step_size %d correction %d betas 0.9, 0.999 eps 1.0e-8 : tensor<8xf32>
    %next = sfsdp.aten "add.Scalar"(%count, 1) : (tensor<i64>) -> tensor<i64>
    return %w1, %m1, %v1, %next : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<i64>
  }
}

// -----

// F07: counts beyond 31 bits. [262144, 8960] bf16 on 8 ranks: 2,348,810,240
// elements, 4,697,620,480 bytes, 293,601,280 elements or 587,202,560 bytes per
// rank, 7 of them received.
// CHECK: {"id": 0, "bytes": 587202560, "use": "parameter"
// CHECK: {"id": 1, "bytes": 4697620480, "use": "gathered"
// CHECK: "bytes_received": 4110417920
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 8>} {
  func.func @F07_more_than_two_to_the_31(
      %w: tensor<32768x8960xbf16> {sfsdp.role = #sfsdp.role<parameter "embedding.weight">,
          sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>,
          sfsdp.global = tensor<262144x8960xbf16>})
      -> (tensor<262144x8960xbf16> {sfsdp.role = #sfsdp.role<output "table">}) {
    %full = sfsdp.all_gather %w on ["dp"] : (tensor<32768x8960xbf16>) -> tensor<262144x8960xbf16>
    return %full : tensor<262144x8960xbf16>
  }
}

// -----

// F44: an output that is a view of a gathered value keeps its memory.
// CHECK: {"id": 1, "bytes": 128, "use": "gathered", "region": "arena", "first": 0, "last": 2}
// CHECK-NOT: "free"
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @F44_output_is_a_view_of_a_wait(
      %x: tensor<4x4xf32> {sfsdp.role = #sfsdp.role<input "x">})
      -> (tensor<32xf32> {sfsdp.role = #sfsdp.role<output "flat">}) {
    %full = sfsdp.all_gather %x on ["dp"] : (tensor<4x4xf32>) -> tensor<8x4xf32>
    %flat = sfsdp.aten "view.default"(%full, [32]) : (tensor<8x4xf32>) -> tensor<32xf32>
    return %flat : tensor<32xf32>
  }
}
