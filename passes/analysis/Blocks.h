//===- Blocks.h - Parameters by block of the model ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/passes/analysis/BlocksTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_ANALYSIS_BLOCKS_H
#define SFSDP_PASSES_ANALYSIS_BLOCKS_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sfsdp::analysis {

/// The name up to its first numeric segment: "layers.3" of
/// "layers.3.attention.wq.weight"; empty if it has none.
std::string_view blockOf(std::string_view name);

/// A block number for each name, from 0 in the order of first appearance.
/// `names` are in registration order. Names outside all blocks form the first
/// block when they come before the others, the last when they come after; in
/// between they belong to the block before them.
std::vector<uint32_t> numberBlocks(std::span<const std::string> names);

} // namespace sfsdp::analysis

#endif // SFSDP_PASSES_ANALYSIS_BLOCKS_H
