//===- Attention.h - Pairs of attention kernels -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A captured attention is a forward kernel of the CPU and, in a training step,
// its backward. Together they mean attention on any device. A backward that
// reads anything but the results of its own forward computes wrong gradients
// without any error (torch's core table makes such graphs), so it is refused.
//
// Tested by test/unit/passes/import/AttentionTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_IMPORT_ATTENTION_H
#define SFSDP_PASSES_IMPORT_ATTENTION_H

#include "passes/import/CapturedStep.h"

namespace sfsdp::exported {

/// Marks the attention calls of `step`, and makes each backward read results
/// and operands of its forward itself, not renamed ones.
Status matchAttention(CapturedStep &step);

} // namespace sfsdp::exported

#endif // SFSDP_PASSES_IMPORT_ATTENTION_H
