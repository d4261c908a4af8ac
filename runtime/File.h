//===- File.h - Reading by position and atomic writing -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files are read with pread and never mapped: a file that becomes shorter while
// it is read is an error, not a signal. Files are written under another name
// and renamed when whole, so a reader or a killed writer never leaves half a
// file under the final name.
//
// Tested by test/unit/runtime/FileTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_FILE_H
#define SFSDP_RUNTIME_FILE_H

#include "runtime/FileDescriptor.h"
#include "runtime/Status.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sfsdp::runtime {

/// A regular file open for reading. Reads may come from several threads.
class InputFile {
public:
  static Expected<InputFile> open(const std::string &path);

  const std::string &path() const { return name; }

  /// Bytes, when it was opened.
  uint64_t size() const { return bytes; }

  /// Fills `out` from byte `offset` on.
  Status read(uint64_t offset, std::span<std::byte> out) const;
  Status read(uint64_t offset, std::span<char> out) const {
    return read(offset, std::as_writable_bytes(out));
  }

private:
  std::string name;
  FileDescriptor descriptor;
  uint64_t bytes = 0;
};

/// The whole file at `path`; an error when it is larger than `maxBytes`.
Expected<std::string> readFile(const std::string &path, size_t maxBytes);

/// A file that appears at its path when committed, whole and on disk. Without
/// `commit` nothing remains of it.
class AtomicFile {
public:
  /// Starts a file for `path`, whose folder must exist. What is there already
  /// must be a regular file.
  static Expected<AtomicFile> create(const std::string &path);

  AtomicFile(AtomicFile &&other) noexcept = default;
  AtomicFile &operator=(AtomicFile &&) = delete;
  ~AtomicFile();

  const std::string &path() const { return finalPath; }

  /// Writes `content` at byte `offset`.
  Status write(uint64_t offset, std::span<const std::byte> content);
  Status write(uint64_t offset, std::string_view content) {
    return write(offset, std::as_bytes(std::span(content)));
  }

  /// Syncs and renames; call once.
  Status commit();

private:
  AtomicFile() = default;

  std::string finalPath;
  std::string partPath; ///< in the same folder
  FileDescriptor descriptor;
};

/// Replaces the file at `path` by `content`.
Status writeFile(const std::string &path, std::string_view content);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_FILE_H
