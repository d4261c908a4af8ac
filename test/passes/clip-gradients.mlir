// RUN: simplefsdp-opt %s -split-input-file --sfsdp-clip-gradients="clip-norm=1" | FileCheck %s
// RUN: simplefsdp-opt %s -split-input-file --sfsdp-clip-gradients="skip-nonfinite=true" | FileCheck %s --check-prefix=SKIP
// RUN: simplefsdp-opt %s -split-input-file --sfsdp-clip-gradients | FileCheck %s --check-prefix=NEITHER
// RUN: simplefsdp-opt %s -split-input-file --sfsdp-clip-gradients="clip-norm=1" --sfsdp-bucket --sfsdp-reorder --sfsdp-verify | FileCheck %s --check-prefix=ORDER

// NEITHER-NOT: chunk_norms

// With one rank nothing is sent. Updates are in the order of the parameters in
// the norm, wherever they stand.
// CHECK-LABEL: module @one_rank
// CHECK: %[[A:.+]] = sfsdp.chunk_norms %[[GA:.+]] scope {{.*}} : tensor<4xf32> -> tensor<1xf32>
// CHECK: %[[B:.+]] = sfsdp.chunk_norms %[[GB:.+]] scope {{.*}} : tensor<2xf32> -> tensor<1xf32>
// CHECK-NOT: all_gather
// CHECK: %[[N:.+]] = sfsdp.total_norm %[[B]], %[[A]]
// CHECK: sfsdp.clip_coefficient %[[N]]
// CHECK: sfsdp.sgd %arg1
// CHECK: sfsdp.sgd %arg0
// CHECK-NOT: guard
// SKIP-LABEL: module @one_rank
// SKIP-NOT: clip_coefficient
// SKIP: %[[OK:.+]] = sfsdp.is_finite
// SKIP-NOT: mul.Tensor
// SKIP: sfsdp.sgd {{.*}} guard %[[OK]]
// SKIP: sfsdp.sgd {{.*}} guard %[[OK]]
module @one_rank attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 1>} {
  func.func @train_step(
      %b: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "b">},
      %a: tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "a">},
      %lr: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "lr">})
      -> (tensor<4xf32> {sfsdp.role = #sfsdp.role<parameter "a">},
          tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "b">}) {
    %ga = sfsdp.aten "neg.default"(%a) scope <backward ""> : (tensor<4xf32>) -> tensor<4xf32>
    %na = sfsdp.sgd %a, %ga step_size %lr step %lr weight_decay 0.0 momentum 0.0 : tensor<4xf32>
    %gb = sfsdp.aten "neg.default"(%b) scope <backward ""> : (tensor<2xf32>) -> tensor<2xf32>
    %nb = sfsdp.sgd %b, %gb step_size %lr step %lr weight_decay 0.0 momentum 0.0 : tensor<2xf32>
    return %na, %nb : tensor<4xf32>, tensor<2xf32>
  }
}

// -----

