//===- Digest.cpp - SHA-256 and CRC-32 -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names inside `addBlock` are those of FIPS 180-4 §6.2.2. CRC-32 takes eight
// bytes per step from eight tables ("slicing by 8", Kounavis and Berry 2005).
//
// Tested by test/unit/runtime/DigestTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Digest.h"

#include <algorithm>
#include <bit>

using namespace sfsdp::runtime;

namespace {

/// FIPS 180-4 §4.2.2.
constexpr std::array<uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t loadBigEndian(const std::byte *bytes) {
  return std::to_integer<uint32_t>(bytes[0]) << 24 |
         std::to_integer<uint32_t>(bytes[1]) << 16 |
         std::to_integer<uint32_t>(bytes[2]) << 8 |
         std::to_integer<uint32_t>(bytes[3]);
}

uint32_t loadLittleEndian(const std::byte *bytes) {
  return std::to_integer<uint32_t>(bytes[3]) << 24 |
         std::to_integer<uint32_t>(bytes[2]) << 16 |
         std::to_integer<uint32_t>(bytes[1]) << 8 |
         std::to_integer<uint32_t>(bytes[0]);
}

using CrcTables = std::array<std::array<uint32_t, 256>, 8>;

constexpr CrcTables makeCrcTables() {
  CrcTables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0u);
    }
    tables[0][byte] = crc;
  }
  for (uint32_t byte = 0; byte < 256; ++byte) {
    for (size_t i = 1; i < tables.size(); ++i) {
      uint32_t crc = tables[i - 1][byte];
      tables[i][byte] = (crc >> 8) ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}

constexpr CrcTables kCrcTables = makeCrcTables();

} // namespace

void Sha256::update(std::span<const std::byte> piece) {
  size_t filled = bytes % kBlockBytes;
  bytes += piece.size();
  if (filled > 0) {
    size_t taken = std::min(piece.size(), kBlockBytes - filled);
    std::copy_n(piece.begin(), taken, pending.begin() + filled);
    piece = piece.subspan(taken);
    if (filled + taken < kBlockBytes) {
      return;
    }
    addBlock(pending.data());
  }
  while (piece.size() >= kBlockBytes) {
    addBlock(piece.data());
    piece = piece.subspan(kBlockBytes);
  }
  std::copy(piece.begin(), piece.end(), pending.begin());
}

void Sha256::addBlock(const std::byte *block) {
  std::array<uint32_t, 64> w;
  for (size_t t = 0; t < 16; ++t) {
    w[t] = loadBigEndian(block + 4 * t);
  }
  for (size_t t = 16; t < 64; ++t) {
    uint32_t s0 =
        std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
    uint32_t s1 =
        std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t t = 0; t < 64; ++t) {
    uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    uint32_t choice = (e & f) ^ (~e & g);
    uint32_t t1 = h + s1 + choice + kRoundConstants[t] + w[t];
    uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + s0 + majority;
  }
  uint32_t worked[] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < state.size(); ++i) {
    state[i] += worked[i];
  }
}

std::string Sha256::hex() const {
  // Padding: one bit, zeros, and the length in bits as the last 64 bits.
  Sha256 padded = *this;
  std::array<std::byte, 2 * kBlockBytes> tail{std::byte{0x80}};
  size_t filled = bytes % kBlockBytes;
  size_t zerosEnd = filled < kBlockBytes - 8 ? kBlockBytes : 2 * kBlockBytes;
  size_t tailBytes = zerosEnd - filled;
  for (size_t i = 0; i < 8; ++i) {
    tail[tailBytes - 1 - i] = static_cast<std::byte>((bytes * 8) >> (8 * i));
  }
  padded.update(std::span(tail).first(tailBytes));

  static constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  for (uint32_t word : padded.state) {
    for (int shift = 28; shift >= 0; shift -= 4) {
      digits += kDigits[(word >> shift) & 0xf];
    }
  }
  return digits;
}

std::string sfsdp::runtime::sha256(std::string_view text) {
  Sha256 digest;
  digest.update(text);
  return digest.hex();
}

uint32_t sfsdp::runtime::crc32(std::span<const std::byte> piece,
                               uint32_t previous) {
  const CrcTables &t = kCrcTables;
  uint32_t crc = ~previous;
  const std::byte *at = piece.data();
  size_t left = piece.size();
  for (; left >= 8; left -= 8, at += 8) {
    uint32_t low = loadLittleEndian(at) ^ crc;
    uint32_t high = loadLittleEndian(at + 4);
    crc = t[7][low & 0xff] ^ t[6][(low >> 8) & 0xff] ^
          t[5][(low >> 16) & 0xff] ^ t[4][low >> 24] ^ t[3][high & 0xff] ^
          t[2][(high >> 8) & 0xff] ^ t[1][(high >> 16) & 0xff] ^
          t[0][high >> 24];
  }
  for (; left > 0; --left, ++at) {
    crc = (crc >> 8) ^ t[0][(crc ^ std::to_integer<uint32_t>(*at)) & 0xff];
  }
  return ~crc;
}
