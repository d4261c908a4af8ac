// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 gradient-scale=global:tokens" | FileCheck %s
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 gradient-scale=global:tokens micro-batches=2" | FileCheck %s --check-prefix=MICRO
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 gradient-scale=global:words" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 gradient-scale=global:rows" 2>&1 | FileCheck %s --check-prefix=SHAPE

// CHECK: %[[COUNT:.*]] = sfsdp.all_reduce %{{.*}} on ["dp"] scope <forward "" by "sfsdp-shard"> : (tensor<i64>) -> tensor<i64>
// CHECK: %[[SUM:.*]] = sfsdp.reduce_scatter %{{.*}} on ["dp"] for ["w"]
// CHECK: %[[MEAN:.*]] = sfsdp.aten "div.Tensor"(%[[SUM]], %[[COUNT]])
// CHECK: return %{{.*}}, %{{.*}}, %{{.*}}, %[[MEAN]]

// The count is added up like a gradient.
// MICRO-LABEL: @micro_step
// MICRO-SAME: %[[ACC:[^:]*]]: tensor<i64> {sfsdp.role = #sfsdp.role<accumulator "tokens">}
// MICRO: %[[COUNT:.*]] = sfsdp.all_reduce
// MICRO: %[[SUM:.*]] = sfsdp.accumulate %[[ACC]], %[[COUNT]] at
// MICRO: return {{.*}}, %[[SUM]] :
// MICRO-LABEL: @last_micro_step
// MICRO: %[[TOTAL:.*]] = sfsdp.aten "add.Tensor"(%{{.*}}, %{{.*}}) {{.*}} : (tensor<i64>, tensor<i64>) -> tensor<i64>
// MICRO: sfsdp.aten "div.Tensor"(%{{.*}}, %[[TOTAL]])

// NAME: error: option gradient-scale: expected the name of an output (tokens, rows), got 'words'
// SHAPE: error: option gradient-scale: expected output 'rows' to be a number, got 'tensor<6xi64>'
func.func @train_step(
    %w: tensor<6xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
    %x: tensor<6xi64> {sfsdp.role = #sfsdp.role<input "x">})
    -> (tensor<f32> {sfsdp.role = #sfsdp.role<loss "loss">},
        tensor<i64> {sfsdp.role = #sfsdp.role<output "tokens">},
        tensor<6xi64> {sfsdp.role = #sfsdp.role<output "rows">},
        tensor<6xf32> {sfsdp.role = #sfsdp.role<gradient "w">}) {
  %loss = sfsdp.aten "sum.default"(%w) scope <forward ""> : (tensor<6xf32>) -> tensor<f32>
  %tokens = sfsdp.aten "sum.default"(%x) scope <forward ""> : (tensor<6xi64>) -> tensor<i64>
  %g = sfsdp.aten "neg.default"(%w) scope <backward ""> : (tensor<6xf32>) -> tensor<6xf32>
  return %loss, %tokens, %x, %g : tensor<f32>, tensor<i64>, tensor<6xi64>, tensor<6xf32>
}
