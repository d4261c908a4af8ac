//===- Number.h - Numbers in text -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/runtime/RunOptionsTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_NUMBER_H
#define SFSDP_RUNTIME_NUMBER_H

#include <charconv>
#include <string_view>

namespace sfsdp::runtime {

/// Reads all of `text` as a number, without regard to the locale; false when it
/// is none or does not fit.
template <typename T>
bool parseNumber(std::string_view text, T &number) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_NUMBER_H
