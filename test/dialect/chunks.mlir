// RUN: simplefsdp-opt %s | simplefsdp-opt | FileCheck %s
// RUN: simplefsdp-opt %s --mlir-print-op-generic | simplefsdp-opt | FileCheck %s

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  // CHECK-LABEL: @local_chunk
  // CHECK: %[[AT:.+]] = sfsdp.mesh_coordinate "dp"
  // CHECK: sfsdp.local_chunk %{{.+}} at %[[AT]] on "dp" scope <backward "norm"> : tensor<5x3xf32> -> tensor<2x3xf32>
  func.func @local_chunk(%full: tensor<5x3xf32>) {
    %at = sfsdp.mesh_coordinate "dp"
    %chunk = sfsdp.local_chunk %full at %at on "dp" scope <backward "norm"> : tensor<5x3xf32> -> tensor<2x3xf32>
    return
  }
}
