// RUN: simplefsdp-opt %s -split-input-file -verify-diagnostics

func.func @attention_c1(%q: tensor<8x16xf32>) {
  // expected-error@+1 {{expected [batch, heads, length, width], got 'tensor<8x16xf32>'}}
  %out, %saved = sfsdp.attention %q, %q, %q
      : (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8xf32>)
  return
}

// -----

func.func @attention_c2(%q: tensor<2x4x8x16xf32>) {
  // expected-error@+1 {{expected an output of [2, 4, 8, 16], got 'tensor<2x8x4x16xf32>'}}
  %out, %saved = sfsdp.attention %q, %q, %q
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> (tensor<2x8x4x16xf32>, tensor<2x4x8xf32>)
  return
}

// -----

// The flash backward of a forward by another kernel reads its saved state as
// logsumexp: silently wrong gradients.
func.func @attention_backward_c1(%q: tensor<2x4x8x16xf32>, %saved: tensor<2x4x8xf32>) {
  // expected-error@+1 {{expected output and saved to come from one sfsdp.attention with the same operands and attributes, got another source}}
  %gq, %gk, %gv = sfsdp.attention_backward %q, %q, %q, %q, %q, %saved
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
      -> (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
  return
}

// -----

func.func @attention_backward_c1_other_mask(%q: tensor<2x4x8x16xf32>) {
  %out, %saved = sfsdp.attention %q, %q, %q causal
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
  // expected-error@+1 {{expected output and saved to come from one sfsdp.attention}}
  %gq, %gk, %gv = sfsdp.attention_backward %q, %q, %q, %q, %out, %saved
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
      -> (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
  return
}

// -----

func.func @attention_backward_c2(%q: tensor<2x4x8x16xf32>) {
  %out, %saved = sfsdp.attention %q, %q, %q
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> (tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
  // expected-error@+1 {{expected a gradient like 'tensor<2x4x8x16xf32>', got 'tensor<2x4x8x16xbf16>'}}
  %gq, %gk, %gv = sfsdp.attention_backward %q, %q, %q, %q, %out, %saved
      : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8xf32>)
      -> (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xbf16>)
  return
}
