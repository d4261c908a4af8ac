//===- RankList.h - Ranks in messages ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/runtime/AgreementTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_RANKLIST_H
#define SFSDP_RUNTIME_RANKLIST_H

#include <string>
#include <vector>

namespace sfsdp::runtime {

/// "rank 2", "ranks 2 and 3", "ranks 0, 2 and 3"; of more than eight the first
/// eight and "…". `ranks` ascends and is not empty.
std::string nameRanks(const std::vector<int> &ranks);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_RANKLIST_H
