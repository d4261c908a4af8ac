//===- ArchiveKind.cpp - What kind of archive it is ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch writes zip archives for four purposes; only one of them is an
// exported program in the format that begins with torch 2.8. The marks:
//
//     exported program       archive_format = "pt2", archive_version = "0"
//     the same before 2.8    serialized_exported_program.json, version
//     TorchScript            constants.pkl, code/...
//     torch.save             data.pkl
//
// Tested by test/unit/runtime/ArchiveKindTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Archive.h"
#include "runtime/Number.h"

#include <algorithm>

using namespace sfsdp::runtime;

namespace {

constexpr int64_t kArchiveVersion = 0;
constexpr int64_t kSchemaMajor = 8;
/// The newest minor version whose additions are known here (torch 2.15).
constexpr int64_t kSchemaMinor = 20;

constexpr std::string_view kExportAgain =
    "; capture the model again with a supported torch";

Status wrongKind(const Archive &archive, std::string_view what) {
  return Status::error(archive.path() + ": " + std::string(what));
}

Status notAnExport(const Archive &archive) {
  auto hasFolder = [&](std::string_view folder) {
    return std::any_of(
        archive.records().begin(), archive.records().end(),
        [&](const Record &record) { return record.name.starts_with(folder); });
  };
  if (archive.find("constants.pkl") || hasFolder("code/")) {
    return wrongKind(archive, "a TorchScript archive, expected an exported "
                              "program; capture the model instead of "
                              "scripting or tracing it");
  }
  if (archive.find("data.pkl")) {
    return wrongKind(archive, "a file of torch.save with weights or other "
                              "objects only, expected an exported program; "
                              "capture the model");
  }
  if (archive.find("serialized_exported_program.json")) {
    return wrongKind(archive, "the archive is too old: it was written before "
                              "torch 2.8" +
                                  std::string(kExportAgain));
  }
  return wrongKind(archive, "not an export archive: it has no entry "
                            "\"archive_format\"; expected a .pt2 file of "
                            "torch.export.save or simplefsdp_capture");
}

Status checkArchiveVersion(const Archive &archive) {
  if (!archive.find("archive_version")) {
    return wrongKind(archive, "the archive is too old: it has no entry "
                              "\"archive_version\"" +
                                  std::string(kExportAgain));
  }
  Expected<std::string> text = archive.read("archive_version");
  if (!text) {
    return text.status();
  }
  int64_t version = -1;
  if (!parseNumber(*text, version) || version < 0) {
    return wrongKind(archive, "entry \"archive_version\": expected a number, "
                              "got " +
                                  writeJson(Json(text->substr(0, 80))));
  }
  if (version > kArchiveVersion) {
    return wrongKind(archive, "the archive is too new: expected version " +
                                  std::to_string(kArchiveVersion) + ", got " +
                                  std::to_string(version) +
                                  "; use a newer build, or capture with an "
                                  "older torch");
  }
  return Status();
}

Status checkByteOrder(const Archive &archive) {
  if (!archive.find("byteorder")) {
    return Status();
  }
  Expected<std::string> order = archive.read("byteorder");
  if (!order) {
    return order.status();
  }
  if (*order != "little") {
    return wrongKind(archive,
                     "expected little-endian weights, got byte order " +
                         writeJson(Json(order->substr(0, 80))));
  }
  return Status();
}

Expected<ExportedModel> findModel(const Archive &archive) {
  constexpr std::string_view kFolder = "models/";
  constexpr std::string_view kSuffix = ".json";
  std::vector<std::string> names;
  for (const Record &record : archive.records()) {
    std::string_view name = record.name;
    if (name.starts_with(kFolder) && name.ends_with(kSuffix)) {
      name.remove_prefix(kFolder.size());
      name.remove_suffix(kSuffix.size());
      names.emplace_back(name);
    }
  }
  if (names.empty()) {
    return wrongKind(archive, "the archive holds no exported program: it has "
                              "no entry \"models/NAME.json\"");
  }
  if (names.size() > 1) {
    return wrongKind(archive, "expected one exported program, got " +
                                  std::to_string(names.size()) +
                                  ", among them " + writeJson(Json(names[0])) +
                                  " and " + writeJson(Json(names[1])));
  }
  return ExportedModel{names[0],
                       std::string(kFolder) + names[0] + std::string(kSuffix)};
}

} // namespace

Expected<ExportedModel>
sfsdp::runtime::findExportedModel(const Archive &archive) {
  if (!archive.find("archive_format")) {
    return notAnExport(archive);
  }
  Expected<std::string> format = archive.read("archive_format");
  if (!format) {
    return format.status();
  }
  if (*format != "pt2") {
    return wrongKind(archive, "not an export archive: expected "
                              "archive_format \"pt2\", got " +
                                  writeJson(Json(format->substr(0, 80))));
  }
  if (Status status = checkArchiveVersion(archive); !status.ok()) {
    return status;
  }
  if (Status status = checkByteOrder(archive); !status.ok()) {
    return status;
  }
  return findModel(archive);
}

Expected<std::optional<std::string>>
sfsdp::runtime::checkSchemaVersion(JsonPlace program) {
  if (!program.find("schema_version") && !program.find("graph_module")) {
    return program.error("no exported program: expected schema_version and "
                         "graph_module, got neither");
  }
  if (!program.find("schema_version")) {
    return program.error("the exported program is too old: it has no "
                         "schema_version" +
                         std::string(kExportAgain));
  }
  Expected<JsonPlace> version = program.member("schema_version");
  if (!version) {
    return version.status();
  }
  int64_t major = 0;
  int64_t minor = 0;
  JsonFields fields(*version);
  fields.required("major", major);
  fields.required("minor", minor);
  if (Status status = fields.finish(); !status.ok()) {
    return status;
  }
  std::string got =
      "got " + std::to_string(major) + "." + std::to_string(minor);
  std::string expected = "expected schema version " +
                         std::to_string(kSchemaMajor) + "." +
                         std::to_string(kSchemaMinor) + ", " + got;
  if (major < kSchemaMajor) {
    return version->error("the exported program is too old: " + expected +
                          std::string(kExportAgain));
  }
  if (major > kSchemaMajor) {
    return version->error("the exported program is too new: " + expected +
                          "; use a newer build, or capture with an older "
                          "torch");
  }
  if (minor > kSchemaMinor) {
    return std::optional(
        version
            ->error("the exported program is newer than this build: " +
                    expected + "; what it adds is ignored")
            .message());
  }
  return std::optional<std::string>();
}
