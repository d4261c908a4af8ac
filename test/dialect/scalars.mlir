// RUN: simplefsdp-opt %s | simplefsdp-opt | FileCheck %s
// RUN: simplefsdp-opt %s --mlir-print-op-generic | simplefsdp-opt | FileCheck %s

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2>} {
  // CHECK-LABEL: @host_scalars
  // CHECK: %[[LR:.+]] = sfsdp.scalar_constant 1.000000e-03
  // CHECK: %[[DECAY:.+]] = sfsdp.scalar_constant 1.000000e-01
  // CHECK: sfsdp.scalar_compute mul %[[LR]], %[[DECAY]]
  // CHECK: sfsdp.scalar_compute neg %[[LR]]
  // CHECK: sfsdp.mesh_coordinate "dp"
  // CHECK: sfsdp.valid_rows "dp" of 7
  func.func @host_scalars() {
    %lr = sfsdp.scalar_constant 1.0e-3
    %decay = sfsdp.scalar_constant 0.1
    %product = sfsdp.scalar_compute mul %lr, %decay
    %minus = sfsdp.scalar_compute neg %lr
    %position = sfsdp.mesh_coordinate "dp"
    %rows = sfsdp.valid_rows "dp" of 7
    return
  }
}
