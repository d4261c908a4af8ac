//===- Agreement.h - All ranks were started alike ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Before the first collective all ranks compare one record: plan digest,
// versions, options, data. Ranks that differ would hang or compute something
// nobody asked for.
//
// Tested by test/unit/runtime/AgreementTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_AGREEMENT_H
#define SFSDP_RUNTIME_AGREEMENT_H

#include "runtime/Rendezvous.h"

#include <utility>

namespace sfsdp::runtime {

/// Fields and their values, in the order in which messages name them.
using AgreementRecord = std::vector<std::pair<std::string, std::string>>;

/// Compares `record` with those of all other ranks. Every rank calls it once
/// per store prefix and gets the same answer: success, or an error that names
/// each field that differs, the ranks and their values, or the ranks that did
/// not come within `timeout`. Rank 0 compares, so a job of n ranks costs n
/// reads.
Status agree(Store &store, int rank, int worldSize,
             const AgreementRecord &record, std::chrono::milliseconds timeout);

/// The comparison alone: `records[r]` is that of rank r.
Status compareRecords(const std::vector<AgreementRecord> &records);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_AGREEMENT_H
