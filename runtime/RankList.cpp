//===- RankList.cpp - Ranks in messages -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/runtime/AgreementTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/RankList.h"

std::string sfsdp::runtime::nameRanks(const std::vector<int> &ranks) {
  constexpr size_t kShown = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (i == kShown) {
      return text + ", …";
    }
    if (i > 0) {
      text += i + 1 == ranks.size() ? " and " : ", ";
    }
    text += std::to_string(ranks[i]);
  }
  return text;
}
