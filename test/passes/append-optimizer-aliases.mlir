// RUN: simplefsdp-opt %s -split-input-file --sfsdp-append-optimizer="optimizer=sgd results=gradients" -verify-diagnostics | FileCheck %s
// RUN: simplefsdp-opt %s -split-input-file --sfsdp-append-optimizer="optimizer=sgd" --sfsdp-verify 2>/dev/null -o /dev/null

// The update comes after the last read of a view, however long the chain.
// CHECK-LABEL: module @read_through_views
// CHECK: %[[V:.*]] = sfsdp.aten "t.default"(%[[T:.*]]) scope <backward "">
// CHECK: sfsdp.aten "mm.default"(%{{.*}}, %[[V]])
// CHECK: sfsdp.sgd
module @read_through_views {
  func.func @train_step(
      %w: tensor<4x4xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
      %x: tensor<4x4xf32> {sfsdp.role = #sfsdp.role<input "x">})
      -> (tensor<4x4xf32> {sfsdp.role = #sfsdp.role<gradient "w">},
          tensor<4x4xf32> {sfsdp.role = #sfsdp.role<output "y">}) {
    %t = sfsdp.aten "t.default"(%w) scope <forward ""> : (tensor<4x4xf32>) -> tensor<4x4xf32, #sfsdp.strides<[1, 4]>>
    %g = sfsdp.aten "mm.default"(%x, %t) scope <backward ""> : (tensor<4x4xf32>, tensor<4x4xf32, #sfsdp.strides<[1, 4]>>) -> tensor<4x4xf32>
    %v = sfsdp.aten "t.default"(%t) scope <backward ""> : (tensor<4x4xf32, #sfsdp.strides<[1, 4]>>) -> tensor<4x4xf32>
    %y = sfsdp.aten "mm.default"(%g, %v) scope <backward ""> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %g, %y : tensor<4x4xf32>, tensor<4x4xf32>
  }
}

// -----

// F50: outputs mean the value before the update.
// CHECK-LABEL: module @F50_returned_views
// CHECK: %[[A:.*]] = sfsdp.aten "clone.default"(%[[W:[a-z0-9]+]], #sfsdp.memory_format<preserve>)
// CHECK: %[[T:.*]] = sfsdp.aten "t.default"(%[[W]])
// CHECK: %[[B:.*]] = sfsdp.aten "clone.default"(%[[T]], #sfsdp.memory_format<preserve>) {{.*}} -> tensor<4x4xf32, #sfsdp.strides<[1, 4]>>
// CHECK: sfsdp.sgd
// CHECK: return %{{.*}}, %[[A]], %[[B]], %{{.*}} :
module @F50_returned_views {
  // expected-remark@+1 {{2 results are copies, as they share memory with parameters that the step updates: 1 with "w", 2 with "w"}}
  func.func @train_step(
      %w: tensor<4x4xf32> {sfsdp.role = #sfsdp.role<parameter "w">})
      -> (tensor<4x4xf32> {sfsdp.role = #sfsdp.role<gradient "w">},
          tensor<4x4xf32> {sfsdp.role = #sfsdp.role<output "w">},
          tensor<4x4xf32, #sfsdp.strides<[1, 4]>> {sfsdp.role = #sfsdp.role<output "t">}) {
    %t = sfsdp.aten "t.default"(%w) scope <forward ""> : (tensor<4x4xf32>) -> tensor<4x4xf32, #sfsdp.strides<[1, 4]>>
    %g = sfsdp.aten "neg.default"(%w) scope <backward ""> : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %g, %w, %t : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32, #sfsdp.strides<[1, 4]>>
  }
}

// -----

// Each is the gradient of the other: both are copied, then both updated.
// CHECK-LABEL: module @gradients_are_parameters
// CHECK-DAG: %[[A:.*]] = sfsdp.aten "clone.default"(%[[PA:[a-z]+0]], #sfsdp.memory_format<preserve>)
// CHECK-DAG: %[[B:.*]] = sfsdp.aten "clone.default"(%[[PB:[a-z]+1]], #sfsdp.memory_format<preserve>)
// CHECK-DAG: sfsdp.sgd %[[PA]], %[[B]]
// CHECK-DAG: sfsdp.sgd %[[PB]], %[[A]]
module @gradients_are_parameters {
  // expected-remark@+1 {{2 results are copies, as they share memory with parameters that the step updates: 0 with "b", 1 with "a"}}
  func.func @train_step(
      %a: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "a">},
      %b: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "b">})
      -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "a">},
          tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "b">}) {
    return %b, %a : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A gradient of other strides or another element type is copied into the
// parameter's.
// CHECK-LABEL: module @gradient_layout
// CHECK: %[[C:.*]] = sfsdp.aten "_to_copy.default"(%{{.*}}, f32) scope <optimizer {{.*}} -> tensor<4x4xf32, #sfsdp.strides<[1, 4]>>
// CHECK: %[[L:.*]] = sfsdp.aten "clone.default"(%[[C]], #sfsdp.memory_format<contiguous>) {{.*}} -> tensor<4x4xf32>
// CHECK: sfsdp.sgd %{{.*}}, %[[L]]
module @gradient_layout {
  func.func @train_step(
      %w: tensor<4x4xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
      %x: tensor<4x4xbf16> {sfsdp.role = #sfsdp.role<input "x">})
      -> (tensor<4x4xbf16, #sfsdp.strides<[1, 4]>> {sfsdp.role = #sfsdp.role<gradient "w">}) {
    %g = sfsdp.aten "t.default"(%x) scope <backward ""> : (tensor<4x4xbf16>) -> tensor<4x4xbf16, #sfsdp.strides<[1, 4]>>
    return %g : tensor<4x4xbf16, #sfsdp.strides<[1, 4]>>
  }
}

// -----

// An unknown operator may return a view: the read of its result comes first.
// CHECK-LABEL: module @unknown_operator
// CHECK: %[[Y:.*]] = sfsdp.aten "mylib::view.default"
// CHECK: sfsdp.aten "neg.default"(%[[Y]])
// CHECK: sfsdp.sgd
module @unknown_operator {
  func.func @train_step(
      %w: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
      %x: tensor<4xf32> {sfsdp.role = #sfsdp.role<input "x">})
      -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "w">},
          tensor<4xf32> {sfsdp.role = #sfsdp.role<output "z">}) {
    %g = sfsdp.aten "neg.default"(%x) scope <backward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %y = sfsdp.aten "mylib::view.default"(%w) effect unknown scope <backward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %z = sfsdp.aten "neg.default"(%y) scope <backward ""> : (tensor<4xf32>) -> tensor<4xf32>
    return %g, %z : tensor<4xf32>, tensor<4xf32>
  }
}
