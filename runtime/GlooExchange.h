//===- GlooExchange.h - Blocks of bytes over Gloo ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the Gloo transport that includes LibTorch.
//
// Tested by test/unit/runtime/GlooProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_GLOOEXCHANGE_H
#define SFSDP_RUNTIME_GLOOEXCHANGE_H

#include "runtime/GlooProcessGroup.h"
#include "runtime/PackedCarrier.h"

namespace sfsdp::runtime {

/// Connects rank `rank` of `size` with its peers, which it finds through
/// `store`; all ranks call it with a store of the same prefix.
Expected<std::unique_ptr<ByteExchange>>
connectGloo(Store &store, int rank, int size, const GlooOptions &options);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_GLOOEXCHANGE_H
