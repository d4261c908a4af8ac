//===- SafetensorsWriterTest.cpp - Writing safetensors files -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Safetensors.h"
#include "test/support/TemporaryFolder.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using sfsdp::test::TemporaryFolder;

namespace {

std::span<const std::byte> bytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

Expected<SafetensorsWriter> createPair(const std::string &path,
                                       bool swapped = false) {
  std::vector<SafetensorsSpec> specs = {{"flag", DType::Bool, {3}},
                                        {"weight", DType::Float32, {1, 2}}};
  if (swapped) {
    std::swap(specs[0], specs[1]);
  }
  return SafetensorsWriter::create(path, specs, {{"format", "pt"}});
}

void writePair(SafetensorsWriter &writer) {
  EXPECT_TRUE(writer.write("flag", 0, bytesOf("xyz")).ok());
  EXPECT_TRUE(writer.write("weight", 4, bytesOf("4567")).ok());
  EXPECT_TRUE(writer.write("weight", 0, bytesOf("0123")).ok());
}

} // namespace

TEST(SafetensorsWriter, OrdersBySizeThenNameAndAligns) {
  TemporaryFolder folder;
  for (bool swapped : {false, true}) {
    Expected<SafetensorsWriter> writer = createPair(folder.path("f"), swapped);
    ASSERT_TRUE(writer) << writer.message();
    writePair(*writer);
    ASSERT_TRUE(writer->commit().ok());
    std::string header =
        R"({"__metadata__": {"format": "pt"}, )"
        R"("weight": {"dtype": "F32", "shape": [1, 2], )"
        R"("data_offsets": [0, 8]}, )"
        R"("flag": {"dtype": "BOOL", "shape": [3], "data_offsets": [8, 11]}})";
    // 169 bytes, padded to 176.
    header.resize((header.size() + 7) / 8 * 8, ' ');
    std::string length(8, '\0');
    length[0] = static_cast<char>(header.size());
    EXPECT_EQ(folder.read("f"), length + header + "01234567" + "xyz");
  }
}

TEST(SafetensorsWriter, IsReadBack) {
  TemporaryFolder folder;
  Expected<SafetensorsWriter> writer = SafetensorsWriter::create(
      folder.path("f"),
      {{"empty", DType::BFloat16, {0, 5}}, {"scalar", DType::Int64, {}}});
  ASSERT_TRUE(writer) << writer.message();
  ASSERT_TRUE(writer->write("scalar", 0, bytesOf("12345678")).ok());
  ASSERT_TRUE(writer->commit().ok());
  Expected<Safetensors> file = Safetensors::open(folder.path("f"));
  ASSERT_TRUE(file) << file.message();
  EXPECT_EQ(file->find("empty")->bytes, 0u);
  std::string content(8, ' ');
  ASSERT_TRUE(file->read(*file->find("scalar"), 0,
                         std::as_writable_bytes(std::span(content)))
                  .ok());
  EXPECT_EQ(content, "12345678");
}

TEST(SafetensorsWriter, F48NothingAppearsBeforeCommit) {
  TemporaryFolder folder;
  {
    Expected<SafetensorsWriter> writer = createPair(folder.path("f"));
    ASSERT_TRUE(writer) << writer.message();
    writePair(*writer);
    EXPECT_FALSE(std::filesystem::exists(folder.path("f")));
  }
  EXPECT_EQ(folder.count(), 0u);
}

TEST(SafetensorsWriter, RefusesToCommitWhatIsIncomplete) {
  TemporaryFolder folder;
  Expected<SafetensorsWriter> writer = createPair(folder.path("f"));
  ASSERT_TRUE(writer) << writer.message();
  ASSERT_TRUE(writer->write("flag", 0, bytesOf("xyz")).ok());
  EXPECT_EQ(writer->commit().message(),
            folder.path("f") + ": tensor \"weight\": expected 8 bytes, got 0");
}

TEST(SafetensorsWriter, StaysInsideItsTensors) {
  TemporaryFolder folder;
  Expected<SafetensorsWriter> writer = createPair(folder.path("f"));
  ASSERT_TRUE(writer) << writer.message();
  EXPECT_EQ(writer->write("flag", 1, bytesOf("xyz")).message(),
            folder.path("f") + ": cannot write 3 bytes at 1 of tensor "
                               "\"flag\", which has 3");
  EXPECT_EQ(writer->write("other", 0, bytesOf("x")).message(),
            folder.path("f") + ": no tensor \"other\" was announced");
}

TEST(SafetensorsWriter, RefusesNamesThatMeet) {
  TemporaryFolder folder;
  for (const char *name : {"a", "__metadata__"}) {
    EXPECT_EQ(
        SafetensorsWriter::create(folder.path("f"), {{name, DType::Bool, {1}},
                                                     {name, DType::Bool, {1}}})
            .message(),
        folder.path("f") + ": tensor \"" + name +
            "\": expected names that are unique and not __metadata__");
  }
  EXPECT_EQ(folder.count(), 0u);
}
