//===- Reduce.h - Ordered sums -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one place where values of several ranks are added. Each element is
//
//   round(((x[0] / before + x[1] / before) + … + x[n-1] / before)) / after
//
// with the additions in rank order, so its bits depend on nothing but the
// values: not on its position, the length of the buffer or the transport. With
// `grouped` = K > 0, blocks of K consecutive ranks are summed first, each in
// rank order, and then the blocks in theirs.
//
//   f32, f64, complex   added in their own precision, part by part
//   f16, bf16           added in f32, rounded once; the division is computed in
//                       f32 and rounded again, as the element type divides
//   integers            wrap around; no division
//   bool                logical or; no division
//
// `before` is 1 for every type but f16, whose sum of 64 times 2000 would leave
// its range: see splitDivisor. It is a power of two, so that dividing by it in
// f32 is exact.
//
// Tested by test/unit/runtime/ReduceTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_REDUCE_H
#define SFSDP_RUNTIME_REDUCE_H

#include "runtime/DType.h"

#include <cstdint>
#include <vector>

namespace sfsdp::runtime {

/// The part of a divisor that is applied to each input and the part that is
/// applied to their sum; before * after is the divisor.
struct DivisorSplit {
  double before = 1;
  double after = 1;
};

/// f16: before = the largest power of two <= sqrt(divisor), 1 when divisor < 1;
/// any other type: before = 1.
DivisorSplit splitDivisor(DType type, double divisor);

/// Writes the ordered sum of `count` elements of `inputs` (one pointer per
/// rank, in rank order, at least one), divided by `divisor`, to `output`.
/// `grouped`: ranks per block, 0 for a single block.
/// Pointers need no alignment; `output` may equal one of the inputs but must
/// not overlap one otherwise. Integers and bool require divisor == 1.
void sumInRankOrder(const std::vector<const void *> &inputs, void *output,
                    int64_t count, DType type, double divisor,
                    int64_t grouped = 0);

/// Conversions with IEEE rounding to nearest even; bits of the 16-bit type.
float float16ToFloat(uint16_t bits);
uint16_t floatToFloat16(float value);
float bfloat16ToFloat(uint16_t bits);
uint16_t floatToBFloat16(float value);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_REDUCE_H
