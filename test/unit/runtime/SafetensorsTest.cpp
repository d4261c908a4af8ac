//===- SafetensorsTest.cpp - Reading safetensors files -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Safetensors.h"
#include "test/support/MemoryFile.h"
#include "test/support/Mutate.h"
#include "test/support/TemporaryFolder.h"
#include "test/support/ZipWriter.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using namespace sfsdp::test;

namespace {

std::string fileOf(std::string_view header, std::string_view buffer) {
  return FieldWriter().u64(header.size()).text(header).text(buffer).bytes;
}

/// "a" holds rows "01", "23", "45"; "b" holds one byte.
const std::string kGood =
    fileOf(R"({"__metadata__": {"format": "pt"},)"
           R"("b": {"dtype": "BOOL", "shape": [], "data_offsets": [6, 7]},)"
           R"("a": {"dtype": "U8", "shape": [3, 2], "data_offsets": [0, 6]}})",
           "0123456");

/// Opens the file and reads all of it; the message after the path.
std::string messageFor(const std::string &bytes) {
  MemoryFile stored(bytes);
  std::string path = stored.path();
  Expected<Safetensors> file = Safetensors::open(path);
  if (!file) {
    EXPECT_TRUE(file.message().starts_with(path)) << file.message();
    return file.message().substr(path.size());
  }
  for (const SafetensorsTensor &tensor : file->tensors()) {
    std::vector<std::byte> content(tensor.bytes);
    EXPECT_TRUE(file->read(tensor, 0, content).ok());
  }
  return "";
}

std::string damaged(size_t bytes, const std::string &detail) {
  return ": truncated or corrupt safetensors file (" + std::to_string(bytes) +
         " bytes): " + detail;
}

std::string oneTensor(const std::string &fields) {
  return messageFor(fileOf("{\"w\": {" + fields + "}}", "0123"));
}

std::string readRows(const Safetensors &file, int64_t begin, int64_t end) {
  std::string rows(2 * (end - begin), ' ');
  Status status = file.readRows(*file.find("a"), begin, end,
                                std::as_writable_bytes(std::span(rows)));
  return status.ok() ? rows : status.message();
}

} // namespace

TEST(Safetensors, ReadsTensorsAndMetadata) {
  TemporaryFolder folder;
  Expected<Safetensors> file = Safetensors::open(folder.write("f", kGood));
  ASSERT_TRUE(file) << file.message();
  EXPECT_EQ(file->metadata(), (SafetensorsMetadata{{"format", "pt"}}));
  ASSERT_EQ(file->tensors().size(), 2u);
  EXPECT_EQ(file->tensors()[0].name, "a");
  EXPECT_EQ(file->tensors()[0].dtype, DType::UInt8);
  EXPECT_EQ(file->tensors()[0].shape, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(file->find("b")->bytes, 1u);
  EXPECT_EQ(file->find("c"), nullptr);
}

TEST(Safetensors, ReadsRows) {
  TemporaryFolder folder;
  Expected<Safetensors> file = Safetensors::open(folder.write("f", kGood));
  ASSERT_TRUE(file) << file.message();
  EXPECT_EQ(readRows(*file, 0, 3), "012345");
  EXPECT_EQ(readRows(*file, 1, 2), "23");
  EXPECT_EQ(readRows(*file, 3, 3), "");
  EXPECT_EQ(readRows(*file, 2, 4),
            folder.path("f") +
                ": cannot read rows 2 to 4 of tensor \"a\", which has 3");
  std::byte out[2];
  EXPECT_FALSE(file->read(*file->find("b"), 0, out).ok());
}

TEST(Safetensors, F48EveryCutIsRefused) {
  EXPECT_EQ(messageFor(kGood), "");
  for (size_t kept = 0; kept < kGood.size(); ++kept) {
    EXPECT_TRUE(
        messageFor(kGood.substr(0, kept)).starts_with(": truncated or corrupt"))
        << kept;
  }
  EXPECT_EQ(
      messageFor(kGood.substr(0, kGood.size() - 1)),
      damaged(kGood.size() - 1,
              "its header says " + std::to_string(kGood.size()) + " bytes"));
  EXPECT_EQ(
      messageFor(kGood + "x"),
      damaged(kGood.size() + 1,
              "its header says " + std::to_string(kGood.size()) + " bytes"));
}

TEST(Safetensors, LimitsTheHeader) {
  EXPECT_EQ(messageFor(FieldWriter().u64(UINT64_MAX).text("{}").bytes),
            damaged(10, "its header of 18446744073709551615 bytes is longer "
                        "than the file or than 100 MB"));
}

TEST(Safetensors, RefusesHolesAndOverlaps) {
  auto twoTensors = [](const char *first, const char *second) {
    return messageFor(fileOf(
        std::string(R"({"a": {"dtype": "U8", "shape": [2], "data_offsets": )") +
            first +
            R"(}, "b": {"dtype": "U8", "shape": [2], "data_offsets": )" +
            second + "}}",
        "0123"));
  };
  EXPECT_EQ(twoTensors("[0, 2]", "[2, 4]"), "");
  EXPECT_EQ(twoTensors("[2, 4]", "[0, 2]"), "");
  EXPECT_NE(
      twoTensors("[0, 2]", "[1, 3]")
          .find("tensor \"b\" begins at byte 1 of the buffer, expected 2"),
      std::string::npos);
  EXPECT_NE(
      twoTensors("[1, 3]", "[3, 5]")
          .find("tensor \"a\" begins at byte 1 of the buffer, expected 0"),
      std::string::npos);
}

TEST(Safetensors, F48AShapeThatItsBytesDoNotHold) {
  EXPECT_EQ(
      oneTensor(R"("dtype": "F32", "shape": [2], "data_offsets": [0, 4])"),
      "(header): w: shape [2] of F32 has 8 bytes, data_offsets hold 4");
  EXPECT_EQ(
      oneTensor(R"("dtype": "F32", "shape": [4294967296, 4294967296],)"
                R"("data_offsets": [0, 4])"),
      "(header): w: shape [4294967296, 4294967296] of F32 has too many bytes, "
      "data_offsets hold 4");
}

TEST(Safetensors, RefusesMalformedTensors) {
  EXPECT_EQ(
      oneTensor(R"("dtype": "F8_E4M3", "shape": [4], "data_offsets": [0, 4])"),
      "(header): w: element type \"F8_E4M3\" is not supported");
  EXPECT_EQ(oneTensor(R"("dtype": "F32", "shape": [1], "data_offsets": [4])"),
            "(header): w: expected data_offsets [begin, end], got [4]");
  EXPECT_EQ(oneTensor(R"("dtype": "F32", "shape": [1])"),
            "(header): w: missing member \"data_offsets\"");
  EXPECT_EQ(messageFor(fileOf("[]", "")),
            "(header): expected an object, got an array");
}

TEST(Safetensors, SurvivesRandomDamage) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    messageFor(mutate(kGood, random));
  }
}

