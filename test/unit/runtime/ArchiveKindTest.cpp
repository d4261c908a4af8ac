//===- ArchiveKindTest.cpp - What kind of archive it is -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Archive.h"
#include "test/support/TemporaryFolder.h"
#include "test/support/ZipWriter.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using namespace sfsdp::test;

namespace {

const ZipEntry kFormat{"m/archive_format", "pt2"};
const ZipEntry kVersion{"m/archive_version", "0"};
const ZipEntry kModel{"m/models/model.json", "{}"};

/// The program's record, or the message without the path.
std::string kindOf(const std::vector<ZipEntry> &entries) {
  TemporaryFolder folder;
  std::string path = folder.write("a.pt2", makeZip(entries));
  Expected<Archive> archive = Archive::open(path);
  EXPECT_TRUE(archive) << archive.message();
  Expected<ExportedModel> model = findExportedModel(*archive);
  return model ? model->program : model.message().substr(path.size() + 2);
}

std::string schemaOf(std::string_view text) {
  Expected<JsonDocument> document = parseJson(text, "a.json");
  EXPECT_TRUE(document) << document.message();
  Expected<std::optional<std::string>> warning =
      checkSchemaVersion(document->root());
  if (!warning) {
    return "error: " + warning.message();
  }
  return *warning ? "warning: " + **warning : "";
}

} // namespace

TEST(ArchiveKind, FindsTheModel) {
  EXPECT_EQ(kindOf({kFormat, kVersion, kModel}), "models/model.json");
  EXPECT_EQ(kindOf({kFormat, kVersion, {"m/models/step.json", "{}"}}),
            "models/step.json");
}

TEST(ArchiveKind, F47ATorchScriptArchive) {
  std::string expected = "a TorchScript archive, expected an exported program; "
                         "capture the model instead of scripting or tracing it";
  EXPECT_EQ(kindOf({{"m/data.pkl", ""}, {"m/constants.pkl", ""}}), expected);
  // TorchScript compresses its code.
  EXPECT_EQ(
      kindOf({{"m/data.pkl", ""},
              {.name = "m/code/__torch__.py", .content = "x", .method = 8}}),
      expected);
}

TEST(ArchiveKind, F47APlainWeightsFile) {
  EXPECT_EQ(kindOf({{"m/data.pkl", ""}, {"m/data/0", ""}}),
            "a file of torch.save with weights or other objects only, expected "
            "an exported program; capture the model");
}

TEST(ArchiveKind, F47AnotherZipFile) {
  EXPECT_EQ(kindOf({{"m/readme.txt", ""}, {"m/x", ""}}),
            "not an export archive: it has no entry \"archive_format\"; "
            "expected a .pt2 file of torch.export.save or simplefsdp_capture");
  EXPECT_EQ(kindOf({{"m/archive_format", "zip"}, kVersion, kModel}),
            "not an export archive: expected archive_format \"pt2\", got "
            "\"zip\"");
}

TEST(ArchiveKind, F47TooOld) {
  EXPECT_EQ(
      kindOf({{"serialized_exported_program.json", "{}"}, {"version", "8.1"}}),
      "the archive is too old: it was written before torch 2.8; capture "
      "the model again with a supported torch");
  EXPECT_EQ(kindOf({kFormat, kModel}),
            "the archive is too old: it has no entry \"archive_version\"; "
            "capture the model again with a supported torch");
}

TEST(ArchiveKind, F47TooNew) {
  EXPECT_EQ(kindOf({kFormat, {"m/archive_version", "1"}, kModel}),
            "the archive is too new: expected version 0, got 1; use a newer "
            "build, or capture with an older torch");
  EXPECT_EQ(kindOf({kFormat, {"m/archive_version", "one"}, kModel}),
            "entry \"archive_version\": expected a number, got \"one\"");
}

TEST(ArchiveKind, RefusesNoOrSeveralModels) {
  EXPECT_EQ(kindOf({kFormat, kVersion}),
            "the archive holds no exported program: it has no entry "
            "\"models/NAME.json\"");
  EXPECT_EQ(kindOf({kFormat, kVersion, kModel, {"m/models/b.json", "{}"}}),
            "expected one exported program, got 2, among them \"model\" and "
            "\"b\"");
}

TEST(ArchiveKind, RefusesBigEndianWeights) {
  EXPECT_EQ(kindOf({kFormat, kVersion, kModel, {"m/byteorder", "big"}}),
            "expected little-endian weights, got byte order \"big\"");
}

TEST(SchemaVersion, F47IsCompared) {
  EXPECT_EQ(schemaOf(R"({"schema_version": {"major": 8, "minor": 20}})"), "");
  EXPECT_EQ(schemaOf(R"({"schema_version": {"major": 8, "minor": 1}})"), "");
  EXPECT_EQ(schemaOf(R"({"schema_version": {"major": 8, "minor": 21}})"),
            "warning: a.json: schema_version: the exported program is newer "
            "than this build: expected schema version 8.20, got 8.21; what it "
            "adds is ignored");
  EXPECT_EQ(schemaOf(R"({"schema_version": {"major": 9, "minor": 0}})"),
            "error: a.json: schema_version: the exported program is too new: "
            "expected schema version 8.20, got 9.0; use a newer build, or "
            "capture with an older torch");
  EXPECT_EQ(schemaOf(R"({"schema_version": {"major": 7, "minor": 3}})"),
            "error: a.json: schema_version: the exported program is too old: "
            "expected schema version 8.20, got 7.3; capture the model again "
            "with a supported torch");
  EXPECT_EQ(schemaOf("{}"),
            "error: a.json: no exported program: expected schema_version and "
            "graph_module, got neither");
  EXPECT_EQ(schemaOf(R"({"graph_module": {}})"),
            "error: a.json: the exported program is too old: it has no "
            "schema_version; capture the model again with a supported torch");
}
