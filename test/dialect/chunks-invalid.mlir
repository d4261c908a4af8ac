// RUN: simplefsdp-opt %s -split-input-file -verify-diagnostics

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @local_chunk_c1(%full: tensor<5x3xf32>) {
    %at = sfsdp.mesh_coordinate "dp"
    // expected-error@+1 {{expected an axis of the module's mesh, got "tp"}}
    %chunk = sfsdp.local_chunk %full at %at on "tp" : tensor<5x3xf32> -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @local_chunk_c2(%full: tensor<5x3xf32>) {
    %at = sfsdp.mesh_coordinate "dp"
    // expected-error@+1 {{expected a contiguous chunk of [2, 3] of a contiguous tensor, got 'tensor<1x3xf32>' of 'tensor<5x3xf32>'}}
    %chunk = sfsdp.local_chunk %full at %at on "dp" : tensor<5x3xf32> -> tensor<1x3xf32>
    return
  }
}
