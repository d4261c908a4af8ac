// RUN: simplefsdp-opt %s --sfsdp-canonicalize | FileCheck %s

// The name, the dead operator and the second view of a phase go; the view of
// the other phase stays.
// CHECK: func.func @train_step(%[[W:[a-z0-9]+]]: tensor<4x4xf32>
// CHECK-NEXT: %[[T:.*]] = sfsdp.aten "t.default"(%[[W]]) scope <forward "a">
// CHECK-NEXT: %[[Y:.*]] = sfsdp.aten "mm.default"(%[[T]], %[[T]]) scope <forward "b">
// CHECK-NEXT: %[[V:.*]] = sfsdp.aten "t.default"(%[[W]]) scope <backward "a">
// CHECK-NEXT: %[[Z:.*]] = sfsdp.aten "mm.default"(%[[Y]], %[[V]]) scope <backward "a">
// CHECK-NEXT: return %[[Z]]
func.func @train_step(
    %w: tensor<4x4xf32> {sfsdp.role = #sfsdp.role<parameter "w">})
    -> (tensor<4x4xf32> {sfsdp.role = #sfsdp.role<output "z">}) {
  %d = sfsdp.aten "detach.default"(%w) scope <forward "a"> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = sfsdp.aten "t.default"(%w) scope <forward "a"> : (tensor<4x4xf32>) -> tensor<4x4xf32, #sfsdp.strides<[1, 4]>>
  %u = sfsdp.aten "t.default"(%d) scope <forward "b"> : (tensor<4x4xf32>) -> tensor<4x4xf32, #sfsdp.strides<[1, 4]>>
  %y = sfsdp.aten "mm.default"(%t, %u) scope <forward "b"> : (tensor<4x4xf32, #sfsdp.strides<[1, 4]>>, tensor<4x4xf32, #sfsdp.strides<[1, 4]>>) -> tensor<4x4xf32>
  %dead = sfsdp.aten "neg.default"(%y) scope <forward "b"> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %v = sfsdp.aten "t.default"(%w) scope <backward "a"> : (tensor<4x4xf32>) -> tensor<4x4xf32, #sfsdp.strides<[1, 4]>>
  %z = sfsdp.aten "mm.default"(%y, %v) scope <backward "a"> : (tensor<4x4xf32>, tensor<4x4xf32, #sfsdp.strides<[1, 4]>>) -> tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}
