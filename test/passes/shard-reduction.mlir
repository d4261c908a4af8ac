// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:4 reduction=grouped:2" | FileCheck %s --check-prefix=GROUPED
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:4 mode=replicate reduction=grouped:2" | FileCheck %s --check-prefix=WHOLE
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:4 gradient-scale=sum" | FileCheck %s --check-prefix=SUM
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:4 gradient-scale=1/3" | FileCheck %s --check-prefix=THIRD
// RUN: simplefsdp-opt %s --sfsdp-shard="mesh=dp:4 reduction=flat" 2>&1 | FileCheck %s --check-prefix=UNUSED

// GROUPED: sfsdp.reduce_scatter %{{.*}} on ["dp"] grouped 2 divisor 4.000000e+00
// WHOLE: sfsdp.all_reduce %{{.*}} on ["dp"] grouped 2 divisor 4.000000e+00
// SUM: sfsdp.reduce_scatter %{{.*}} on ["dp"] for
// THIRD: sfsdp.reduce_scatter %{{.*}} on ["dp"] divisor 3.000000e+00
// UNUSED: warning: option reduction: flat changes nothing, as only hybrid_shard has two steps to order
func.func @train_step(
    %w: tensor<6xf32> {sfsdp.role = #sfsdp.role<parameter "w">})
    -> (tensor<6xf32> {sfsdp.role = #sfsdp.role<gradient "w">}) {
  %g = sfsdp.aten "neg.default"(%w) scope <backward ""> : (tensor<6xf32>) -> tensor<6xf32>
  return %g : tensor<6xf32>
}
