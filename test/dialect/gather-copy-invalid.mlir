// RUN: simplefsdp-opt %s -split-input-file -verify-diagnostics

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_gather_c1(%a: tensor<2x3xf32>) {
    // expected-error@+1 {{expected as many results as operands and at least one, got 2 operands and 1 results}}
    %r = "sfsdp.all_gather"(%a, %a) {axes = ["dp"]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<8x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_gather_c2(%a: tensor<2x3xf16>) {
    // expected-error@+1 {{operand 0: expected a result of element type 'f16', got 'tensor<8x3xf32>'}}
    %r = sfsdp.all_gather %a on ["dp"] : (tensor<2x3xf16>) -> tensor<8x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_gather_c3(%a: tensor<2x3xf32>) {
    // expected-error@+1 {{expected distinct axes of the module's mesh, got "tp"}}
    %r = sfsdp.all_gather %a on ["tp"] : (tensor<2x3xf32>) -> tensor<8x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_gather_c5(%a: tensor<2x3xf32, #sfsdp.strides<[1, 2]>>) {
    // expected-error@+1 {{operand 0: expected contiguous tensors, got 'tensor<2x3xf32, #sfsdp.strides<[1, 2]>>'}}
    %r = sfsdp.all_gather %a on ["dp"] : (tensor<2x3xf32, #sfsdp.strides<[1, 2]>>) -> tensor<8x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_gather_c6(%a: tensor<2x3xf32>) {
    // expected-error@+1 {{expected one name per operand, got 2 for 1}}
    %r = sfsdp.all_gather %a on ["dp"] for ["a", "b"] : (tensor<2x3xf32>) -> tensor<8x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @broadcast_c1(%a: tensor<2x3xf32>) {
    // expected-error@+1 {{expected as many results as operands and at least one, got 2 operands and 1 results}}
    %r = "sfsdp.broadcast"(%a, %a) {axes = ["dp"]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @broadcast_c2(%a: tensor<2x3xf16>) {
    // expected-error@+1 {{operand 0: expected a result of element type 'f16', got 'tensor<2x3xf32>'}}
    %r = sfsdp.broadcast %a on ["dp"] : (tensor<2x3xf16>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @broadcast_c3(%a: tensor<2x3xf32>) {
    // expected-error@+1 {{expected distinct axes of the module's mesh, got "tp"}}
    %r = sfsdp.broadcast %a on ["tp"] : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @broadcast_c5(%a: tensor<2x3xf32, #sfsdp.strides<[1, 2]>>) {
    // expected-error@+1 {{operand 0: expected contiguous tensors, got 'tensor<2x3xf32, #sfsdp.strides<[1, 2]>>'}}
    %r = sfsdp.broadcast %a on ["dp"] : (tensor<2x3xf32, #sfsdp.strides<[1, 2]>>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @broadcast_c6(%a: tensor<2x3xf32>) {
    // expected-error@+1 {{expected one name per operand, got 2 for 1}}
    %r = sfsdp.broadcast %a on ["dp"] for ["a", "b"] : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_to_all_c1(%a: tensor<8x3xf32>) {
    // expected-error@+1 {{expected as many results as operands and at least one, got 2 operands and 1 results}}
    %r = "sfsdp.all_to_all"(%a, %a) {axes = ["dp"], split_dim = 0, concat_dim = 1} : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<2x12xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_to_all_c2(%a: tensor<8x3xf16>) {
    // expected-error@+1 {{operand 0: expected a result of element type 'f16', got 'tensor<2x12xf32>'}}
    %r = sfsdp.all_to_all %a on ["dp"] split 0 concat 1 : (tensor<8x3xf16>) -> tensor<2x12xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_to_all_c3(%a: tensor<8x3xf32>) {
    // expected-error@+1 {{expected distinct axes of the module's mesh, got "tp"}}
    %r = sfsdp.all_to_all %a on ["tp"] split 0 concat 1 : (tensor<8x3xf32>) -> tensor<2x12xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_to_all_c5(%a: tensor<8x3xf32, #sfsdp.strides<[1, 8]>>) {
    // expected-error@+1 {{operand 0: expected contiguous tensors, got 'tensor<8x3xf32, #sfsdp.strides<[1, 8]>>'}}
    %r = sfsdp.all_to_all %a on ["dp"] split 0 concat 1 : (tensor<8x3xf32, #sfsdp.strides<[1, 8]>>) -> tensor<2x12xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_to_all_c6(%a: tensor<8x3xf32>) {
    // expected-error@+1 {{expected one name per operand, got 2 for 1}}
    %r = sfsdp.all_to_all %a on ["dp"] split 0 concat 1 for ["a", "b"] : (tensor<8x3xf32>) -> tensor<2x12xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_gather_c4(%a: tensor<2x3xf32>) {
    // expected-error@+1 {{operand 0: expected a chunk of [3, 3] of 'tensor<10x3xf32>' on 4 ranks, got 'tensor<2x3xf32>'}}
    %r = sfsdp.all_gather %a on ["dp"] : (tensor<2x3xf32>) -> tensor<10x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @F19_all_gather_c4_three_times_the_rows(%a: tensor<4x3xf32>) {
    // expected-error@+1 {{operand 0: expected a chunk of [3, 3] of 'tensor<12x3xf32>' on 4 ranks, got 'tensor<4x3xf32>'}}
    %r = sfsdp.all_gather %a on ["dp"] : (tensor<4x3xf32>) -> tensor<12x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @F19_all_gather_c2_start(%a: tensor<2x3xf16>) {
    // expected-error@+1 {{operand 0: expected a result of element type 'f16', got 'tensor<8x3xf32>'}}
    %r = sfsdp.all_gather_start %a on ["dp"] : (tensor<2x3xf16>) -> !sfsdp.pending<tensor<8x3xf32>>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_gather_c4_dim(%a: tensor<2x3xf32>) {
    // expected-error@+1 {{operand 0: expected more than 2 dimensions, got 'tensor<8x3xf32>'}}
    %r = sfsdp.all_gather %a on ["dp"] dim 2 : (tensor<2x3xf32>) -> tensor<8x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @broadcast_c4(%a: tensor<2x3xf32>) {
    // expected-error@+1 {{expected a root below 4, got 4}}
    %r = sfsdp.broadcast %a on ["dp"] root 4 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_to_all_c4(%a: tensor<2x3xf32>) {
    // expected-error@+1 {{operand 0: expected dimension 1 to divide by 4, got 'tensor<2x3xf32>'}}
    %r = sfsdp.all_to_all %a on ["dp"] split 1 concat 0 : (tensor<2x3xf32>) -> tensor<8x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_to_all_c4_result(%a: tensor<2x8xf32>) {
    // expected-error@+1 {{operand 0: expected a result of [8, 2], got 'tensor<2x8xf32>'}}
    %r = sfsdp.all_to_all %a on ["dp"] split 1 concat 0 : (tensor<2x8xf32>) -> tensor<2x8xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @wait_c1(%a: tensor<2x3xf32>) {
    %p = sfsdp.all_gather_start %a on ["dp"] : (tensor<2x3xf32>) -> !sfsdp.pending<tensor<8x3xf32>>
    // expected-error@+1 {{expected a pending value to be waited for once}}
    %0 = sfsdp.wait %p : !sfsdp.pending<tensor<8x3xf32>>
    %1 = sfsdp.wait %p : !sfsdp.pending<tensor<8x3xf32>>
    return
  }
}
