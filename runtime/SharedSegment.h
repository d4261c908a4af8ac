//===- SharedSegment.h - Memory that other processes read -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Anonymous memory of one process, which it alone may write. Others map it
// through a file descriptor that they were sent. It has no name anywhere, so
// it ends with the last process that holds it, however that one dies.
//
// Tested by test/unit/runtime/SharedSegmentTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_SHAREDSEGMENT_H
#define SFSDP_RUNTIME_SHAREDSEGMENT_H

#include "runtime/FileDescriptor.h"
#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>

namespace sfsdp::runtime {

class SharedSegment {
public:
  SharedSegment() = default;

  /// A segment of at least `bytes`, zero and writable here. Memory is taken as
  /// pages are written, but for the first `reservedBytes`, which are taken now.
  /// From then on its size is fixed and nobody can map it for writing.
  static Expected<SharedSegment> create(int64_t bytes,
                                        int64_t reservedBytes = 0);

  /// Maps the segment of another process for reading. Refuses one that its
  /// owner could still shorten: reading it would be a signal.
  static Expected<SharedSegment> mapForReading(FileDescriptor descriptor);

  SharedSegment(SharedSegment &&other) noexcept { swap(other); }
  SharedSegment &operator=(SharedSegment &&other) noexcept {
    swap(other);
    return *this;
  }
  ~SharedSegment();

  /// Page-aligned; stays where it is when the object is moved.
  std::byte *data() const { return mapped; }
  int64_t size() const { return mappedBytes; }
  /// To be sent to other processes.
  int descriptor() const { return file.get(); }

  /// Whether [pointer, pointer + bytes) lies within.
  bool contains(const void *pointer, int64_t bytes) const;

private:
  void swap(SharedSegment &other) noexcept;

  FileDescriptor file;
  std::byte *mapped = nullptr;
  int64_t mappedBytes = 0;
};

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_SHAREDSEGMENT_H
