//===- ArchiveTest.cpp - Zip archives of stored records -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Archive.h"
#include "test/support/MemoryFile.h"
#include "test/support/Mutate.h"
#include "test/support/TemporaryFolder.h"
#include "test/support/ZipWriter.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using namespace sfsdp::test;

namespace {

const std::string kProgram = R"({"graph": [1, 2, 3], "schema_version": 8})";

/// Two records under one root, in the form that torch writes.
std::string torchLike() {
  std::string weight;
  for (int i = 0; i < 3000; ++i) {
    weight += static_cast<char>(i * 37);
  }
  return makeZip({{.name = "m/data/weights/weight_0",
                   .content = weight,
                   .hasDescriptor = true},
                  {.name = "m/models/model.json",
                   .content = kProgram,
                   .hasDescriptor = true}},
                 {.isLarge = true});
}

/// Opens the archive and reads all of it; the first message.
std::string readAll(const std::string &path) {
  Expected<Archive> archive = Archive::open(path);
  if (!archive) {
    return archive.message();
  }
  for (const Record &record : archive->records()) {
    if (Status status = archive->verify(record); !status.ok()) {
      return status.message();
    }
    if (Expected<std::string> content = archive->read(record.name); !content) {
      return content.message();
    }
  }
  return "";
}

std::string messageFor(const std::string &bytes) {
  MemoryFile file(bytes);
  std::string path = file.path();
  std::string message = readAll(path);
  return message.starts_with(path) ? "a.pt2" + message.substr(path.size())
                                   : message;
}

std::string damaged(size_t bytes, const std::string &detail) {
  return "a.pt2: truncated or corrupt archive (" + std::to_string(bytes) +
         " bytes): " + detail + "; download or save it again";
}

std::string replaced(std::string text, std::string_view from,
                     std::string_view to, size_t occurrence = 0) {
  size_t at = text.find(from);
  for (; occurrence > 0; --occurrence) {
    at = text.find(from, at + 1);
  }
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, from.size(), to);
}

} // namespace

TEST(Archive, ReadsRecordsWithoutTheirRoot) {
  TemporaryFolder folder;
  Expected<Archive> archive = Archive::open(folder.write("a", torchLike()));
  ASSERT_TRUE(archive) << archive.message();
  ASSERT_EQ(archive->records().size(), 2u);
  EXPECT_EQ(archive->records()[0].name, "data/weights/weight_0");
  EXPECT_EQ(archive->records()[0].size, 3000u);
  EXPECT_EQ(*archive->read("models/model.json"), kProgram);
  Expected<JsonDocument> program = archive->readJson("models/model.json");
  ASSERT_TRUE(program) << program.message();
  EXPECT_EQ(program->name, folder.path("a") + "(models/model.json)");
}

TEST(Archive, ReadsEveryFormOfEntry) {
  for (bool hasDescriptor : {false, true}) {
    for (bool isLarge : {false, true}) {
      for (bool isLargeEnd : {false, true}) {
        std::string bytes = makeZip({{.name = "a",
                                      .content = "content",
                                      .hasDescriptor = hasDescriptor,
                                      .isLarge = isLarge},
                                     {.name = "empty", .content = ""}},
                                    {.isLarge = isLargeEnd, .comment = "PK!"});
        EXPECT_EQ(messageFor(bytes), "")
            << hasDescriptor << isLarge << isLargeEnd;
      }
    }
  }
}

TEST(Archive, KeepsNamesWithoutCommonRoot) {
  TemporaryFolder folder;
  std::string bytes = makeZip({{"m/a", "1"}, {"n/a", "2"}, {"n/", ""}});
  Expected<Archive> archive = Archive::open(folder.write("a", bytes));
  ASSERT_TRUE(archive) << archive.message();
  EXPECT_EQ(archive->records().size(), 2u);
  EXPECT_TRUE(archive->find("n/a"));
  EXPECT_FALSE(archive->find("a"));
}

TEST(Archive, ReadsSlicesWithinARecordOnly) {
  TemporaryFolder folder;
  std::string bytes = makeZip({{"a", "0123456789"}, {"b", "x"}});
  Expected<Archive> archive = Archive::open(folder.write("z", bytes));
  ASSERT_TRUE(archive) << archive.message();
  const Record &record = *archive->find("a");
  std::string slice(3, ' ');
  std::span<std::byte> out = std::as_writable_bytes(std::span(slice));
  ASSERT_TRUE(archive->readAt(record, 7, out).ok());
  EXPECT_EQ(slice, "789");
  EXPECT_EQ(archive->readAt(record, 8, out).message(),
            folder.path("z") + ": cannot read 3 bytes at 8 of entry \"a\", "
                               "which has 10");
  EXPECT_FALSE(archive->readAt(record, UINT64_MAX, out).ok());
  EXPECT_EQ(archive->read("a", 9).message(),
            folder.path("z") +
                ": expected at most 9 bytes in entry \"a\", got 10");
  EXPECT_EQ(archive->read("c").message(),
            folder.path("z") + ": the archive has no entry \"c\"");
}

TEST(Archive, F47EmptyAndForeignFilesHaveTheirOwnMessages) {
  EXPECT_EQ(messageFor(""), "a.pt2: the file is empty (0 bytes)");
  EXPECT_EQ(messageFor(makeZip({})),
            "a.pt2: the archive is empty: it has no entries");
  EXPECT_EQ(messageFor("<html>not found</html>"),
            "a.pt2: not an archive: expected a zip file, as "
            "torch.export.save writes it");
}

