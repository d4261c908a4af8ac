//===- ZipDirectory.cpp - The table of contents of a zip file ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A zip file is read from its end: the end record tells where the central
// directory lies, which tells where each entry begins. torch always writes the
// ZIP64 records, also for small files.
//
// Tested by test/unit/runtime/ArchiveTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/ZipDirectory.h"

#include "runtime/ZipFormat.h"

#include <algorithm>
#include <unordered_set>

using namespace sfsdp::runtime;
using namespace sfsdp::runtime::zip;

namespace {

constexpr uint32_t kCentralSignature = 0x02014b50;
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kZip64EndSignature = 0x06064b50;
constexpr uint32_t kZip64LocatorSignature = 0x07064b50;

constexpr size_t kCentralBytes = 46;
constexpr size_t kEndBytes = 22;
constexpr size_t kZip64EndBytes = 56;
constexpr size_t kZip64EndUncountedBytes = 12; ///< its size field says without
constexpr size_t kZip64LocatorBytes = 20;
constexpr size_t kLargestCommentBytes = 0xffff;

/// Level of compression, descriptor, UTF-8 names; others change the meaning.
constexpr uint16_t kKnownFlags = 1 << 1 | 1 << 2 | kDescriptorFlag | 1 << 11;

constexpr uint16_t kZip64Extra = 1;
constexpr uint32_t kInZip64 = 0xffffffff; ///< "see the ZIP64 field"
constexpr uint16_t kCountInZip64 = 0xffff;

// The largest exported models have thousands of entries.
constexpr uint64_t kMostEntries = 1 << 20;
constexpr uint64_t kLargestDirectoryBytes = uint64_t{1} << 30;

std::string quoted(std::string_view name) {
  return "\"" + std::string(name) + "\"";
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

Status missingEnd(const InputFile &file) {
  Expected<std::string> start = bytesAt(file, 0, 4);
  if (start && Fields(*start).u32() == kLocalSignature) {
    return damagedArchive(file, "its end is missing");
  }
  return Status::error(file.path() + ": not an archive: expected a zip file, "
                                     "as torch.export.save writes it");
}

/// Where the ZIP64 end record is, if there is one.
std::optional<uint64_t> findZip64End(const InputFile &file,
                                     uint64_t endOffset) {
  if (endOffset < kZip64LocatorBytes) {
    return std::nullopt;
  }
  Expected<std::string> locator =
      bytesAt(file, endOffset - kZip64LocatorBytes, kZip64LocatorBytes);
  if (!locator) {
    return std::nullopt;
  }
  Fields fields(*locator);
  if (fields.u32() != kZip64LocatorSignature) {
    return std::nullopt;
  }
  fields.u32(); // disk
  return fields.u64();
}

Expected<Directory> readZip64End(const InputFile &file, uint64_t offset,
                                 uint64_t endOffset) {
  Expected<std::string> bytes = bytesAt(file, offset, kZip64EndBytes);
  if (!bytes) {
    return bytes.status();
  }
  Fields fields(*bytes);
  uint32_t signature = fields.u32();
  uint64_t size = fields.u64();
  fields.u32(); // versions
  uint32_t disk = fields.u32();
  uint32_t firstDisk = fields.u32();
  uint64_t entriesHere = fields.u64();
  Directory directory;
  directory.entries = fields.u64();
  directory.size = fields.u64();
  directory.offset = fields.u64();
  uint64_t expectedSize =
      endOffset - kZip64LocatorBytes - kZip64EndUncountedBytes - offset;
  if (signature != kZip64EndSignature || disk != 0 || firstDisk != 0 ||
      entriesHere != directory.entries || size != expectedSize) {
    return damagedArchive(file, "its ZIP64 end record is damaged");
  }
  return directory;
}

Status checkDirectory(const InputFile &file, const Directory &directory,
                      uint64_t directoryEnd) {
  if (directory.offset > directoryEnd ||
      directory.size != directoryEnd - directory.offset) {
    return damagedArchive(
        file, "its central directory is not where its end record says");
  }
  if (directory.entries == 0) {
    return Status::error(file.path() +
                         ": the archive is empty: it has no entries");
  }
  if (directory.entries > kMostEntries) {
    return Status::error(file.path() + ": expected at most " +
                         std::to_string(kMostEntries) + " entries, got " +
                         std::to_string(directory.entries));
  }
  if (directory.size > kLargestDirectoryBytes) {
    return Status::error(file.path() +
                         ": expected a central directory of at most " +
                         std::to_string(kLargestDirectoryBytes) +
                         " bytes, got " + std::to_string(directory.size));
  }
  if (directory.size / kCentralBytes < directory.entries) {
    return damagedArchive(file, "its central directory is too short for " +
                                    std::to_string(directory.entries) +
                                    " entries");
  }
  return Status();
}

Expected<Directory> readEnd(const InputFile &file, Fields end,
                            uint64_t endOffset) {
  end.u32(); // signature
  uint16_t disk = end.u16();
  uint16_t firstDisk = end.u16();
  uint16_t entriesHere = end.u16();
  uint16_t entries = end.u16();
  uint32_t size = end.u32();
  uint32_t offset = end.u32();
  if (disk != 0 || firstDisk != 0 || entriesHere != entries) {
    return damagedArchive(file, "it is one part of several");
  }
  Directory directory{offset, size, entries};
  uint64_t directoryEnd = endOffset;
  if (std::optional<uint64_t> zip64 = findZip64End(file, endOffset)) {
    Expected<Directory> large = readZip64End(file, *zip64, endOffset);
    if (!large) {
      return large;
    }
    if ((entries != kCountInZip64 && entries != large->entries) ||
        (size != kInZip64 && size != large->size) ||
        (offset != kInZip64 && offset != large->offset)) {
      return damagedArchive(file, "its two end records differ");
    }
    directory = *large;
    directoryEnd = *zip64;
  }
  if (Status status = checkDirectory(file, directory, directoryEnd);
      !status.ok()) {
    return status;
  }
  return directory;
}

Expected<Directory> findDirectory(const InputFile &file) {
  if (file.size() == 0) {
    return Status::error(file.path() + ": the file is empty (0 bytes)");
  }
  uint64_t tailSize =
      std::min<uint64_t>(file.size(), kEndBytes + kLargestCommentBytes);
  uint64_t tailOffset = file.size() - tailSize;
  Expected<std::string> tail = bytesAt(file, tailOffset, tailSize);
  if (!tail) {
    return tail.status();
  }
  // A comment of unknown length may follow the end record.
  for (size_t at = tail->size(); at-- > 0;) {
    std::string_view end = std::string_view(*tail).substr(at);
    if (end.size() < kEndBytes || Fields(end).u32() != kEndSignature) {
      continue;
    }
    Fields comment(end.substr(kEndBytes - 2));
    if (comment.u16() == end.size() - kEndBytes) {
      return readEnd(file, Fields(end), tailOffset + at);
    }
  }
  return missingEnd(file);
}

//===----------------------------------------------------------------------===//
// The central directory
//===----------------------------------------------------------------------===//

Status checkEntry(const InputFile &file, const Entry &entry) {
  auto isControl = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (entry.name.empty() ||
      std::any_of(entry.name.begin(), entry.name.end(), isControl)) {
    return damagedArchive(file, "an entry has an empty or unprintable name");
  }
  if (entry.flags & kEncryptedFlag) {
    return Status::error(file.path() + ": entry " + quoted(entry.name) +
                         " is encrypted, expected plain content");
  }
  if (entry.flags & ~kKnownFlags) {
    return damagedEntry(file, entry, "has unknown flags");
  }
  if (entry.method == 0 && entry.storedSize != entry.size) {
    return damagedEntry(file, entry, "has two sizes");
  }
  return Status();
}

Status readEntry(const InputFile &file, Fields &fields, Entry &entry) {
  uint32_t signature = fields.u32();
  fields.u32(); // versions
  entry.flags = fields.u16();
  entry.method = fields.u16();
  fields.u32(); // time
  entry.crc = fields.u32();
  entry.storedSize = fields.u32();
  entry.size = fields.u32();
  uint16_t nameBytes = fields.u16();
  uint16_t extraBytes = fields.u16();
  uint16_t commentBytes = fields.u16();
  uint16_t disk = fields.u16();
  fields.text(6); // attributes
  entry.localOffset = fields.u32();
  entry.name = fields.text(nameBytes);
  Fields extra(fields.text(extraBytes));
  fields.text(commentBytes);
  if (!fields.ok || signature != kCentralSignature || disk != 0) {
    return damagedArchive(file, "its central directory is damaged");
  }
  if (!readZip64Extra(extra,
                      {&entry.size, &entry.storedSize, &entry.localOffset})) {
    return damagedEntry(file, entry, "has a damaged ZIP64 field");
  }
  return checkEntry(file, entry);
}

Expected<std::vector<Entry>> readEntries(const InputFile &file,
                                         const Directory &directory) {
  Expected<std::string> bytes = bytesAt(file, directory.offset, directory.size);
  if (!bytes) {
    return bytes.status();
  }
  Fields fields(*bytes);
  std::vector<Entry> entries(directory.entries);
  std::unordered_set<std::string_view> names;
  for (Entry &entry : entries) {
    if (Status status = readEntry(file, fields, entry); !status.ok()) {
      return status;
    }
    if (!names.insert(entry.name).second) {
      return damagedEntry(file, entry, "occurs twice");
    }
  }
  if (fields.left() > 0) {
    return damagedArchive(file,
                          "its central directory holds more than its entries");
  }
  return entries;
}

} // namespace

bool zip::readZip64Extra(Fields extra,
                         std::initializer_list<uint64_t *> values) {
  auto isLarge = [](uint64_t *value) { return *value == kInZip64; };
  if (std::none_of(values.begin(), values.end(), isLarge)) {
    return true;
  }
  while (extra.ok && extra.left() > 0) {
    uint16_t kind = extra.u16();
    uint16_t length = extra.u16();
    Fields content(extra.text(length));
    if (kind != kZip64Extra) {
      continue;
    }
    for (uint64_t *value : values) {
      *value = isLarge(value) ? content.u64() : *value;
    }
    return extra.ok && content.ok;
  }
  return false;
}

Expected<std::string> zip::bytesAt(const InputFile &file, uint64_t offset,
                                   uint64_t size) {
  if (offset > file.size() || size > file.size() - offset) {
    return damagedArchive(file, "a header points outside the file");
  }
  std::string bytes(size, '\0');
  if (Status status = file.read(offset, std::span<char>(bytes)); !status.ok()) {
    return status;
  }
  return bytes;
}

Status zip::damagedEntry(const InputFile &file, const Entry &entry,
                         std::string_view detail) {
  return damagedArchive(file, "entry " + quoted(entry.name) + " " +
                                  std::string(detail));
}

Status sfsdp::runtime::damagedArchive(const InputFile &file,
                                      std::string_view detail) {
  return Status::error(file.path() + ": truncated or corrupt archive (" +
                       std::to_string(file.size()) + " bytes): " +
                       std::string(detail) + "; download or save it again");
}

Expected<std::vector<Record>>
sfsdp::runtime::readZipDirectory(const InputFile &file) {
  Expected<Directory> directory = findDirectory(file);
  if (!directory) {
    return directory.status();
  }
  Expected<std::vector<Entry>> entries = readEntries(file, *directory);
  if (!entries) {
    return entries.status();
  }
  return readLocalHeaders(file, *entries, *directory);
}
