// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 micro-batches=3" | FileCheck %s
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 micro-batches=3 sync=last" | FileCheck %s --check-prefix=LAST
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 micro-batches=3 mode=replicate" | FileCheck %s --check-prefix=WHOLE
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp_replicate:2,dp_shard:2 mode=hybrid_shard micro-batches=3 sync=shard-each-replica-last" | FileCheck %s --check-prefix=BETWEEN
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:1 micro-batches=3" | FileCheck %s --check-prefix=ALONE
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 micro-batches=3 reduce-dtype=bf16" | FileCheck %s --check-prefix=WIRE
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 micro-batches=3" | simplefsdp-opt --sfsdp-append-optimizer --sfsdp-bucket --sfsdp-reorder --sfsdp-verify | FileCheck %s --check-prefix=REST
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2 sync=last" 2>&1 | FileCheck %s --check-prefix=UNUSED

// Shards are added; one division after the last addition.
// CHECK: sfsdp.micro_batches = 3 : i64
// CHECK-LABEL: @micro_step
// CHECK-SAME: %[[AT:[^:]*]]: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "micro_batch">}
// CHECK-SAME: %[[ACC:[^:]*]]: tensor<3xf32> {sfsdp.global = tensor<6xf32>, sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>, sfsdp.role = #sfsdp.role<accumulator "w">}
// CHECK-SAME: -> (tensor<f32> {sfsdp.role = #sfsdp.role<loss "loss">}, tensor<3xf32> {sfsdp.global = tensor<6xf32>, sfsdp.placement = {{.*}}, sfsdp.role = #sfsdp.role<accumulator "w">})
// CHECK: %[[SUM:.*]] = sfsdp.reduce_scatter %{{.*}} on ["dp"] for ["w"]
// CHECK: %[[NEW:.*]] = sfsdp.accumulate %[[ACC]], %[[SUM]] at %[[AT]]
// CHECK: return %{{.*}}, %[[NEW]]
// CHECK-LABEL: @last_micro_step
// CHECK-SAME: %[[ACC:[^:]*]]: tensor<3xf32> {sfsdp.global = tensor<6xf32>, sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>, sfsdp.role = #sfsdp.role<accumulator "w">}
// CHECK: %[[SUM:.*]] = sfsdp.reduce_scatter %{{.*}} on ["dp"] for ["w"]
// CHECK: %[[TOTAL:.*]] = sfsdp.aten "add.Tensor"(%[[ACC]], %[[SUM]])
// CHECK: %[[MEAN:.*]] = sfsdp.aten "div.Scalar"(%[[TOTAL]], 6.0{{0*e\+00}})
// CHECK: return %{{.*}}, %[[MEAN]]

// Whole gradients are added; the last reduction divides.
// LAST-LABEL: @micro_step
// LAST-SAME: %[[ACC:[^:]*]]: tensor<6xf32> {sfsdp.role = #sfsdp.role<accumulator "w">}
// LAST-NOT: sfsdp.reduce_scatter
// LAST: sfsdp.accumulate %[[ACC]], %{{.*}} at
// LAST-LABEL: @last_micro_step
// LAST: %[[TOTAL:.*]] = sfsdp.aten "add.Tensor"
// LAST: sfsdp.reduce_scatter %[[TOTAL]] on ["dp"] divisor 6.000000e+00

// The default of replicate is sync=last.
// WHOLE-LABEL: @micro_step
// WHOLE-NOT: sfsdp.all_reduce
// WHOLE-LABEL: @last_micro_step
// WHOLE: sfsdp.all_reduce %{{.*}} on ["dp"] divisor 6.000000e+00

// BETWEEN-LABEL: @micro_step
// BETWEEN: %[[CHUNK:.*]] = sfsdp.reduce_scatter %{{.*}} on ["dp_shard"] for ["w"]
// BETWEEN: sfsdp.accumulate %{{.*}}, %[[CHUNK]] at
// BETWEEN-NOT: dp_replicate"]
// BETWEEN-LABEL: @last_micro_step
// BETWEEN: %[[CHUNK:.*]] = sfsdp.reduce_scatter %{{.*}} on ["dp_shard"] for ["w"]
// BETWEEN: %[[TOTAL:.*]] = sfsdp.aten "add.Tensor"(%{{.*}}, %[[CHUNK]])
// BETWEEN: sfsdp.all_reduce %[[TOTAL]] on ["dp_replicate"] divisor 1.200000e+01

// ALONE: sfsdp.accumulate
// ALONE: sfsdp.aten "div.Scalar"(%{{.*}}, 3.0{{0*e\+00}})

// F20: the accumulator has the type of the reduction.
// WIRE: tensor<3xbf16> {sfsdp.global = tensor<6xbf16>, {{.*}}accumulator "w">}

// The update is at the end of the last micro-step, and only there.
// REST-LABEL: @micro_step
// REST-NOT: sfsdp.adamw
// REST-LABEL: @last_micro_step
// REST: sfsdp.adamw

// UNUSED: warning: option sync: changes nothing with one micro-batch per step
func.func @train_step(
    %w: tensor<6xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
    %x: tensor<6xf32> {sfsdp.role = #sfsdp.role<input "x">})
    -> (tensor<f32> {sfsdp.role = #sfsdp.role<loss "loss">},
        tensor<6xf32> {sfsdp.role = #sfsdp.role<gradient "w">}) {
  %y = sfsdp.aten "mul.Tensor"(%w, %x) scope <forward ""> : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %loss = sfsdp.aten "sum.default"(%y) scope <forward ""> : (tensor<6xf32>) -> tensor<f32>
  %g = sfsdp.aten "mul.Tensor"(%w, %x) scope <backward ""> : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  return %loss, %g : tensor<f32>, tensor<6xf32>
}
