//===- SharedSegmentTest.cpp - Memory that other processes read -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/SharedSegment.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

using namespace sfsdp::runtime;

namespace {

Expected<SharedSegment> mapAgain(const SharedSegment &segment) {
  return SharedSegment::mapForReading(
      FileDescriptor(::dup(segment.descriptor())));
}

} // namespace

TEST(SharedSegment, ReadersSeeWhatTheOwnerWrites) {
  auto own = SharedSegment::create(5000);
  ASSERT_TRUE(own.ok()) << own.message();
  auto other = mapAgain(*own);
  ASSERT_TRUE(other.ok()) << other.message();
  EXPECT_NE(other->data(), own->data());
  EXPECT_EQ(other->size(), own->size());
  EXPECT_GE(own->size(), 5000);
  EXPECT_EQ(other->data()[4999], std::byte(0));
  own->data()[4999] = std::byte(7);
  EXPECT_EQ(other->data()[4999], std::byte(7));
}

TEST(SharedSegment, NobodyElseCanWriteOrResizeIt) {
  auto own = SharedSegment::create(4096);
  ASSERT_TRUE(own.ok()) << own.message();
  int fd = own->descriptor();
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
  EXPECT_NE(::ftruncate(fd, 0), 0);
  EXPECT_NE(::ftruncate(fd, 1 << 20), 0);
}

TEST(SharedSegment, RefusesAFileThatMayBecomeShorter) {
  FileDescriptor open(::memfd_create("open", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(open.get(), 4096), 0);
  auto mapped = SharedSegment::mapForReading(std::move(open));
  ASSERT_FALSE(mapped.ok());
  EXPECT_NE(mapped.message().find("expected a sealed segment"),
            std::string::npos)
      << mapped.message();
}

// More than any machine has; the kernel must not be asked for it.
TEST(SharedSegment, SaysWhatItCannotReserve) {
  auto own = SharedSegment::create(int64_t(1) << 62, int64_t(1) << 61);
  ASSERT_FALSE(own.ok());
  EXPECT_NE(own.message().find("cannot reserve 2305843009213693952 bytes"),
            std::string::npos)
      << own.message();
  EXPECT_NE(own.message().find("--backend gloo"), std::string::npos);
}

TEST(SharedSegment, ContainsWholeBuffersOnly) {
  auto own = SharedSegment::create(4096);
  ASSERT_TRUE(own.ok()) << own.message();
  EXPECT_TRUE(own->contains(own->data(), 4096));
  EXPECT_TRUE(own->contains(own->data() + 4096, 0));
  EXPECT_FALSE(own->contains(own->data() + 1, 4096));
  EXPECT_FALSE(own->contains(own->data() - 1, 1));
  EXPECT_FALSE(own->contains(nullptr, 0));
  EXPECT_FALSE(SharedSegment().contains(own->data(), 0));
}
