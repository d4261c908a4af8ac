//===- GraphFile.cpp - A captured graph from disk -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See GraphFile.h.
//
// Tested by test/unit/passes/import/GraphFileTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/import/GraphFile.h"

#include "passes/import/Payloads.h"
#include "runtime/Digest.h"

namespace sfsdp::exported {

using runtime::Archive;
using runtime::JsonDocument;

namespace {

constexpr std::string_view kZipMark = "PK";

std::string baseName(const std::string &path) {
  return path.substr(path.find_last_of('/') + 1);
}

/// The value that `read` makes of the JSON in `text`.
template <typename Read>
auto readText(std::string_view text, std::string_view name, Read read)
    -> decltype(read(std::declval<JsonPlace>())) {
  Expected<JsonDocument> document = runtime::parseJson(text, name);
  if (!document) {
    return document.status();
  }
  return read(document->root());
}

//===----------------------------------------------------------------------===//
// Program and manifest
//===----------------------------------------------------------------------===//

/// `name` is what messages call the text.
Status readProgramText(std::string_view text, std::string_view name,
                       GraphFile &file) {
  Expected<Program> program = readText(text, name, readProgram);
  if (program) {
    file.program = std::move(*program);
  }
  return program.status();
}

/// Reads the manifest if there is one; gives its text.
Expected<std::string> readManifestText(const Archive &archive,
                                       GraphFile &file) {
  if (archive.find(kManifestRecord) == nullptr) {
    return std::string();
  }
  Expected<std::string> text = archive.read(kManifestRecord);
  if (!text) {
    return text;
  }
  Expected<Manifest> manifest = readText(*text, kManifestRecord, readManifest);
  if (!manifest) {
    return manifest.status();
  }
  file.manifest = std::move(*manifest);
  return text;
}

Status readTables(const Archive &archive, const std::string &model,
                  GraphFile &file) {
  Expected<Payloads> constants = readPayloads(archive, "constants", model);
  if (!constants) {
    return constants.status();
  }
  Expected<Payloads> weights = readPayloads(archive, "weights", model);
  if (!weights) {
    return weights.status();
  }
  file.withoutBytes = namesWithoutBytes(*constants);
  file.sharedWeights = findShared(*weights);
  return Status();
}

Expected<GraphFile> readArchive(const std::string &path) {
  Expected<Archive> archive = Archive::open(path);
  if (!archive) {
    return archive.status();
  }
  Expected<runtime::ExportedModel> model = runtime::findExportedModel(*archive);
  if (!model) {
    return model.status();
  }
  Expected<std::string> text = archive->read(model->program);
  if (!text) {
    return text.status();
  }
  GraphFile file;
  file.name = baseName(path);
  file.entry = model->program;
  if (Status status = readProgramText(*text, file.entry, file); !status.ok()) {
    return status;
  }
  Expected<std::string> manifest = readManifestText(*archive, file);
  if (!manifest) {
    return manifest.status();
  }
  runtime::Sha256 digest;
  digest.update(*text);
  digest.update(*manifest);
  file.sha256 = digest.hex();
  if (Status status = readTables(*archive, model->name, file); !status.ok()) {
    return status;
  }
  return file;
}

Expected<GraphFile> readBareProgram(const std::string &path) {
  Expected<std::string> text =
      runtime::readFile(path, runtime::JsonLimits().maxBytes);
  if (!text) {
    return text.status();
  }
  GraphFile file;
  file.name = baseName(path);
  file.sha256 = runtime::sha256(*text);
  if (Status status = readProgramText(*text, path, file); !status.ok()) {
    return status;
  }
  return file;
}

/// The first bytes of the file at `path`.
Expected<std::string> readStart(const std::string &path) {
  Expected<runtime::InputFile> file = runtime::InputFile::open(path);
  if (!file) {
    return file.status();
  }
  std::string start(std::min<uint64_t>(file->size(), 16), '\0');
  Status status = file->read(0, std::span<char>(start));
  if (!status.ok()) {
    return status;
  }
  return start;
}

} // namespace

bool looksLikeGraph(std::string_view bytes) {
  // A text of IR may begin with a dictionary of resources, "{-#".
  return bytes.starts_with(kZipMark) ||
         (bytes.starts_with('{') && !bytes.starts_with("{-#"));
}

Expected<GraphFile> readGraphFile(const std::string &path) {
  Expected<std::string> start = readStart(path);
  if (!start) {
    return start.status();
  }
  // Whatever is neither is refused as an archive, which says what it is.
  return start->starts_with('{') ? readBareProgram(path) : readArchive(path);
}

} // namespace sfsdp::exported
