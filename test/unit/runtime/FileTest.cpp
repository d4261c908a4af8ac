//===- FileTest.cpp - Reading by position and atomic writing -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/File.h"
#include "test/support/TemporaryFolder.h"

#include <array>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sfsdp::runtime;
using sfsdp::test::TemporaryFolder;

TEST(InputFile, ReadsByPosition) {
  TemporaryFolder folder;
  Expected<InputFile> file = InputFile::open(folder.write("a", "0123456789"));
  ASSERT_TRUE(file) << file.message();
  EXPECT_EQ(file->size(), 10u);
  std::array<char, 3> out;
  ASSERT_TRUE(file->read(7, out).ok());
  EXPECT_EQ(std::string_view(out.data(), 3), "789");
}

TEST(InputFile, RefusesToReadPastTheEnd) {
  TemporaryFolder folder;
  Expected<InputFile> file = InputFile::open(folder.write("a", "0123456789"));
  ASSERT_TRUE(file);
  std::array<char, 3> out;
  EXPECT_EQ(file->read(8, out).message(),
            folder.path("a") +
                ": cannot read 3 bytes at 8: the file has 10 bytes");
  EXPECT_FALSE(file->read(UINT64_MAX, out).ok());
}

TEST(InputFile, AFileThatBecameShorterIsAnError) {
  TemporaryFolder folder;
  Expected<InputFile> file = InputFile::open(folder.write("a", "0123456789"));
  ASSERT_TRUE(file);
  std::filesystem::resize_file(folder.path("a"), 4);
  std::array<char, 8> out;
  EXPECT_EQ(file->read(0, out).message(),
            folder.path("a") + ": the file became shorter while it was read, "
                               "expected 10 bytes");
}

TEST(InputFile, RefusesWhatIsNoRegularFile) {
  TemporaryFolder folder;
  EXPECT_EQ(InputFile::open(folder.path("")).message(),
            folder.path("") + ": expected a regular file, got a folder");
  // Opening the reading end of a pipe would wait for a writer.
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(InputFile::open(folder.path("pipe")).message(),
            folder.path("pipe") +
                ": expected a regular file, got a special file");
}

TEST(ReadFile, LimitsSize) {
  TemporaryFolder folder;
  std::string path = folder.write("a", "01234");
  EXPECT_EQ(*readFile(path, 5), "01234");
  EXPECT_EQ(readFile(path, 4).message(),
            path + ": expected at most 4 bytes, got 5");
}

TEST(AtomicFile, F48NothingRemainsWithoutCommit) {
  TemporaryFolder folder;
  {
    Expected<AtomicFile> file = AtomicFile::create(folder.path("a"));
    ASSERT_TRUE(file) << file.message();
    ASSERT_TRUE(file->write(0, "half").ok());
    EXPECT_FALSE(std::filesystem::exists(folder.path("a")));
  }
  EXPECT_EQ(folder.count(), 0u);
}

TEST(AtomicFile, F48ReplacesWholeFilesOnly) {
  TemporaryFolder folder;
  folder.write("a", "old content");
  Expected<AtomicFile> file = AtomicFile::create(folder.path("a"));
  ASSERT_TRUE(file) << file.message();
  ASSERT_TRUE(file->write(3, "end").ok());
  ASSERT_TRUE(file->write(0, "new").ok());
  EXPECT_EQ(folder.read("a"), "old content");
  ASSERT_TRUE(file->commit().ok());
  EXPECT_EQ(folder.read("a"), "newend");
  EXPECT_EQ(folder.count(), 1u);
}

TEST(AtomicFile, F48AKilledWriterLeavesTheOldFile) {
  TemporaryFolder folder;
  folder.write("a", "old content");
  pid_t child = ::fork();
  if (child == 0) {
    Expected<AtomicFile> file = AtomicFile::create(folder.path("a"));
    (void)file->write(0, "new");
    ::raise(SIGKILL);
  }
  int exitStatus = 0;
  ASSERT_EQ(::waitpid(child, &exitStatus, 0), child);
  ASSERT_TRUE(WIFSIGNALED(exitStatus));
  EXPECT_EQ(folder.read("a"), "old content");
}

TEST(AtomicFile, DoesNotReplaceWhatIsNoFile) {
  TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(AtomicFile::create(folder.path("pipe")).message(),
            folder.path("pipe") +
                ": expected a regular file, got a special file");
  EXPECT_EQ(AtomicFile::create(folder.path("")).message(),
            folder.path("") + ": expected a regular file, got a folder");
}

TEST(AtomicFile, TwoWritersDoNotMeet) {
  TemporaryFolder folder;
  Expected<AtomicFile> first = AtomicFile::create(folder.path("a"));
  Expected<AtomicFile> second = AtomicFile::create(folder.path("a"));
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(first->write(0, "first").ok());
  ASSERT_TRUE(second->write(0, "second").ok());
  ASSERT_TRUE(second->commit().ok());
  ASSERT_TRUE(first->commit().ok());
  EXPECT_EQ(folder.read("a"), "first");
}

TEST(WriteFile, NamesAFolderThatIsMissing) {
  TemporaryFolder folder;
  EXPECT_EQ(writeFile(folder.path("none/a"), "x").message(),
            folder.path("none/a") +
                ": cannot create: No such file or directory");
  ASSERT_TRUE(writeFile(folder.path("a"), "x").ok());
  EXPECT_EQ(folder.read("a"), "x");
}
