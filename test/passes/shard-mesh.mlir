// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:2,tp:2 ranks=0,2,1,3" | FileCheck %s --check-prefix=TENSOR
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=outer:2,inner:3" | FileCheck %s --check-prefix=TWO
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:3" | simplefsdp-opt --sfsdp-bucket="policy=none" | FileCheck %s --check-prefix=KEPT
// F60: the module is the same for every rank and from every compile.
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:4" -o %t.a
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:4" -o %t.b
// RUN: cmp %t.a %t.b

// Tensor parallelism does not split the batch.
// TENSOR: sfsdp.mesh = #sfsdp.mesh<"dp" = 2, "tp" = 2, ranks = [0, 2, 1, 3]>
// TENSOR: sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>
// TENSOR: sfsdp.reduce_scatter %{{.*}} on ["dp"] divisor 2.000000e+00 {{.*}} : (tensor<6xf32>) -> tensor<3xf32>

// Two data axes are one group of six.
// TWO: sfsdp.placement = #sfsdp.placement<"outer" = shard(0), "inner" = shard(0)>
// TWO: sfsdp.reduce_scatter %{{.*}} on ["outer", "inner"] divisor 6.000000e+00 {{.*}} : (tensor<6xf32>) -> tensor<1xf32>

// KEPT: sfsdp.mesh = #sfsdp.mesh<"dp" = 3>
func.func @train_step(
    %w: tensor<6xf32> {sfsdp.role = #sfsdp.role<parameter "w">})
    -> (tensor<6xf32> {sfsdp.role = #sfsdp.role<gradient "w">}) {
  %g = sfsdp.aten "neg.default"(%w) scope <backward ""> : (tensor<6xf32>) -> tensor<6xf32>
  return %g : tensor<6xf32>
}
