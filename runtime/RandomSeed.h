//===- RandomSeed.h - Where random numbers come from ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing here is drawn from a sequence that others draw from too: a number is
// a function of what it is for. So operators may be reordered and recomputed,
// and parameters drawn in parts.
//
// Tested by test/unit/runtime/ScalarsTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_RANDOMSEED_H
#define SFSDP_RUNTIME_RANDOMSEED_H

#include <cstdint>

namespace sfsdp::runtime {

/// SplitMix64 (Steele, Lea, Flood 2014): a bijection that scatters its input.
inline uint64_t scatterBits(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// What a random operator draws for.
struct RandomUse {
  uint64_t seed = 0; ///< of the run
  int64_t step = 0;
  int64_t microBatch = 0;
  int64_t dataRank = 0; ///< ranks with the same batch draw the same numbers
  int64_t operatorId = 0;
};

/// The seed of the operator's own generator.
inline uint64_t seedOf(const RandomUse &use) {
  uint64_t hash = scatterBits(use.seed);
  for (int64_t part :
       {use.step, use.microBatch, use.dataRank, use.operatorId}) {
    hash = scatterBits(hash ^ static_cast<uint64_t>(part));
  }
  return hash;
}

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_RANDOMSEED_H
