//===- Archive.h - Zip archives of stored records ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `torch.export` and `torch.save` write zip archives whose entries ("records")
// are stored without compression under one root folder. This reader reads
// those, with ZIP64, and believes nothing: central directory and local
// headers must agree, entries must not overlap, contents are checked against
// their CRC-32. Nothing is extracted, and nothing is mapped.
//
// Tested by test/unit/runtime/ArchiveTest.cpp and ArchiveKindTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_ARCHIVE_H
#define SFSDP_RUNTIME_ARCHIVE_H

#include "runtime/File.h"
#include "runtime/Json.h"

#include <unordered_map>

namespace sfsdp::runtime {

/// One entry of an archive.
struct Record {
  std::string name;    ///< without the archive's root folder
  uint64_t offset = 0; ///< of the content, in bytes from the file's start
  uint64_t size = 0;   ///< bytes
  uint32_t crc = 0;    ///< CRC-32 of the content
  uint16_t method = 0; ///< of compression; only 0, stored, can be read
};

/// An open archive. Reads may come from several threads.
class Archive {
public:
  static constexpr uint64_t kLargestReadBytes = uint64_t{1} << 30;

  /// Opens the archive at `path` and checks its structure, not its contents.
  /// A compressed record may be listed but is refused when it is read.
  static Expected<Archive> open(const std::string &path);

  const std::string &path() const { return file.path(); }

  /// In the order of the central directory.
  const std::vector<Record> &records() const { return entries; }

  /// The record called `name`; null when there is none. Valid while the archive
  /// lives.
  const Record *find(std::string_view name) const;

  /// The whole content of record `name`, checked; an error when it is larger
  /// than `maxBytes`.
  Expected<std::string> read(std::string_view name,
                             uint64_t maxBytes = kLargestReadBytes) const;

  /// The JSON in record `name`; messages call it `PATH(NAME)`.
  Expected<JsonDocument> readJson(std::string_view name) const;

  /// Fills `out` from byte `offset` of the record on, unchecked: for slices of
  /// large records, after one `verify`.
  Status readAt(const Record &record, uint64_t offset,
                std::span<std::byte> out) const;

  /// Reads the record once and compares its checksum.
  Status verify(const Record &record) const;

private:
  explicit Archive(InputFile file) : file(std::move(file)) {}

  Status checkStored(const Record &record) const;
  Status damaged(const Record &record, uint32_t crc) const;

  InputFile file;
  std::vector<Record> entries;
  std::unordered_map<std::string_view, size_t> positions;
};

/// What an archive of an exported program holds.
struct ExportedModel {
  std::string name;    ///< "model"
  std::string program; ///< record of the program: "models/model.json"
};

/// The model of a `.pt2` archive. An error says what the archive is instead: a
/// TorchScript archive, plain weights, or one of a too old or too new torch.
Expected<ExportedModel> findExportedModel(const Archive &archive);

/// Checks the schema version of an ExportedProgram's JSON, which this project
/// reads up to a certain major version. Gives a warning, or nothing: a newer
/// minor version may hold what is not known here.
Expected<std::optional<std::string>> checkSchemaVersion(JsonPlace program);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_ARCHIVE_H
