//===- GraphFileTest.cpp - Captured graphs are found in their files -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Archives of other producers are read, what is no graph is refused by name,
// and constants of any size stay outside.
//
//===----------------------------------------------------------------------===//

#include "passes/import/GraphFile.h"

#include "test/support/ProgramText.h"
#include "test/support/TemporaryFolder.h"
#include "test/support/ZipWriter.h"

#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace sfsdp::test {
namespace {

using namespace sfsdp::exported;

constexpr std::string_view kManifestText =
    R"({"schema": 1, "inputs": [], "parameters": [], "loss": "loss",
        "train": true})";

std::vector<ZipEntry> smallArchive() {
  return {{"a/archive_format", "pt2"},
          {"a/archive_version", "0"},
          {"a/models/model.json", smallStep().text()}};
}

Expected<GraphFile> readBytes(const TemporaryFolder &folder,
                              const std::string &bytes) {
  return readGraphFile(folder.write("step.pt2", bytes));
}

void expectError(const Expected<GraphFile> &file, std::string_view part) {
  ASSERT_FALSE(file.ok()) << "expected an error with: " << part;
  EXPECT_NE(file.message().find(part), std::string::npos) << file.message();
}

TEST(GraphFileTest, ReadsArchivesOfOtherProducers) {
  std::string folder = std::string(SFSDP_TEST_INPUTS) + "/archives";
  size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".pt2") {
      Expected<GraphFile> file = readGraphFile(entry.path().string());
      EXPECT_TRUE(file.ok()) << file.message();
      ++count;
    }
  }
  EXPECT_EQ(count, 12u);
}

TEST(GraphFileTest, ReadsABareProgram) {
  TemporaryFolder folder;
  Expected<GraphFile> file = readBytes(folder, smallStep().text());
  ASSERT_TRUE(file.ok()) << file.message();
  EXPECT_EQ(file->name, "step.pt2");
  EXPECT_EQ(file->entry, "");
  EXPECT_EQ(file->program.nodes.size(), 5u);
  EXPECT_FALSE(file->manifest);
}

TEST(GraphFileTest, DigestCoversProgramAndManifest) {
  TemporaryFolder folder;
  std::vector<ZipEntry> entries = smallArchive();
  Expected<GraphFile> plain = readBytes(folder, makeZip(entries));
  ASSERT_TRUE(plain.ok()) << plain.message();
  EXPECT_EQ(plain->entry, "models/model.json");
  entries.push_back({"a/data/weights/weight_0", "0123456789abcdef"});
  Expected<GraphFile> weights = readBytes(folder, makeZip(entries));
  ASSERT_TRUE(weights.ok()) << weights.message();
  EXPECT_EQ(weights->sha256, plain->sha256);
  entries.push_back({"a/extra/simplefsdp.json", std::string(kManifestText)});
  Expected<GraphFile> manifest = readBytes(folder, makeZip(entries));
  ASSERT_TRUE(manifest.ok()) << manifest.message();
  EXPECT_TRUE(manifest->manifest);
  EXPECT_NE(manifest->sha256, plain->sha256);
}

TEST(GraphFileTest, F47KindsOfFilesHaveTheirMessages) {
  TemporaryFolder folder;
  ProgramText program = smallStep();
  program.major = 9;
  std::vector<ZipEntry> entries = smallArchive();
  entries[2].content = program.text();
  expectError(readBytes(folder, makeZip(entries)), "too new");
  program.major = 7;
  entries[2].content = program.text();
  expectError(readBytes(folder, makeZip(entries)), "too old");
  expectError(readBytes(folder, makeZip({{"a/constants.pkl", "x"}})),
              "TorchScript");
  expectError(readBytes(folder, makeZip({{"a/data.pkl", "x"}})), "weights");
  expectError(readBytes(folder, makeZip({})), "empty");
  expectError(readBytes(folder, "not a zip file"), "zip");
}

TEST(GraphFileTest, F48TruncationIsFound) {
  TemporaryFolder folder;
  std::string whole = makeZip(smallArchive());
  for (size_t length : {whole.size() / 10, whole.size() / 2,
                        whole.size() * 99 / 100, whole.size() - 22}) {
    expectError(readBytes(folder, whole.substr(0, length)),
                "truncated or corrupt");
  }
}

TEST(GraphFileTest, F48DamageOfTheGraphNamesItsEntry) {
  TemporaryFolder folder;
  std::string bytes = makeZip(smallArchive());
  bytes[bytes.find("tensor_values")] ^= 1;
  expectError(readBytes(folder, bytes), "models/model.json");
}

TEST(GraphFileTest, ConstantsWithoutBytesAreListed) {
  TemporaryFolder folder;
  std::vector<ZipEntry> entries = smallArchive();
  entries.push_back({"a/data/constants/model_constants_config.json", R"({
    "config": {
      "full": {"path_name": "tensor_0", "tensor_meta": {"sizes": [{"as_int": 2}]}},
      "empty": {"path_name": "tensor_1", "tensor_meta": {"sizes": [{"as_int": 2}]}},
      "none": {"path_name": "tensor_1", "tensor_meta": {"sizes": [{"as_int": 0}]}}
    }})"});
  entries.push_back({"a/data/constants/tensor_0", "12345678"});
  entries.push_back({"a/data/constants/tensor_1", ""});
  Expected<GraphFile> file = readBytes(folder, makeZip(entries));
  ASSERT_TRUE(file.ok()) << file.message();
  EXPECT_EQ(file->withoutBytes, std::set<std::string>{"empty"});
}