TEST(SafetensorsFolder, FollowsTheIndex) {
  TemporaryFolder folder;
  auto tensor = [](const std::string &name, const std::string &content) {
    return fileOf("{\"" + name + R"(": {"dtype": "U8", "shape": [2],)" +
                      R"("data_offsets": [0, 2]}})",
                  content);
  };
  folder.write("1.safetensors", tensor("a", "ab"));
  folder.write("2.safetensors", tensor("b", "cd"));
  folder.write("model.safetensors.index.json",
               R"({"metadata": {}, "weight_map": {)"
               R"("b": "2.safetensors", "a": "1.safetensors"}})");
  Expected<Safetensors> set = Safetensors::open(folder.path(""));
  ASSERT_TRUE(set) << set.message();
  ASSERT_EQ(set->tensors().size(), 2u);
  std::string content(2, ' ');
  std::span<std::byte> out = std::as_writable_bytes(std::span(content));
  ASSERT_TRUE(set->read(*set->find("b"), 0, out).ok());
  EXPECT_EQ(content, "cd");
  ASSERT_TRUE(set->read(*set->find("a"), 0, out).ok());
  EXPECT_EQ(content, "ab");
}

TEST(SafetensorsFolder, RefusesAnIndexThatIsWrong) {
  TemporaryFolder folder;
  folder.write("1.safetensors", kGood);
  auto openWith = [&](const char *map) {
    folder.write("model.safetensors.index.json",
                 std::string(R"({"weight_map": )") + map + "}");
    std::string message = Safetensors::open(folder.path("")).message();
    std::string where = folder.path("model.safetensors.index.json: ");
    return message.starts_with(where) ? message.substr(where.size()) : message;
  };
  EXPECT_EQ(openWith(R"({"c": "1.safetensors"})"),
            "tensor \"c\" is not in \"1.safetensors\", as the index says");
  EXPECT_EQ(openWith(R"({"a": "../1.safetensors"})"),
            "weight_map.a: expected the name of a file in this folder, got "
            "\"../1.safetensors\"");
  EXPECT_EQ(openWith(R"({"a": "9.safetensors"})"),
            folder.path("9.safetensors") +
                ": cannot open: No such file or directory");
}

TEST(SafetensorsFolder, TakesAFolderWithASingleFile) {
  TemporaryFolder folder;
  EXPECT_EQ(Safetensors::open(folder.path("")).message(),
            folder.path("") + ": expected a safetensors file, or a folder with "
                              "model.safetensors.index.json or "
                              "model.safetensors");
  folder.write("model.safetensors", kGood);
  EXPECT_TRUE(Safetensors::open(folder.path("")));
}
