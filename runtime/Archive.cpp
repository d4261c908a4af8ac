//===- Archive.cpp - Zip archives of stored records ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The zip structure is read by ZipDirectory.cpp; what kind of archive it is, is
// told by ArchiveKind.cpp.
//
// Tested by test/unit/runtime/ArchiveTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Archive.h"

#include "runtime/Digest.h"
#include "runtime/ZipDirectory.h"

#include <algorithm>
#include <cstdio>

using namespace sfsdp::runtime;

namespace {

constexpr uint64_t kChunkBytes = 1 << 20;

/// Bytes of the folder, with its slash, that holds all records; 0 if none does.
size_t rootBytes(const std::vector<Record> &records) {
  size_t slash = records.front().name.find('/');
  if (slash == std::string::npos) {
    return 0;
  }
  std::string_view root =
      std::string_view(records.front().name).substr(0, slash + 1);
  bool isShared =
      std::all_of(records.begin(), records.end(), [&](const Record &record) {
        return record.name.starts_with(root) && record.name.size() > slash + 1;
      });
  return isShared ? slash + 1 : 0;
}

std::string hexOf(uint32_t crc) {
  char digits[9];
  std::snprintf(digits, sizeof(digits), "%08x", crc);
  return digits;
}

} // namespace

Expected<Archive> Archive::open(const std::string &path) {
  Expected<InputFile> file = InputFile::open(path);
  if (!file) {
    return file.status();
  }
  Expected<std::vector<Record>> records = readZipDirectory(*file);
  if (!records) {
    return records.status();
  }
  if (records->empty()) {
    return Status::error(path + ": the archive is empty: it has only folders");
  }
  Archive archive(*std::move(file));
  archive.entries = *std::move(records);
  size_t root = rootBytes(archive.entries);
  for (size_t i = 0; i < archive.entries.size(); ++i) {
    archive.entries[i].name.erase(0, root);
    archive.positions.emplace(archive.entries[i].name, i);
  }
  return archive;
}

const Record *Archive::find(std::string_view name) const {
  auto found = positions.find(name);
  return found == positions.end() ? nullptr : &entries[found->second];
}

Expected<std::string> Archive::read(std::string_view name,
                                    uint64_t maxBytes) const {
  const Record *record = find(name);
  if (!record) {
    return Status::error(path() + ": the archive has no entry \"" +
                         std::string(name) + "\"");
  }
  if (Status status = checkStored(*record); !status.ok()) {
    return status;
  }
  if (record->size > maxBytes) {
    return Status::error(path() + ": expected at most " +
                         std::to_string(maxBytes) + " bytes in entry \"" +
                         record->name + "\", got " +
                         std::to_string(record->size));
  }
  std::string content(record->size, '\0');
  std::span<std::byte> bytes = std::as_writable_bytes(std::span(content));
  if (Status status = readAt(*record, 0, bytes); !status.ok()) {
    return status;
  }
  if (uint32_t crc = crc32(bytes); crc != record->crc) {
    return damaged(*record, crc);
  }
  return content;
}

Expected<JsonDocument> Archive::readJson(std::string_view name) const {
  Expected<std::string> text = read(name);
  if (!text) {
    return text.status();
  }
  return parseJson(*text, path() + "(" + std::string(name) + ")");
}

Status Archive::readAt(const Record &record, uint64_t offset,
                       std::span<std::byte> out) const {
  if (Status status = checkStored(record); !status.ok()) {
    return status;
  }
  if (offset > record.size || out.size() > record.size - offset) {
    return Status::error(path() + ": cannot read " +
                         std::to_string(out.size()) + " bytes at " +
                         std::to_string(offset) + " of entry \"" + record.name +
                         "\", which has " + std::to_string(record.size));
  }
  return file.read(record.offset + offset, out);
}

Status Archive::verify(const Record &record) const {
  if (Status status = checkStored(record); !status.ok()) {
    return status;
  }
  std::vector<std::byte> chunk(std::min(record.size, kChunkBytes));
  uint32_t crc = 0;
  for (uint64_t at = 0; at < record.size; at += chunk.size()) {
    std::span<std::byte> piece = std::span(chunk).first(
        std::min<uint64_t>(chunk.size(), record.size - at));
    if (Status status = readAt(record, at, piece); !status.ok()) {
      return status;
    }
    crc = crc32(piece, crc);
  }
  return crc == record.crc ? Status() : damaged(record, crc);
}

Status Archive::checkStored(const Record &record) const {
  if (record.method == 0) {
    return Status();
  }
  return Status::error(path() + ": entry \"" + record.name +
                       "\" is compressed (method " +
                       std::to_string(record.method) +
                       "), expected stored content; repack with zip -0");
}

Status Archive::damaged(const Record &record, uint32_t crc) const {
  return damagedArchive(file, "entry \"" + record.name +
                                  "\" fails its checksum, expected " +
                                  hexOf(record.crc) + ", got " + hexOf(crc));
}
