// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp_replicate:2,dp_shard:4 mode=hybrid_shard" | FileCheck %s
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp_replicate:2,dp_shard:4 mode=hybrid_shard reduction=flat" | FileCheck %s --check-prefix=FLAT
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp_replicate:2,dp_shard:4 mode=hybrid_shard reduction=allreduce_first" | FileCheck %s --check-prefix=FIRST
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp_replicate:2,dp_shard:4 mode=hybrid_shard reduce-dtype=f16" | FileCheck %s --check-prefix=HALF
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp_replicate:1,dp_shard:4 mode=hybrid_shard" | FileCheck %s --check-prefix=ONE-REPLICA
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp_replicate:4,dp_shard:1 mode=hybrid_shard" | FileCheck %s --check-prefix=ONE-SHARD

// Gathers and the first reduction stay within a replica; the slow axis carries
// the chunk. One division, after the last addition.
// CHECK: %[[W:.*]]: tensor<2x3xf32> {sfsdp.global = tensor<6x3xf32>, sfsdp.placement = #sfsdp.placement<"dp_shard" = shard(0)>
// CHECK: sfsdp.all_gather %[[W]] on ["dp_shard"]
// CHECK: %[[CHUNK:.*]] = sfsdp.reduce_scatter %{{.*}} on ["dp_shard"] for ["w"] {{.*}} -> tensor<2x3xf32>
// CHECK: %[[MEAN:.*]] = sfsdp.all_reduce %[[CHUNK]] on ["dp_replicate"] divisor 8.000000e+00 for ["w"] {{.*}} -> tensor<2x3xf32>
// A whole parameter is added in the same order by one collective.
// CHECK: %[[SCALAR:.*]] = sfsdp.all_reduce %{{.*}} on ["dp_replicate", "dp_shard"] grouped 4 divisor 8.000000e+00 for ["t"]
// CHECK: return %[[MEAN]], %[[SCALAR]]

// FLAT: %[[WHOLE:.*]] = sfsdp.all_reduce %{{.*}} on ["dp_replicate", "dp_shard"] divisor 8.000000e+00 for ["w"]
// FLAT: %[[PLACE:.*]] = sfsdp.mesh_coordinate "dp_shard"
// FLAT: %[[CHUNK:.*]] = sfsdp.local_chunk %[[WHOLE]] at %[[PLACE]] on "dp_shard" {{.*}} tensor<6x3xf32> -> tensor<2x3xf32>
// FLAT: sfsdp.all_reduce %{{.*}} on ["dp_replicate", "dp_shard"] divisor 8.000000e+00 for ["t"]
// FLAT: return %[[CHUNK]]

// FIRST: %[[SUM:.*]] = sfsdp.all_reduce %{{.*}} on ["dp_replicate"] for ["w"] {{.*}} -> tensor<6x3xf32>
// FIRST: sfsdp.reduce_scatter %[[SUM]] on ["dp_shard"] divisor 8.000000e+00 for ["w"]
// Axes of one collective are in the order of the mesh, so a whole parameter takes
// two as well.
// FIRST: %[[SCALARS:.*]] = sfsdp.all_reduce %{{.*}} on ["dp_replicate"] for ["t"]
// FIRST: sfsdp.all_reduce %[[SCALARS]] on ["dp_shard"] divisor 8.000000e+00 for ["t"]

// F20: f16 would overflow between the two sums, so both divide.
// HALF: %[[CHUNK:.*]] = sfsdp.reduce_scatter %{{.*}} on ["dp_shard"] divisor 4.000000e+00 for ["w"] {{.*}} -> tensor<2x3xf16>
// HALF: sfsdp.all_reduce %[[CHUNK]] on ["dp_replicate"] divisor 2.000000e+00 for ["w"]

// ONE-REPLICA: sfsdp.reduce_scatter %{{.*}} on ["dp_shard"] divisor 4.000000e+00 for ["w"]
// ONE-REPLICA-NOT: dp_replicate"]

// ONE-SHARD: %{{.*}}: tensor<6x3xf32> {sfsdp.global = tensor<6x3xf32>, sfsdp.placement = #sfsdp.placement<"dp_shard" = shard(0)>
// ONE-SHARD-NOT: sfsdp.all_gather
// ONE-SHARD: sfsdp.all_reduce %{{.*}} on ["dp_replicate"] divisor 4.000000e+00 for ["w"]
func.func @train_step(
    %w: tensor<6x3xf32> {sfsdp.role = #sfsdp.role<parameter "w">},
    %t: tensor<f32> {sfsdp.role = #sfsdp.role<parameter "t">})
    -> (tensor<6x3xf32> {sfsdp.role = #sfsdp.role<gradient "w">},
        tensor<f32> {sfsdp.role = #sfsdp.role<gradient "t">}) {
  %g = sfsdp.aten "neg.default"(%w) scope <backward ""> : (tensor<6x3xf32>) -> tensor<6x3xf32>
  %h = sfsdp.aten "neg.default"(%t) scope <backward ""> : (tensor<f32>) -> tensor<f32>
  return %g, %h : tensor<6x3xf32>, tensor<f32>
}
