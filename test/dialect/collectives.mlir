// RUN: simplefsdp-opt %s | simplefsdp-opt | FileCheck %s
// RUN: simplefsdp-opt %s --mlir-print-op-generic | simplefsdp-opt | FileCheck %s
// RUN: simplefsdp-opt %s --cse --canonicalize | FileCheck %s --check-prefix=KEPT

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2, "one" = 1>} {
  // CHECK-LABEL: @all_gather
  // CHECK: sfsdp.all_gather %arg0 on ["dp"] for ["norm.weight"] : (tensor<2x3xf32>) -> tensor<4x3xf32>
  // CHECK: sfsdp.all_gather %arg0, %arg1 on ["dp"] regather : (tensor<2x3xf32>, tensor<1xbf16>) -> (tensor<3x3xf32>, tensor<1xbf16>)
  // CHECK: sfsdp.all_gather %arg0 on ["dp", "one"] dim 1 : (tensor<2x3xf32>) -> tensor<2x6xf32>
  func.func @all_gather(%shard: tensor<2x3xf32>, %small: tensor<1xbf16>) {
    %full = sfsdp.all_gather %shard on ["dp"] for ["norm.weight"]
        : (tensor<2x3xf32>) -> tensor<4x3xf32>
    // Chunks: ceil(3 / 2) = 2 rows, ceil(1 / 2) = 1.
    %bucket:2 = sfsdp.all_gather %shard, %small on ["dp"] regather
        : (tensor<2x3xf32>, tensor<1xbf16>) -> (tensor<3x3xf32>, tensor<1xbf16>)
    %columns = sfsdp.all_gather %shard on ["dp", "one"] dim 1
        : (tensor<2x3xf32>) -> tensor<2x6xf32>
    return
  }

  // CHECK-LABEL: @reductions
  // CHECK: sfsdp.reduce_scatter %arg0 on ["dp"] divisor 2.000000e+00 : (tensor<4x3xf32>) -> tensor<2x3xf32>
  // CHECK: sfsdp.all_reduce %arg0 on ["dp"] divisor 2.000000e+00 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK: sfsdp.all_reduce %arg0 on ["dp"] reduce avg order backend : (tensor<4x3xf32>) -> tensor<4x3xf32>
  func.func @reductions(%gradient: tensor<4x3xf32>) {
    %shard = sfsdp.reduce_scatter %gradient on ["dp"] divisor 2.0
        : (tensor<4x3xf32>) -> tensor<2x3xf32>
    %mean = sfsdp.all_reduce %gradient on ["dp"] divisor 2.0
        : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %average = sfsdp.all_reduce %gradient on ["dp"] reduce avg order backend
        : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return
  }

  // CHECK-LABEL: @copies
  // CHECK: sfsdp.broadcast %arg0 on ["dp"] root 1 : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: sfsdp.broadcast %arg0 on ["dp"] : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: sfsdp.all_to_all %arg1 on ["dp"] split 1 concat 0 : (tensor<2x4xf32>) -> tensor<4x2xf32>
  func.func @copies(%buffer: tensor<8xf32>, %columns: tensor<2x4xf32>) {
    %other = sfsdp.broadcast %buffer on ["dp"] root 1 : (tensor<8xf32>) -> tensor<8xf32>
    %same = sfsdp.broadcast %buffer on ["dp"] : (tensor<8xf32>) -> tensor<8xf32>
    %rows = sfsdp.all_to_all %columns on ["dp"] split 1 concat 0
        : (tensor<2x4xf32>) -> tensor<4x2xf32>
    return
  }

  // CHECK-LABEL: @start_forms
  // CHECK: %[[A:.+]] = sfsdp.all_gather_start %arg0 on ["dp"] : (tensor<2x3xf32>) -> !sfsdp.pending<tensor<4x3xf32>>
  // CHECK: sfsdp.reduce_scatter_start %{{.+}} on ["dp"] divisor 2.000000e+00
  // CHECK: sfsdp.all_reduce_start %arg1 on ["dp"] divisor 2.000000e+00
  // CHECK: sfsdp.broadcast_start %arg1 on ["dp"]
  // CHECK: sfsdp.all_to_all_start %arg1 on ["dp"] split 0 concat 1
  // KEPT-LABEL: @start_forms
  // KEPT-COUNT-5: _start
  // KEPT-COUNT-4: sfsdp.wait
  func.func @start_forms(%shard: tensor<2x3xf32>, %t: tensor<4x3xf32>) {
    %pending = sfsdp.all_gather_start %shard on ["dp"]
        : (tensor<2x3xf32>) -> !sfsdp.pending<tensor<4x3xf32>>
    %full = sfsdp.wait %pending : !sfsdp.pending<tensor<4x3xf32>>
    %1 = sfsdp.reduce_scatter_start %full on ["dp"] divisor 2.0 : (tensor<4x3xf32>) -> !sfsdp.pending<tensor<2x3xf32>>
    %2 = sfsdp.all_reduce_start %t on ["dp"] divisor 2.0 : (tensor<4x3xf32>) -> !sfsdp.pending<tensor<4x3xf32>>
    %3 = sfsdp.broadcast_start %t on ["dp"] : (tensor<4x3xf32>) -> !sfsdp.pending<tensor<4x3xf32>>
    %4 = sfsdp.all_to_all_start %t on ["dp"] split 0 concat 1 : (tensor<4x3xf32>) -> !sfsdp.pending<tensor<2x6xf32>>
    %5 = sfsdp.wait %1 : !sfsdp.pending<tensor<2x3xf32>>
    %6 = sfsdp.wait %2 : !sfsdp.pending<tensor<4x3xf32>>
    %7 = sfsdp.wait %3 : !sfsdp.pending<tensor<4x3xf32>>
    %8 = sfsdp.wait %4 : !sfsdp.pending<tensor<2x6xf32>>
    return
  }
}
