//===- ZipWriter.h - Small zip files for tests ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the bytes of a zip file with stored entries, in each of the forms that
// the format allows. Its checksum is computed bit by bit, independently of the
// one in runtime/.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_TEST_SUPPORT_ZIPWRITER_H
#define SFSDP_TEST_SUPPORT_ZIPWRITER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sfsdp::test {

struct ZipEntry {
  std::string name;
  std::string content;
  bool hasDescriptor = false; ///< sizes follow the content, as torch writes
  bool isLarge = false;       ///< sizes stand in ZIP64 fields
  uint16_t method = 0;
  uint16_t flags = 0;
};

struct ZipEnd {
  bool isLarge = false; ///< with the ZIP64 end record
  std::string comment = {};
};

inline uint32_t slowCrc32(std::string_view text) {
  uint32_t crc = 0xffffffff;
  for (unsigned char c : text) {
    crc ^= c;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0u);
    }
  }
  return ~crc;
}

/// Little-endian fields one after the other.
class FieldWriter {
public:
  std::string bytes;

  FieldWriter &u16(uint64_t value) { return number(value, 2); }
  FieldWriter &u32(uint64_t value) { return number(value, 4); }
  FieldWriter &u64(uint64_t value) { return number(value, 8); }
  FieldWriter &text(std::string_view value) {
    bytes += value;
    return *this;
  }

private:
  FieldWriter &number(uint64_t value, int size) {
    for (int i = 0; i < size; ++i) {
      bytes += static_cast<char>(value >> (8 * i));
    }
    return *this;
  }
};

inline std::string makeZip(const std::vector<ZipEntry> &entries,
                           const ZipEnd &end = {}) {
  FieldWriter file;
  FieldWriter directory;
  for (const ZipEntry &entry : entries) {
    uint64_t offset = file.bytes.size();
    uint64_t size = entry.content.size();
    uint32_t crc = slowCrc32(entry.content);
    uint16_t flags = entry.flags | (entry.hasDescriptor ? 8 : 0);
    uint64_t shown = entry.isLarge ? 0xffffffff : size;
    std::string extra;
    if (entry.isLarge) {
      extra = FieldWriter().u16(1).u16(16).u64(size).u64(size).bytes;
    }
    file.u32(0x04034b50).u16(20).u16(flags).u16(entry.method).u32(0);
    if (entry.hasDescriptor) {
      file.u32(0).u32(0).u32(0).u16(entry.name.size()).u16(0);
      file.text(entry.name).text(entry.content).u32(0x08074b50).u32(crc);
      entry.isLarge ? file.u64(size).u64(size) : file.u32(size).u32(size);
    } else {
      file.u32(crc).u32(shown).u32(shown);
      file.u16(entry.name.size()).u16(extra.size());
      file.text(entry.name).text(extra).text(entry.content);
    }
    directory.u32(0x02014b50).u16(20).u16(20).u16(flags).u16(entry.method);
    directory.u32(0).u32(crc).u32(shown).u32(shown);
    directory.u16(entry.name.size()).u16(extra.size()).u16(0).u16(0);
    directory.u16(0).u32(0).u32(offset).text(entry.name).text(extra);
  }
  uint64_t at = file.bytes.size();
  uint64_t size = directory.bytes.size();
  uint64_t count = entries.size();
  file.text(directory.bytes);
  if (end.isLarge) {
    uint64_t zip64At = file.bytes.size();
    file.u32(0x06064b50).u64(44).u16(45).u16(45).u32(0).u32(0);
    file.u64(count).u64(count).u64(size).u64(at);
    file.u32(0x07064b50).u32(0).u64(zip64At).u32(1);
  }
  file.u32(0x06054b50).u16(0).u16(0).u16(count).u16(count).u32(size).u32(at);
  return file.u16(end.comment.size()).text(end.comment).bytes;
}

} // namespace sfsdp::test

#endif // SFSDP_TEST_SUPPORT_ZIPWRITER_H
