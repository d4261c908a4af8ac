// RUN: simplefsdp-opt %s -split-input-file --sfsdp-shard="mesh=dp:2 reshard=always" 2>/dev/null | FileCheck %s
// RUN: simplefsdp-opt %s -split-input-file --sfsdp-shard="mesh=dp:2 reshard=never" 2>/dev/null | FileCheck %s --check-prefix=NEVER
// RUN: simplefsdp-opt %s -split-input-file --sfsdp-shard="mesh=dp:2 mode=replicate" 2>/dev/null | FileCheck %s --check-prefix=REPLICATE
// RUN: simplefsdp-opt %s -split-input-file --sfsdp-shard="mesh=dp:1 reshard=always" 2>/dev/null | FileCheck %s --check-prefix=ONE

// F06: a parameter read twice in forward and twice in backward.
// CHECK-LABEL: module @several_reads
// CHECK-COUNT-2: sfsdp.all_gather
// CHECK: sfsdp.reduce_scatter
// CHECK-NOT: sfsdp.{{all_gather|reduce_scatter}}
// NEVER-LABEL: module @several_reads
// NEVER: %[[FULL:.*]] = sfsdp.all_gather
// NEVER-NOT: sfsdp.all_gather
// NEVER: sfsdp.aten "mul.Tensor"(%[[FULL]], %{{.*}}) scope <backward "w">
// REPLICATE-LABEL: module @several_reads
// REPLICATE-NOT: sfsdp.placement
// REPLICATE-NOT: sfsdp.all_gather
// REPLICATE: sfsdp.all_reduce %{{.*}} on ["dp"] divisor 2.000000e+00 for ["w.weight"]
// REPLICATE-NOT: sfsdp.all_reduce
// ONE-LABEL: module @several_reads
// ONE: %{{.*}}: tensor<4xf32> {sfsdp.global = tensor<4xf32>, sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>
// ONE-NOT: sfsdp.{{all_gather|reduce_scatter|all_reduce}}
module @several_reads {
  func.func @train_step(
      %w: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "w.weight">})
      -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "w.weight">}) {
    %a = sfsdp.aten "mul.Tensor"(%w, %w) scope <forward "w"> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b = sfsdp.aten "add.Tensor"(%w, %a) scope <forward "w"> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %c = sfsdp.aten "mul.Tensor"(%w, %b) scope <backward "w"> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %g = sfsdp.aten "add.Tensor"(%w, %c) scope <backward "w"> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %g : tensor<4xf32>
  }
}

// -----

// A parameter that only backward reads has its first gather there.
// CHECK-LABEL: module @read_in_backward_only
// NEVER-LABEL: module @read_in_backward_only
// REPLICATE-LABEL: module @read_in_backward_only
// ONE-LABEL: module @read_in_backward_only
// CHECK: sfsdp.all_gather %{{.*}} on ["dp"] for ["w.weight"] scope <backward "w" by "sfsdp-shard">
module @read_in_backward_only {
  func.func @train_step(
      %w: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "w.weight">})
      -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<gradient "w.weight">}) {
    %g = sfsdp.aten "mul.Tensor"(%w, 2.0) scope <backward "w"> : (tensor<4xf32>) -> tensor<4xf32>
    return %g : tensor<4xf32>
  }
}

// -----

// Frozen: gathered, never reduced. Unused: an argument only. Integers travel as
// they are.
// CHECK-LABEL: module @frozen_unused_integer
// CHECK: func.func @train_step(%[[F:[a-z0-9]+]]: tensor<2xf32>
// CHECK-SAME: %[[U:[a-z0-9]+]]: tensor<2xf32> {{[^%]*}}%[[I:[a-z0-9]+]]: tensor<2xi64>
// CHECK-NOT: %[[U]]
// CHECK: sfsdp.all_gather %[[F]] on
// CHECK: sfsdp.all_gather %[[I]] on {{.*}} : (tensor<2xi64>) -> tensor<4xi64>
// CHECK-NOT: sfsdp.{{all_gather|reduce_scatter|all_reduce}}
module @frozen_unused_integer {
  func.func @train_step(
      %f: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "f" frozen>},
      %u: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "u">},
      %i: tensor<4xi64> {sfsdp.role = #sfsdp.role<parameter "i" frozen>})
      -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<output "y">}) {
    %y = sfsdp.aten "mul.Tensor"(%f, %i) scope <forward ""> : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// F50: a returned parameter is the whole tensor.
// CHECK-LABEL: module @F50_returned
// CHECK: %[[FULL:.*]] = sfsdp.all_gather
// CHECK-NOT: sfsdp.all_gather
// CHECK: return %[[FULL]] : tensor<5xf32>
module @F50_returned {
  func.func @train_step(
      %w: tensor<5xf32> {sfsdp.role = #sfsdp.role<parameter "w">})
      -> (tensor<5xf32> {sfsdp.role = #sfsdp.role<output "w">}) {
    return %w : tensor<5xf32>
  }
}

// -----

// F50: the return reads the gather of the phase that reads last.
// CHECK-LABEL: module @F50_returned_and_read
// CHECK: sfsdp.all_gather
// CHECK: %[[AGAIN:.*]] = sfsdp.all_gather %{{.*}} regather
// CHECK: return %{{.*}}, %[[AGAIN]]
module @F50_returned_and_read {
  func.func @train_step(
      %w: tensor<5xf32> {sfsdp.role = #sfsdp.role<parameter "w">})
      -> (tensor<5xf32> {sfsdp.role = #sfsdp.role<gradient "w">},
          tensor<5xf32> {sfsdp.role = #sfsdp.role<output "w">}) {
    %y = sfsdp.aten "mul.Tensor"(%w, %w) scope <forward ""> : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    %g = sfsdp.aten "mul.Tensor"(%w, %y) scope <backward ""> : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
    return %g, %w : tensor<5xf32>, tensor<5xf32>
  }
}

// -----

// A transposed parameter: chunks and gather are contiguous, readers see the
// captured strides.
// CHECK-LABEL: module @captured_strides
// CHECK: %[[W:.*]]: tensor<2x3xf32> {sfsdp.global = tensor<4x3xf32, #sfsdp.strides<[1, 4]>>
// CHECK: %[[FULL:.*]] = sfsdp.all_gather %[[W]] {{.*}} -> tensor<4x3xf32>
// CHECK: %[[T:.*]] = sfsdp.aten "permute.default"(%[[FULL]], [1, 0]) {{.*}} -> tensor<3x4xf32, #sfsdp.strides<[1, 3]>>
// CHECK: %[[C:.*]] = sfsdp.aten "clone.default"(%[[T]], #sfsdp.memory_format<contiguous>) {{.*}} -> tensor<3x4xf32>
// CHECK: %[[S:.*]] = sfsdp.aten "permute.default"(%[[C]], [1, 0]) {{.*}} -> tensor<4x3xf32, #sfsdp.strides<[1, 4]>>
// CHECK: sfsdp.aten "neg.default"(%[[S]])
module @captured_strides {
  func.func @train_step(
      %w: tensor<4x3xf32, #sfsdp.strides<[1, 4]>> {sfsdp.role = #sfsdp.role<parameter "w">})
      -> (tensor<4x3xf32, #sfsdp.strides<[1, 4]>> {sfsdp.role = #sfsdp.role<output "y">}) {
    %y = sfsdp.aten "neg.default"(%w) scope <forward ""> : (tensor<4x3xf32, #sfsdp.strides<[1, 4]>>) -> tensor<4x3xf32, #sfsdp.strides<[1, 4]>>
    return %y : tensor<4x3xf32, #sfsdp.strides<[1, 4]>>
  }
}
