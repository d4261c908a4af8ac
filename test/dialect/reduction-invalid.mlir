// RUN: simplefsdp-opt %s -split-input-file -verify-diagnostics

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @reduce_scatter_c1(%a: tensor<8x3xf32>) {
    // expected-error@+1 {{expected as many results as operands and at least one, got 2 operands and 1 results}}
    %r = "sfsdp.reduce_scatter"(%a, %a) {axes = ["dp"]} : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @reduce_scatter_c2(%a: tensor<8x3xf16>) {
    // expected-error@+1 {{operand 0: expected a result of element type 'f16', got 'tensor<2x3xf32>'}}
    %r = sfsdp.reduce_scatter %a on ["dp"] : (tensor<8x3xf16>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @reduce_scatter_c3(%a: tensor<8x3xf32>) {
    // expected-error@+1 {{expected distinct axes of the module's mesh, got "tp"}}
    %r = sfsdp.reduce_scatter %a on ["tp"] : (tensor<8x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @reduce_scatter_c5(%a: tensor<8x3xf32, #sfsdp.strides<[1, 8]>>) {
    // expected-error@+1 {{operand 0: expected contiguous tensors, got 'tensor<8x3xf32, #sfsdp.strides<[1, 8]>>'}}
    %r = sfsdp.reduce_scatter %a on ["dp"] : (tensor<8x3xf32, #sfsdp.strides<[1, 8]>>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @reduce_scatter_c6(%a: tensor<8x3xf32>) {
    // expected-error@+1 {{expected one name per operand, got 2 for 1}}
    %r = sfsdp.reduce_scatter %a on ["dp"] for ["a", "b"] : (tensor<8x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_reduce_c1(%a: tensor<2x3xf32>) {
    // expected-error@+1 {{expected as many results as operands and at least one, got 2 operands and 1 results}}
    %r = "sfsdp.all_reduce"(%a, %a) {axes = ["dp"]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_reduce_c2(%a: tensor<2x3xf16>) {
    // expected-error@+1 {{operand 0: expected a result of element type 'f16', got 'tensor<2x3xf32>'}}
    %r = sfsdp.all_reduce %a on ["dp"] : (tensor<2x3xf16>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_reduce_c3(%a: tensor<2x3xf32>) {
    // expected-error@+1 {{expected distinct axes of the module's mesh, got "tp"}}
    %r = sfsdp.all_reduce %a on ["tp"] : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_reduce_c5(%a: tensor<2x3xf32, #sfsdp.strides<[1, 2]>>) {
    // expected-error@+1 {{operand 0: expected contiguous tensors, got 'tensor<2x3xf32, #sfsdp.strides<[1, 2]>>'}}
    %r = sfsdp.all_reduce %a on ["dp"] : (tensor<2x3xf32, #sfsdp.strides<[1, 2]>>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_reduce_c6(%a: tensor<2x3xf32>) {
    // expected-error@+1 {{expected one name per operand, got 2 for 1}}
    %r = sfsdp.all_reduce %a on ["dp"] for ["a", "b"] : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @reduce_scatter_c4(%a: tensor<8x3xf32>) {
    // expected-error@+1 {{operand 0: expected a chunk of [2, 3] of 'tensor<8x3xf32>' on 4 ranks, got 'tensor<8x3xf32>'}}
    %r = sfsdp.reduce_scatter %a on ["dp"] : (tensor<8x3xf32>) -> tensor<8x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_reduce_c2_shape(%a: tensor<2x3xf32>) {
    // expected-error@+1 {{operand 0: expected a result 'tensor<2x3xf32>', got 'tensor<3x2xf32>'}}
    %r = sfsdp.all_reduce %a on ["dp"] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @reduce_scatter_c7(%a: tensor<8x3xf32>) {
    // expected-error@+1 {{expected a positive finite divisor, got -2.000000e+00 : f64}}
    %r = sfsdp.reduce_scatter %a on ["dp"] divisor -2.0 : (tensor<8x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_reduce_c7(%a: tensor<2x3xf32>) {
    // expected-error@+1 {{expected a positive finite divisor, got 0.000000e+00 : f64}}
    %r = sfsdp.all_reduce %a on ["dp"] divisor 0.0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @reduce_scatter_c8(%a: tensor<8x3xf32>) {
    // expected-error@+1 {{expected avg with order backend and without divisor, got order ordered}}
    %r = sfsdp.reduce_scatter %a on ["dp"] reduce avg : (tensor<8x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_reduce_c8(%a: tensor<2x3xf32>) {
    // expected-error@+1 {{expected avg with order backend and without divisor, got order ordered}}
    %r = sfsdp.all_reduce %a on ["dp"] reduce avg : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @reduce_scatter_c9(%a: tensor<8x3xi1>) {
    // expected-error@+1 {{expected numbers to reduce, got 'tensor<8x3xi1>'}}
    %r = sfsdp.reduce_scatter %a on ["dp"] : (tensor<8x3xi1>) -> tensor<2x3xi1>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_reduce_c9(%a: tensor<2x3xi1>) {
    // expected-error@+1 {{expected numbers to reduce, got 'tensor<2x3xi1>'}}
    %r = sfsdp.all_reduce %a on ["dp"] : (tensor<2x3xi1>) -> tensor<2x3xi1>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @reduce_scatter_c10(%a: tensor<8x3xf32>) {
    // expected-error@+1 {{expected grouped with order ordered, got order backend}}
    %r = sfsdp.reduce_scatter %a on ["dp"] order backend grouped 2 : (tensor<8x3xf32>) -> tensor<2x3xf32>
    return
  }
}

// -----

module attributes {sfsdp.mesh = #sfsdp.mesh<"dp" = 4>} {
  func.func @all_reduce_c10(%a: tensor<2x3xf32>) {
    // expected-error@+1 {{expected grouped with order ordered, got order backend}}
    %r = sfsdp.all_reduce %a on ["dp"] order backend grouped 2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return
  }
}
