//===- Nonce.cpp - What proves that a connection is of this job -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random bits come from the kernel.
//
// Tested by test/unit/runtime/ControlChannelTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Nonce.h"

#include <sys/random.h>

std::string sfsdp::runtime::makeNonce() {
  unsigned char bytes[16] = {};
  size_t filled = 0;
  while (filled < sizeof bytes) {
    ssize_t count = ::getrandom(bytes + filled, sizeof bytes - filled, 0);
    filled += count > 0 ? count : 0;
  }
  std::string text;
  for (unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

bool sfsdp::runtime::equalInConstantTime(const std::string &a,
                                         const std::string &b) {
  if (a.size() != b.size()) {
    return false;
  }
  unsigned char differences = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    differences |= a[i] ^ b[i];
  }
  return differences == 0;
}
