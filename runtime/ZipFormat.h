//===- ZipFormat.h - The pieces of a zip file ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the readers of the central directory and of the local headers.
// Structure (PKWARE APPNOTE 6.3.10, sections in brackets):
//
//     { local header [4.3.7]  content  descriptor [4.3.9]? }*
//     { central header [4.3.12] }*
//     ZIP64 end [4.3.14]?  ZIP64 locator [4.3.15]?  end [4.3.16]
//
// Tested by test/unit/runtime/ArchiveTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_ZIPFORMAT_H
#define SFSDP_RUNTIME_ZIPFORMAT_H

#include "runtime/ZipDirectory.h"

#include <initializer_list>

namespace sfsdp::runtime::zip {

inline constexpr uint32_t kLocalSignature = 0x04034b50;

inline constexpr uint16_t kEncryptedFlag = 1 << 0;
inline constexpr uint16_t kDescriptorFlag = 1 << 3;

/// Reads little-endian fields one after the other. Reading past the end gives
/// zeros and clears `ok`.
class Fields {
public:
  explicit Fields(std::string_view bytes) : bytes(bytes) {}

  bool ok = true;

  uint16_t u16() { return static_cast<uint16_t>(number(2)); }
  uint32_t u32() { return static_cast<uint32_t>(number(4)); }
  uint64_t u64() { return number(8); }

  std::string_view text(size_t length) {
    if (length > bytes.size()) {
      ok = false;
      return {};
    }
    std::string_view taken = bytes.substr(0, length);
    bytes.remove_prefix(length);
    return taken;
  }

  size_t left() const { return bytes.size(); }

private:
  uint64_t number(size_t length) {
    std::string_view taken = text(length);
    uint64_t value = 0;
    for (size_t i = 0; i < taken.size(); ++i) {
      value |= uint64_t{static_cast<unsigned char>(taken[i])} << (8 * i);
    }
    return value;
  }

  std::string_view bytes;
};

/// A central header.
struct Entry {
  uint16_t flags = 0;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint64_t storedSize = 0;
  uint64_t size = 0;
  uint64_t localOffset = 0;
  std::string name;
};

/// Where the central directory lies.
struct Directory {
  uint64_t offset = 0;
  uint64_t size = 0; ///< bytes
  uint64_t entries = 0;
};

/// Replaces each of `values` that is 0xffffffff by the next one of the ZIP64
/// field among the extra fields; false when that has too few.
bool readZip64Extra(Fields extra, std::initializer_list<uint64_t *> values);

/// Bytes of the file; a header that points outside it is damage.
Expected<std::string> bytesAt(const InputFile &file, uint64_t offset,
                              uint64_t size);

/// Damage at one entry.
Status damagedEntry(const InputFile &file, const Entry &entry,
                    std::string_view detail);

/// Checks local headers and descriptors of all entries, and that none overlaps
/// another or the directory.
Expected<std::vector<Record>>
readLocalHeaders(const InputFile &file, const std::vector<Entry> &entries,
                 const Directory &directory);

} // namespace sfsdp::runtime::zip

#endif // SFSDP_RUNTIME_ZIPFORMAT_H