TEST(Archive, F48EveryCutIsTruncatedOrCorrupt) {
  std::string good = torchLike();
  ASSERT_EQ(messageFor(good), "");
  for (size_t kept : {good.size() / 10, good.size() / 2, good.size() * 99 / 100,
                      good.size() - 22}) {
    EXPECT_EQ(messageFor(good.substr(0, kept)),
              damaged(kept, "its end is missing"));
  }
  for (size_t kept = 0; kept < good.size(); ++kept) {
    EXPECT_NE(messageFor(good.substr(0, kept)), "") << kept;
  }
}

TEST(Archive, F48AFlippedByteNamesItsEntry) {
  std::string good = torchLike();
  std::string badProgram = replaced(good, "\"graph\"", "\"grapX\"");
  EXPECT_TRUE(messageFor(badProgram)
                  .starts_with("a.pt2: truncated or corrupt archive (" +
                               std::to_string(good.size()) +
                               " bytes): entry \"models/model.json\" fails "
                               "its checksum, expected "))
      << messageFor(badProgram);
  std::string badWeight = good;
  badWeight[1000] ^= 1;
  EXPECT_NE(messageFor(badWeight).find(
                "entry \"data/weights/weight_0\" fails its checksum"),
            std::string::npos);
}

TEST(Archive, F48NoFlippedByteGoesUnnoticed) {
  std::string good =
      makeZip({{.name = "m/a", .content = "content"},
               {.name = "m/b", .content = "more", .hasDescriptor = true}},
              {.isLarge = true});
  // Fields without meaning for a reader: versions, times, attributes.
  size_t unnoticed = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] ^= 1;
    unnoticed += messageFor(bad).empty();
  }
  // Per entry: local 2 + 4 bytes, central 4 + 4 + 6; ZIP64 end 4; disks of its
  // locator 4 + 4.
  EXPECT_LE(unnoticed, 2u * (6 + 14) + 4 + 8);
}

TEST(Archive, HeadersMustAgree) {
  std::string good = makeZip({{"first", "content"}, {"second", "more"}});
  EXPECT_EQ(
      messageFor(replaced(good, "first", "other")),
      damaged(good.size(), "entry \"first\" contradicts its local header"));
  // Local sizes: bytes 18 and 22 of the first header.
  std::string size = good;
  size[18] = 8;
  EXPECT_EQ(
      messageFor(size),
      damaged(good.size(), "entry \"first\" contradicts its local header"));
  std::string method = good;
  method[8] = 8;
  EXPECT_EQ(
      messageFor(method),
      damaged(good.size(), "entry \"first\" contradicts its local header"));
}

TEST(Archive, EntriesMustNotOverlapOrRepeat) {
  // An entry whose content is itself a local entry, listed as well.
  std::string inner = makeZip({{"in", "xyz"}});
  std::string local = inner.substr(0, 30 + 2 + 3);
  std::string outer = makeZip({{"out", local}, {"in", "xyz"}});
  size_t innerOffset = 30 + 3;
  std::string oldOffset =
      FieldWriter().u32(30 + 3 + local.size()).text("in").bytes;
  std::string newOffset = FieldWriter().u32(innerOffset).text("in").bytes;
  EXPECT_EQ(messageFor(replaced(outer, oldOffset, newOffset)),
            damaged(outer.size(), "entry \"in\" overlaps another"));

  std::string twice = makeZip({{"a", "1"}, {"a", "1"}});
  EXPECT_EQ(messageFor(twice),
            damaged(twice.size(), "entry \"a\" occurs twice"));
}

TEST(Archive, RefusesWhatIsNotStored) {
  std::string zip = makeZip({{.name = "a", .content = "1", .method = 8}});
  EXPECT_EQ(messageFor(zip), "a.pt2: entry \"a\" is compressed (method 8), "
                             "expected stored content; repack with zip -0");
  zip = makeZip({{.name = "a", .content = "1", .flags = 1}});
  EXPECT_EQ(messageFor(zip),
            "a.pt2: entry \"a\" is encrypted, expected plain content");
}

TEST(Archive, LimitsTheNumberOfEntries) {
  std::string zip = makeZip({{"a", "1"}}, {.isLarge = true});
  // The directory holds 1 header; both end records say 2^32 - 1 (16 bits:
  // "see ZIP64").
  std::string counts = FieldWriter().u64(1).u64(1).bytes;
  std::string many = FieldWriter().u64(0xffffffff).u64(0xffffffff).bytes;
  zip = replaced(zip, counts, many);
  zip = replaced(zip, FieldWriter().u32(0x06054b50).u32(0).u32(0x10001).bytes,
                 FieldWriter().u32(0x06054b50).u32(0).u32(0xffffffff).bytes);
  EXPECT_EQ(messageFor(zip),
            "a.pt2: expected at most 1048576 entries, got 4294967295");
}

TEST(Archive, F48SurvivesRandomDamage) {
  std::string good =
      makeZip({{.name = "m/a", .content = "content"},
               {.name = "m/b", .content = "more", .hasDescriptor = true},
               {.name = "m/c", .content = "", .isLarge = true}},
              {.isLarge = true});
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bad = mutate(good, random);
    std::string message = messageFor(bad);
    EXPECT_TRUE(message.empty() || message.starts_with("a.pt2: ")) << message;
  }
}
