// RUN: simplefsdp-opt %s --sfsdp-emit-plan -o /dev/null | FileCheck %s

// CHECK: "data_axes": ["dp"]
// CHECK: "mesh": {"axes": [{"name": "dp", "size": 2}]}
// CHECK: "proved": {"memory": "[[DIGEST:[0-9a-f]+]]", "order": "[[DIGEST]]"}
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  // A shard of 2 rows, 24 bytes; the gathered tensor, 48 bytes; its view as
  // transposed has no memory of its own; the product, 80 bytes.
  // CHECK: "predicted_peak_bytes": [[#24 + 60 + 48 + 80]],
  // CHECK: {"id": 0, "role": "parameter", "name": "proj.weight", "value": "%0", "global_shape": [4, 3], "placement": [{"axis": "dp", "dim": 0}]}
  // CHECK: "results":
  // CHECK-NEXT: {"id": 0, "role": "output", "name": "y", "value": "%4", "global_shape": [5, 4]}
  // CHECK: {"id": 2, "bytes": 48, "use": "gathered", "region": "arena", "first": 0, "last": 4}
  // CHECK: {"id": 3, "storage": 2, "dtype": "f32", "sizes": [3, 4], "strides": [1, 3]}
  // CHECK: "start": "all_gather", "axes": ["dp"], "members": [{"input": "%0", "output": "%2", "name": "proj.weight"}], "order": "ordered", "bytes_received": 24, "ready": -1, "needed": 2,
  // CHECK-NEXT: "wait": 0,
  // CHECK-NEXT: "call": "aten::t", "arguments": ["%2"], "results": ["%3"]
  // CHECK-NEXT: "call": "aten::mm", "arguments": ["%1", "%3"], "results": ["%4"]
  // CHECK-NEXT: "free": 2,
  func.func @train_step(
      %w: tensor<2x3xf32> {sfsdp.role = #sfsdp.role<parameter "proj.weight">,
                           sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>,
                           sfsdp.global = tensor<4x3xf32>},
      %x: tensor<5x3xf32> {sfsdp.role = #sfsdp.role<input "x">})
      -> (tensor<5x4xf32> {sfsdp.role = #sfsdp.role<output "y">}) {
    %p = sfsdp.all_gather_start %w on ["dp"] for ["proj.weight"] : (tensor<2x3xf32>) -> !sfsdp.pending<tensor<4x3xf32>>
    %full = sfsdp.wait %p : !sfsdp.pending<tensor<4x3xf32>>
    %t = sfsdp.aten "t.default"(%full) : (tensor<4x3xf32>) -> tensor<3x4xf32, #sfsdp.strides<[1, 3]>>
    %y = sfsdp.aten "mm.default"(%x, %t) : (tensor<5x3xf32>, tensor<3x4xf32, #sfsdp.strides<[1, 3]>>) -> tensor<5x4xf32>
    return %y : tensor<5x4xf32>
  }
}
