//===- AttentionKernels.h - The kernels behind sfsdp.attention ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs are captured on a CPU, so import folds this pair of operators into the
// device-neutral `sfsdp.attention` and `sfsdp.attention_backward`; layouts and
// costs of those are the pair's.
//
// Tested by test/unit/passes/import/AttentionTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_ATTENTIONKERNELS_H
#define SFSDP_PASSES_ATTENTIONKERNELS_H

#include <string_view>

namespace sfsdp::rules {

/// (query, key, value, dropout_p, is_causal, attn_mask, scale)
/// -> (output, logsumexp)
inline constexpr std::string_view kAttentionForward =
    "_scaled_dot_product_flash_attention_for_cpu.default";

/// (grad_out, query, key, value, out, logsumexp, dropout_p, is_causal,
/// attn_mask, scale) -> (gradients of query, key, value)
inline constexpr std::string_view kAttentionBackward =
    "_scaled_dot_product_flash_attention_for_cpu_backward.default";

} // namespace sfsdp::rules

#endif // SFSDP_PASSES_ATTENTIONKERNELS_H
