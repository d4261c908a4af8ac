//===- Nonce.h - What proves that a connection is of this job ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks publish a random text through the store; who connects must present it.
//
// Tested by test/unit/runtime/ControlChannelTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_NONCE_H
#define SFSDP_RUNTIME_NONCE_H

#include <string>

namespace sfsdp::runtime {

/// 128 random bits as 32 digits.
std::string makeNonce();

/// Takes the same time wherever two texts of equal length differ.
bool equalInConstantTime(const std::string &a, const std::string &b);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_NONCE_H