TEST(GraphFileTest, OneWeightUnderTwoNamesIsNoted) {
  auto table = [](std::string_view offset) {
    return R"({"config": {
      "a": {"path_name": "weight_0", "tensor_meta": {
        "sizes": [{"as_int": 2}], "strides": [{"as_int": 1}],
        "storage_offset": {"as_int": 0}}},
      "b": {"path_name": "weight_0", "tensor_meta": {
        "sizes": [{"as_int": 2}], "strides": [{"as_int": 1}],
        "storage_offset": {"as_int": )" +
           std::string(offset) + "}}}}}";
  };
  auto read = [&](std::string_view offset, const std::string &content) {
    TemporaryFolder folder;
    std::vector<ZipEntry> entries = smallArchive();
    entries.push_back(
        {"a/data/weights/model_weights_config.json", table(offset)});
    entries.push_back({"a/data/weights/weight_0", content});
    Expected<GraphFile> file = readBytes(folder, makeZip(entries));
    EXPECT_TRUE(file.ok()) << file.message();
    return file ? file->sharedWeights : std::nullopt;
  };
  EXPECT_EQ(read("0", "0123456789abcdef"),
            (std::pair<std::string, std::string>("a", "b")));
  EXPECT_EQ(read("2", "0123456789abcdef"), std::nullopt);
  // All fake weights share one empty record.
  EXPECT_EQ(read("0", ""), std::nullopt);
}

/// Writes `zip` to `path` with one more record, `name`, of `size` zero bytes
/// that take no place on disk.
void writeWithHole(const std::string &path, const std::string &zip,
                   const std::string &name, uint64_t size) {
  std::string end = zip.substr(zip.size() - 22);
  auto field = [&](size_t at) {
    uint32_t value = 0;
    std::memcpy(&value, end.data() + at, sizeof(value));
    return value;
  };
  uint64_t directoryBytes = field(12);
  uint64_t directoryAt = field(16);
  uint16_t count = field(8) & 0xffff;
  std::string extra = FieldWriter().u16(1).u16(16).u64(size).u64(size).bytes;
  FieldWriter header;
  header.u32(0x04034b50).u16(45).u16(0).u16(0).u32(0).u32(0);
  header.u32(0xffffffff).u32(0xffffffff).u16(name.size()).u16(extra.size());
  header.text(name).text(extra);
  FieldWriter tail;
  tail.text(zip.substr(directoryAt, directoryBytes));
  tail.u32(0x02014b50).u16(45).u16(45).u16(0).u16(0).u32(0).u32(0);
  tail.u32(0xffffffff).u32(0xffffffff).u16(name.size()).u16(extra.size());
  tail.u16(0).u16(0).u16(0).u32(0).u32(directoryAt).text(name).text(extra);
  uint64_t newDirectoryAt = directoryAt + header.bytes.size() + size;
  uint64_t newDirectoryBytes = tail.bytes.size();
  uint64_t zip64At = newDirectoryAt + newDirectoryBytes;
  tail.u32(0x06064b50).u64(44).u16(45).u16(45).u32(0).u32(0);
  tail.u64(count + 1).u64(count + 1).u64(newDirectoryBytes).u64(newDirectoryAt);
  tail.u32(0x07064b50).u32(0).u64(zip64At).u32(1);
  tail.u32(0x06054b50).u16(0).u16(0).u16(count + 1).u16(count + 1);
  tail.u32(newDirectoryBytes).u32(0xffffffff).u16(0);
  std::ofstream file(path, std::ios::binary);
  file << zip.substr(0, directoryAt) << header.bytes;
  file.seekp(newDirectoryAt);
  file << tail.bytes;
}

TEST(GraphFileTest, F53LargeConstantsStayOutside) {
  constexpr uint64_t kThreeGiB = uint64_t{3} << 30;
  constexpr long kMostKiB = 1 << 20;
  TemporaryFolder folder;
  std::vector<ZipEntry> entries = smallArchive();
  entries.push_back({"a/data/constants/model_constants_config.json", R"({
    "config": {"table": {"path_name": "tensor_0",
                         "tensor_meta": {"sizes": [{"as_int": 805306368}]}}}})"});
  std::string path = folder.path("large.pt2");
  writeWithHole(path, makeZip(entries), "a/data/constants/tensor_0", kThreeGiB);
  Expected<GraphFile> file = readGraphFile(path);
  ASSERT_TRUE(file.ok()) << file.message();
  EXPECT_TRUE(file->withoutBytes.empty());
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, kMostKiB);
}

TEST(GraphFileTest, TellsGraphsFromText) {
  EXPECT_TRUE(looksLikeGraph(makeZip({}).substr(0, 4)));
  EXPECT_TRUE(looksLikeGraph("{\"graph_module\": {}}"));
  EXPECT_FALSE(looksLikeGraph("module {\n}"));
  EXPECT_FALSE(looksLikeGraph("{-#\n#-}"));
  EXPECT_FALSE(looksLikeGraph(""));
}

} // namespace
} // namespace sfsdp::test
