// RUN: simplefsdp-opt %s -split-input-file -verify-diagnostics

// mesh_c1
// expected-error@+1 {{expected distinct mesh axes, got "dp" twice}}
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2, "dp" = 2>} {}

// -----

// mesh_c2
// expected-error@+1 {{expected mesh axis "dp" to have at least 1 rank, got 0}}
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 0>} {}

// -----

// mesh_c3
// expected-error@+1 {{expected ranks to be a permutation of 0 to 1, got 1 twice}}
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 2, ranks = [1, 1]>} {}

// -----

// mesh_c4
// expected-error@+1 {{expected at most 2147483647 ranks in the mesh, got 4 for axis "b" after 1073741824}}
module attributes {sfsdp.mesh = #sfsdp.mesh<"a" = 1073741824, "b" = 4>} {}

// -----

// mesh_c3
// expected-error@+1 {{expected ranks to list all 4 ranks of the mesh, got 2}}
module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4, ranks = [1, 0]>} {}

// -----

// expected-error@+1 {{expected "sfsdp.mesh" to be a mesh on a module}}
module attributes {sfsdp.mesh = 2 : i64} {}

// -----

// expected-error@+1 {{expected "sfsdp.inputs" to be an array of input files}}
module attributes {sfsdp.inputs = ["step.pt2"]} {}

// -----

// expected-error@+1 {{expected "sfsdp.options" to be a string on a module}}
module attributes {sfsdp.options = 1 : i64} {}

// -----

// expected-error@+1 {{expected no attribute "sfsdp.colour" on an operation}}
module attributes {sfsdp.colour = "red"} {}

// -----

// placement_c1
// expected-error@+1 {{expected each axis once in a placement, got "dp" twice}}
func.func @placement_c1(%w: tensor<4xf32> {sfsdp.placement = #sfsdp.placement<"dp" = shard(0), "dp" = shard(0)>}) {
  return
}

// -----

// placement_c2
// expected-error@+1 {{expected a split dimension of at least 0, got -1}}
func.func @placement_c2(%w: tensor<4xf32> {sfsdp.placement = #sfsdp.placement<"dp" = shard(-1)>}) {
  return
}

// -----

// role_c1
// expected-error@+1 {{expected exactly optimizer state to have a slot, got state "w" without}}
func.func @role_c1(%w: tensor<4xf32> {sfsdp.role = #sfsdp.role<state "w">}) {
  return
}

// -----

// role_c2
// expected-error@+1 {{expected only a parameter to be tied or frozen, got buffer "w"}}
func.func @role_c2(%w: tensor<4xf32> {sfsdp.role = #sfsdp.role<buffer "w" frozen>}) {
  return
}

// -----

// expected-error@+1 {{expected a role, got colour}}
func.func @unknown_role(%w: tensor<4xf32> {sfsdp.role = #sfsdp.role<colour "w">}) {
  return
}

// -----

// strides_c1
// expected-error@+1 {{expected one stride per dimension, got 1 strides for 2 dimensions}}
func.func @strides_c1(%t: tensor<2x3xf32, #sfsdp.strides<[1]>>) {
  return
}

// -----

// strides_c2
// expected-error@+1 {{expected strides of at least 0, got -1}}
func.func @strides_c2(%t: tensor<2x3xf32, #sfsdp.strides<[-1, 1]>>) {
  return
}

// -----

// strides_c3
// expected-error@+1 {{expected no strides on a contiguous tensor}}
func.func @strides_c3(%t: tensor<2x3xf32, #sfsdp.strides<[3, 1]>>) {
  return
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  // expected-error@+1 {{argument 0: expected the local shape [2, 3] of 'tensor<7x3xf32>' under #sfsdp.placement<"dp" = shard(0)>, got 'tensor<7x3xf32>'}}
  func.func @local_shape(%w: tensor<7x3xf32> {sfsdp.placement = #sfsdp.placement<"dp" = shard(0)>}) {
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  // expected-error@+1 {{argument 0: expected axes of the module's mesh, got "tp"}}
  func.func @placement_axis(%w: tensor<7x3xf32> {sfsdp.placement = #sfsdp.placement<"tp" = shard(0)>}) {
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  // expected-error@+1 {{argument 0: expected a split dimension below 1, got 1}}
  func.func @placement_dim(%w: tensor<8xf32> {sfsdp.placement = #sfsdp.placement<"dp" = shard(1)>}) {
    return
  }
}

// -----

// expected-error@+1 {{argument 0: expected no attribute "sfsdp.colour" on an argument or result}}
func.func @argument_attribute(%w: tensor<8xf32> {sfsdp.colour = "red"}) {
  return
}
