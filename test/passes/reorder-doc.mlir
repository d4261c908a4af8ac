// RUN: simplefsdp-opt %s --sfsdp-reorder="policy=prefetch" | FileCheck %s
// RUN: simplefsdp-opt %s --sfsdp-reorder="policy=none" | FileCheck %s --check-prefix=NONE

// The second gather starts before the first one's reader; the first reduction
// is awaited when the second has started, the second at the end.
// CHECK: %[[A:.*]] = sfsdp.all_gather_start %{{.*}} for ["0.a"]
// CHECK: %[[B:.*]] = sfsdp.all_gather_start %{{.*}} for ["1.b"]
// CHECK: %[[FA:.*]] = sfsdp.wait %[[A]]
// CHECK: %[[X:.*]] = sfsdp.aten "neg.default"(%[[FA]])
// CHECK: %[[FB:.*]] = sfsdp.wait %[[B]]
// CHECK: %[[Y:.*]] = sfsdp.aten "mul.Tensor"(%[[X]], %[[FB]])
// CHECK: %[[RB:.*]] = sfsdp.reduce_scatter_start %[[Y]]
// CHECK: %[[Z:.*]] = sfsdp.aten "exp.default"
// CHECK: %[[RA:.*]] = sfsdp.reduce_scatter_start %[[Z]]
// CHECK: sfsdp.wait %[[RB]]
// CHECK: sfsdp.wait %[[RA]]

// NONE-COUNT-4: sfsdp.{{.*}}_start{{.*[[:space:]].*}}sfsdp.wait
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  func.func @train_step(
      %a: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "0.a">},
      %b: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "1.b">})
      -> (tensor<2xf32> {sfsdp.role = #sfsdp.role<gradient "0.a">},
          tensor<2xf32> {sfsdp.role = #sfsdp.role<gradient "1.b">}) {
    %fa = sfsdp.all_gather %a on ["dp"] for ["0.a"] scope <forward ""> : (tensor<2xf32>) -> tensor<4xf32>
    %x = sfsdp.aten "neg.default"(%fa) scope <forward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %fb = sfsdp.all_gather %b on ["dp"] for ["1.b"] scope <forward ""> : (tensor<2xf32>) -> tensor<4xf32>
    %y = sfsdp.aten "mul.Tensor"(%x, %fb) scope <forward ""> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %rb = sfsdp.reduce_scatter %y on ["dp"] divisor 2.0 for ["1.b"] scope <backward ""> : (tensor<4xf32>) -> tensor<2xf32>
    %z = sfsdp.aten "exp.default"(%y) scope <backward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %ra = sfsdp.reduce_scatter %z on ["dp"] divisor 2.0 for ["0.a"] scope <backward ""> : (tensor<4xf32>) -> tensor<2xf32>
    return %ra, %rb : tensor<2xf32>, tensor<2xf32>
  }
}
