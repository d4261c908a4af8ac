//===- DigestTest.cpp - SHA-256 and CRC-32 -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expected values: the examples of FIPS 180-4 (NIST's "SHA256.pdf" and the
// million-a message of FIPS 180-2), and the check value of CRC-32.

#include "runtime/Digest.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;

namespace {

uint32_t crcOf(std::string_view text, uint32_t previous = 0) {
  return crc32(std::as_bytes(std::span(text)), previous);
}

} // namespace

TEST(Sha256, EqualsThePublishedExamples) {
  EXPECT_EQ(sha256(""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                   "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesDoNotMatter) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += static_cast<char>(i * 7);
  }
  // Lengths around one and two blocks of 64 bytes, in pieces of every size.
  for (size_t length : {55, 56, 63, 64, 65, 119, 120, 127, 128, 129, 300}) {
    std::string_view whole = std::string_view(text).substr(0, length);
    for (size_t piece = 1; piece <= length; ++piece) {
      Sha256 digest;
      for (size_t at = 0; at < length; at += piece) {
        digest.update(whole.substr(at, piece));
      }
      ASSERT_EQ(digest.hex(), sha256(whole)) << length << " by " << piece;
    }
  }
}

TEST(Sha256, TheDigestSoFarDoesNotEndTheText) {
  Sha256 digest;
  digest.update("ab");
  EXPECT_EQ(digest.hex(), sha256("ab"));
  digest.update("c");
  EXPECT_EQ(digest.hex(), sha256("abc"));
}

TEST(Crc32, EqualsTheCheckValue) {
  EXPECT_EQ(crcOf("123456789"), 0xcbf43926u);
  EXPECT_EQ(crcOf(""), 0u);
}

TEST(Crc32, ContinuesAtAnyByte) {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += static_cast<char>(i * 31);
  }
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(crcOf(text.substr(cut), crcOf(text.substr(0, cut))), crcOf(text));
  }
}
