//===- Blocks.cpp - Parameters by block of the model ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/passes/analysis/BlocksTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/Blocks.h"

#include <algorithm>
#include <unordered_map>

using namespace sfsdp;

std::string_view analysis::blockOf(std::string_view name) {
  size_t begin = 0;
  while (begin <= name.size()) {
    size_t end = std::min(name.find('.', begin), name.size());
    std::string_view segment = name.substr(begin, end - begin);
    bool isNumeric =
        !segment.empty() && std::ranges::all_of(segment, [](char c) {
          return c >= '0' && c <= '9';
        });
    if (isNumeric) {
      return name.substr(0, end);
    }
    begin = end + 1;
  }
  return {};
}

std::vector<uint32_t>
analysis::numberBlocks(std::span<const std::string> names) {
  size_t afterLast = names.size();
  while (afterLast > 0 && blockOf(names[afterLast - 1]).empty()) {
    --afterLast;
  }
  std::unordered_map<std::string_view, uint32_t> known;
  std::vector<uint32_t> numbers;
  uint32_t count = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    std::string_view block = blockOf(names[i]);
    bool isFirstOfLast = i == afterLast && afterLast > 0;
    if (block.empty() && i > 0 && !isFirstOfLast) {
      numbers.push_back(numbers.back());
      continue;
    }
    if (block.empty()) {
      numbers.push_back(count++);
      continue;
    }
    auto [number, isNew] = known.emplace(block, count);
    count += isNew;
    numbers.push_back(number->second);
  }
  return numbers;
}
