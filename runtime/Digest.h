//===- Digest.h - SHA-256 and CRC-32 -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SHA-256 (FIPS 180-4) names content: plans, inputs, checkpoints. CRC-32 (the
// one of zip, polynomial 0xEDB88320) finds damage in archives and is no proof
// of origin.
//
// Tested by test/unit/runtime/DigestTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_DIGEST_H
#define SFSDP_RUNTIME_DIGEST_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sfsdp::runtime {

/// SHA-256 of a text that comes in pieces.
class Sha256 {
public:
  static constexpr size_t kBlockBytes = 64;

  void update(std::span<const std::byte> piece);
  void update(std::string_view piece) {
    update(std::as_bytes(std::span(piece)));
  }

  /// The digest of all pieces so far, as 64 lower-case hexadecimal digits.
  std::string hex() const;

private:
  void addBlock(const std::byte *block);

  std::array<uint32_t, 8> state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                   0xa54ff53a, 0x510e527f, 0x9b05688c,
                                   0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, kBlockBytes> pending{};
  uint64_t bytes = 0;
};

/// The digest of one text, as hexadecimal digits.
std::string sha256(std::string_view text);

/// CRC-32 of `previous`' text followed by `piece`; 0 is that of no text.
uint32_t crc32(std::span<const std::byte> piece, uint32_t previous = 0);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_DIGEST_H