// bf16 and f32 have their norms in f32; two axes are one group, and the true
// rows of a chunk follow from the position on both.
// CHECK-LABEL: module @two_axes
// CHECK: %[[I:.+]] = sfsdp.mesh_coordinate "a"
// CHECK: %[[J:.+]] = sfsdp.mesh_coordinate "b"
// CHECK: %[[TWO:.+]] = sfsdp.scalar_constant 2.0
// CHECK: %[[OUTER:.+]] = sfsdp.scalar_compute mul %[[I]], %[[TWO]]
// CHECK: %[[POSITION:.+]] = sfsdp.scalar_compute add %[[OUTER]], %[[J]]
// CHECK: %[[CHUNK:.+]] = sfsdp.scalar_constant 2.0
// CHECK: %[[BEFORE:.+]] = sfsdp.scalar_compute mul %[[POSITION]], %[[CHUNK]]
// CHECK: %[[FIVE:.+]] = sfsdp.scalar_constant 5.0
// CHECK: %[[ROWS:.+]] = sfsdp.scalar_compute sub %[[FIVE]], %[[BEFORE]]
// CHECK: sfsdp.chunk_norms %{{.+}} rows %[[ROWS]] {{.*}} : tensor<2xbf16> -> tensor<1xf32>
// CHECK: sfsdp.chunk_norms %{{.+}} : tensor<f32> -> tensor<4xf32>
// CHECK: sfsdp.all_gather %{{.+}} on ["a", "b"] {{.*}} : (tensor<1xf32>) -> tensor<4xf32>
module @two_axes attributes {sfsdp.mesh = #sfsdp.mesh<"a" = 2, "one" = 1, "b" = 2>} {
  func.func @train_step(
      %w: tensor<2xbf16> {sfsdp.role = #sfsdp.role<parameter "w">,
                          sfsdp.placement = #sfsdp.placement<"a" = shard(0), "one" = shard(0), "b" = shard(0)>,
                          sfsdp.global = tensor<5xbf16>},
      %s: tensor<f32> {sfsdp.role = #sfsdp.role<parameter "s">},
      %lr: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "lr">})
      -> (tensor<2xbf16> {sfsdp.role = #sfsdp.role<parameter "w">,
                          sfsdp.placement = #sfsdp.placement<"a" = shard(0), "one" = shard(0), "b" = shard(0)>,
                          sfsdp.global = tensor<5xbf16>},
          tensor<f32> {sfsdp.role = #sfsdp.role<parameter "s">}) {
    %gw = sfsdp.aten "neg.default"(%w) scope <backward ""> : (tensor<2xbf16>) -> tensor<2xbf16>
    %nw = sfsdp.sgd %w, %gw step_size %lr step %lr weight_decay 0.0 momentum 0.0 : tensor<2xbf16>
    %gs = sfsdp.aten "neg.default"(%s) scope <backward ""> : (tensor<f32>) -> tensor<f32>
    %ns = sfsdp.sgd %s, %gs step_size %lr step %lr weight_decay 0.0 momentum 0.0 : tensor<f32>
    return %nw, %ns : tensor<2xbf16>, tensor<f32>
  }
}

// -----

// A hybrid mesh: chunks are those of the axis that shards, also for a
// parameter that every rank holds whole.
// CHECK-LABEL: module @hybrid
// CHECK: sfsdp.chunk_norms %{{.+}} rows %{{.+}} : tensor<2xf32> -> tensor<1xf32>
// CHECK: sfsdp.chunk_norms %{{.+}} : tensor<5xf32> -> tensor<2xf32>
// CHECK: sfsdp.all_gather %{{.+}} on ["shard"]
// The gather of the norms keeps apart from that of parameters, and starts when
// all reductions are awaited.
// ORDER-LABEL: module @hybrid
// ORDER: sfsdp.all_gather_start {{.*}} for ["w"]
// ORDER: sfsdp.reduce_scatter_start
// ORDER: sfsdp.wait
// ORDER: sfsdp.all_gather_start %{{[^,]+}} on ["shard"] scope <optimizer
// ORDER: sfsdp.wait
// ORDER: sfsdp.total_norm
module @hybrid attributes {sfsdp.mesh = #sfsdp.mesh<"replicate" = 2, "shard" = 2>} {
  func.func @train_step(
      %w: tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "w">,
                         sfsdp.placement = #sfsdp.placement<"shard" = shard(0)>,
                         sfsdp.global = tensor<3xf32>},
      %k: tensor<5xf32> {sfsdp.role = #sfsdp.role<parameter "k">},
      %lr: !sfsdp.scalar {sfsdp.role = #sfsdp.role<hyper_parameter "lr">})
      -> (tensor<2xf32> {sfsdp.role = #sfsdp.role<parameter "w">,
                         sfsdp.placement = #sfsdp.placement<"shard" = shard(0)>,
                         sfsdp.global = tensor<3xf32>},
          tensor<5xf32> {sfsdp.role = #sfsdp.role<parameter "k">}) {
    %full = sfsdp.all_gather %w on ["shard"] for ["w"] scope <forward ""> : (tensor<2xf32>) -> tensor<3xf32>
    %x = sfsdp.aten "neg.default"(%full) scope <backward ""> : (tensor<3xf32>) -> tensor<3xf32>
    %gw = sfsdp.reduce_scatter %x on ["shard"] for ["w"] scope <backward ""> : (tensor<3xf32>) -> tensor<2xf32>
    %nw = sfsdp.sgd %w, %gw step_size %lr step %lr weight_decay 0.0 momentum 0.0 scope <optimizer ""> : tensor<2xf32>
    %gk = sfsdp.aten "neg.default"(%k) scope <backward ""> : (tensor<5xf32>) -> tensor<5xf32>
    %nk = sfsdp.sgd %k, %gk step_size %lr step %lr weight_decay 0.0 momentum 0.0 scope <optimizer ""> : tensor<5xf32>
    return %nw, %nk : tensor<2xf32>, tensor<5xf32>
  }
}
