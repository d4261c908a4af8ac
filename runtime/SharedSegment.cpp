//===- SharedSegment.cpp - Memory that other processes read ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A memfd with seals: against shortening, so that no reader meets a signal;
// against growth, which nobody needs; and against new writable mappings.
//
// Tested by test/unit/runtime/SharedSegmentTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/SharedSegment.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <limits>
#include <sys/mman.h>
#include <sys/stat.h>

using namespace sfsdp::runtime;

namespace {

Status failed(const std::string &what) {
  return Status::error("shared memory: " + what + ": " + std::strerror(errno) +
                       "; --backend gloo needs none");
}

int64_t wholePages(int64_t bytes) {
  int64_t page = ::sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

/// What the kernel believes it can still give away; a lot when it does not say.
int64_t availableBytes() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  for (int64_t kibibytes = 0; file >> key >> kibibytes;) {
    if (key == "MemAvailable:") {
      return kibibytes * 1024;
    }
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::numeric_limits<int64_t>::max();
}

} // namespace

void SharedSegment::swap(SharedSegment &other) noexcept {
  std::swap(file, other.file);
  std::swap(mapped, other.mapped);
  std::swap(mappedBytes, other.mappedBytes);
}

SharedSegment::~SharedSegment() {
  if (mapped) {
    ::munmap(mapped, mappedBytes);
  }
}

Expected<SharedSegment> SharedSegment::create(int64_t bytes,
                                              int64_t reservedBytes) {
  SharedSegment segment;
  int64_t size = wholePages(std::max<int64_t>(bytes, 1));
  segment.file = FileDescriptor(
      ::memfd_create("simplefsdp", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!segment.file.isOpen()) {
    return failed("cannot create a segment");
  }
  // Asking for more would not fail: the kernel would kill processes first.
  if (reservedBytes > availableBytes()) {
    errno = ENOMEM;
    return failed("cannot reserve " + std::to_string(reservedBytes) + " bytes");
  }
  int fd = segment.file.get();
  if (::ftruncate(fd, size) != 0 ||
      (reservedBytes > 0 && ::fallocate(fd, 0, 0, reservedBytes) != 0)) {
    return failed("cannot reserve " + std::to_string(reservedBytes) + " bytes");
  }
  void *memory =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    return failed("cannot map " + std::to_string(size) + " bytes");
  }
  segment.mapped = static_cast<std::byte *>(memory);
  segment.mappedBytes = size;
  constexpr int kSeals =
      F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;
  if (::fcntl(fd, F_ADD_SEALS, kSeals) != 0) {
    return failed("cannot seal a segment");
  }
  return segment;
}

Expected<SharedSegment>
SharedSegment::mapForReading(FileDescriptor descriptor) {
  SharedSegment segment;
  segment.file = std::move(descriptor);
  int fd = segment.file.get();
  struct stat about = {};
  if (::fstat(fd, &about) != 0) {
    return failed("cannot examine a segment");
  }
  int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return Status::error("shared memory: expected a sealed segment, got a file "
                         "that may become shorter");
  }
  void *memory = ::mmap(nullptr, about.st_size, PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    return failed("cannot map " + std::to_string(about.st_size) + " bytes");
  }
  segment.mapped = static_cast<std::byte *>(memory);
  segment.mappedBytes = about.st_size;
  return segment;
}

bool SharedSegment::contains(const void *pointer, int64_t bytes) const {
  const auto *begin = static_cast<const std::byte *>(pointer);
  std::less_equal<> notAfter;
  return mapped && bytes <= mappedBytes && notAfter(mapped, begin) &&
         notAfter(begin, mapped + (mappedBytes - bytes));
}
