//===- Lifetimes.h - When memory is born and freed --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A storage is born by the first instruction that writes one of its values and
// may die after the last instruction that touches any of them. A collective
// touches its operands and results until its wait. Storages of arguments live
// over the whole step; those of results are never freed by their program, and
// live until it runs again.
//
// The peak is exact for an allocator without rounding:
//
//   bytes of all argument storages
//   + max over programs p of ( bytes of results of the other programs
//       + max over instructions i of p of ( bytes of storages alive at i
//                                           + workspace of i ) )
//
// where a kernel's results are alive together with its operands, and a storage
// is alive from its birth up to its Free.
//
// Cost: linear in the number of operands of all instructions.
//
// Tested by test/unit/passes/analysis/LifetimesTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_ANALYSIS_LIFETIMES_H
#define SFSDP_PASSES_ANALYSIS_LIFETIMES_H

#include "runtime/Plan.h"

#include <vector>

namespace sfsdp::analysis {

/// Values that `instruction` reads or writes; those of a collective for its
/// start, none for a wait or a free.
std::vector<runtime::ValueId>
touchedValues(const runtime::Instruction &instruction);

/// Inserts a Free after the last use of each private storage that no result
/// holds, renumbers what refers to instructions, and sets `first` and `last` of
/// every storage and `predictedPeakBytes`. Requires a plan without Free
/// instructions, in which each storage but those of arguments belongs to one
/// program.
void assignLifetimes(runtime::Plan &plan);

/// Bytes that the plan needs at once, as the head of this file defines them.
int64_t peakBytes(const runtime::Plan &plan);

/// Proves, from the text of the programs alone, that nothing is read before it
/// is written or after it is freed, that no collective in flight loses a
/// buffer, that every private storage is freed once or held by a result, and
/// that the predicted peak is the true one. Shares no code with
/// assignLifetimes.
runtime::Status proveLifetimes(const runtime::Plan &plan);

} // namespace sfsdp::analysis

#endif // SFSDP_PASSES_ANALYSIS_LIFETIMES_H
