//===- ArchiveFuzzer.cpp - Zip archives of any bytes ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever the bytes, opening gives an error with a text, or records that lie
// in the file, apart from each other, and that can be found and read. Most
// changes of an input are followed by a repair of its checksums: what reads the
// records would not see them otherwise.
//
//===----------------------------------------------------------------------===//

#include "runtime/Archive.h"
#include "runtime/Digest.h"
#include "runtime/WeightConfig.h"
#include "test/fuzz/readers/FuzzInput.h"

#include <algorithm>

using namespace sfsdp;
using namespace sfsdp::runtime;
using test::require;

/// Of libFuzzer: changes bytes.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

void checkApart(std::vector<Record> records, uint64_t fileBytes) {
  std::sort(records.begin(), records.end(),
            [](const Record &a, const Record &b) {
              return std::pair(a.offset, a.size) < std::pair(b.offset, b.size);
            });
  uint64_t end = 0;
  for (const Record &record : records) {
    require(record.offset >= end, "records do not overlap");
    require(record.offset <= fileBytes &&
                record.size <= fileBytes - record.offset,
            "records lie in the file");
    end = record.offset + record.size;
  }
}

void checkContent(const Archive &archive, const Record &record) {
  require(archive.find(record.name) == &record, "a record is found by name");
  Expected<std::string> content = archive.read(record.name);
  Status verified = archive.verify(record);
  require(content.ok() == verified.ok(), "read and verify agree");
  if (!content) {
    require(!content.message().empty(), "an error has a text");
    return;
  }
  require(content->size() == record.size, "a record is read whole");
  std::byte last{};
  if (record.size > 0) {
    require(archive.readAt(record, record.size - 1, {&last, 1}).ok() &&
                last == static_cast<std::byte>(content->back()),
            "a slice is what the whole record has there");
  }
  require(!archive.readAt(record, record.size, {&last, 1}).ok(),
          "no slice goes beyond its record");
}

/// A little-endian number of `bytes` bytes; 0 beyond the end.
uint64_t numberAt(std::span<const uint8_t> file, size_t at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; at + bytes <= file.size() && i < bytes; ++i) {
    value |= uint64_t{file[at + i]} << (8 * i);
  }
  return value;
}

void setChecksum(std::span<uint8_t> file, size_t at, uint32_t crc) {
  for (size_t i = 0; at + 4 <= file.size() && i < 4; ++i) {
    file[at + i] = static_cast<uint8_t>(crc >> (8 * i));
  }
}

/// Sets the checksum in both headers of the record whose entry in the central
/// directory is at `entry`. Offsets are those of the zip format.
void repairChecksum(std::span<uint8_t> file, size_t entry) {
  uint64_t bytes = numberAt(file, entry + 20, 4);
  uint64_t local = numberAt(file, entry + 42, 4);
  uint64_t content = local + 30 + numberAt(file, local + 26, 2) +
                     numberAt(file, local + 28, 2);
  if (content > file.size() || bytes > file.size() - content) {
    return;
  }
  uint32_t crc = crc32(std::as_bytes(file.subspan(content, bytes)));
  setChecksum(file, entry + 16, crc);
  setChecksum(file, local + 14, crc);
}

void repairChecksums(std::span<uint8_t> file) {
  constexpr uint64_t kEntryMark = 0x02014b50; // "PK\1\2"
  for (size_t at = 0; at + 46 <= file.size(); ++at) {
    if (numberAt(file, at, 4) == kEntryMark) {
      repairChecksum(file, at);
    }
  }
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  size_t changed = LLVMFuzzerMutate(data, size, maxSize);
  if (seed % 4 != 0) {
    repairChecksums({data, changed});
  }
  return changed;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  test::FuzzFile file(test::asText(data, size));
  Expected<Archive> archive = Archive::open(file.path());
  if (!archive) {
    require(!archive.message().empty(), "an error has a text");
    return 0;
  }
  checkApart(archive->records(), size);
  for (const Record &record : archive->records()) {
    checkContent(*archive, record);
  }
  if (Expected<ExportedModel> model = findExportedModel(*archive)) {
    (void)archive->readJson(model->program);
    (void)readWeightConfig(*archive, model->name);
  }
  return 0;
}
