//===- Mutate.h - Random damage to a file's bytes ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small seeded mutations of good input: what a broken disk or a hostile author
// does to it. Readers must answer each with a value or a Status.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_TEST_SUPPORT_MUTATE_H
#define SFSDP_TEST_SUPPORT_MUTATE_H

#include <algorithm>
#include <random>
#include <string>

namespace sfsdp::test {

/// `good` after one to four flipped, overwritten, removed, repeated or
/// truncated pieces.
inline std::string mutate(const std::string &good, std::mt19937 &random) {
  std::string text = good;
  auto below = [&](size_t bound) {
    return std::uniform_int_distribution<size_t>(0, bound - 1)(random);
  };
  for (size_t left = 1 + below(4); left > 0 && !text.empty(); --left) {
    size_t at = below(text.size());
    size_t length = std::min(1 + below(8), text.size() - at);
    switch (below(6)) {
    case 0:
      text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
      break;
    case 1:
      text[at] = static_cast<char>(below(256));
      break;
    case 2:
      text.replace(at, length, length, below(2) ? '\xff' : '\0');
      break;
    case 3:
      text.erase(at, length);
      break;
    case 4:
      text.insert(at, text.substr(at, length));
      break;
    case 5:
      text.resize(at);
      break;
    }
  }
  return text;
}

} // namespace sfsdp::test

#endif // SFSDP_TEST_SUPPORT_MUTATE_H
