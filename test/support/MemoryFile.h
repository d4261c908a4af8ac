//===- MemoryFile.h - A file without a disk ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests that open thousands of files: a file in memory that has a path
// while it lives.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_TEST_SUPPORT_MEMORYFILE_H
#define SFSDP_TEST_SUPPORT_MEMORYFILE_H

#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace sfsdp::test {

class MemoryFile {
public:
  explicit MemoryFile(std::string_view content)
      : descriptor(::memfd_create("test", MFD_CLOEXEC)) {
    EXPECT_EQ(::write(descriptor, content.data(), content.size()),
              static_cast<ssize_t>(content.size()));
  }
  MemoryFile(const MemoryFile &) = delete;
  ~MemoryFile() { ::close(descriptor); }

  std::string path() const {
    return "/proc/self/fd/" + std::to_string(descriptor);
  }

private:
  int descriptor;
};

} // namespace sfsdp::test

#endif // SFSDP_TEST_SUPPORT_MEMORYFILE_H
