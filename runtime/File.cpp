//===- File.cpp - Reading by position and atomic writing -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/runtime/FileTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/File.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

using namespace sfsdp::runtime;

namespace {

/// Linux moves at most this much per call.
constexpr size_t kLargestTransferBytes = size_t{1} << 30;

constexpr int kPartNameAttempts = 100;

Status systemError(const std::string &path, std::string_view action) {
  int code = errno;
  return Status::error(path + ": cannot " + std::string(action) + ": " +
                       std::generic_category().message(code));
}

Status notRegular(const std::string &path, const struct stat &status) {
  return Status::error(path + ": expected a regular file, got a " +
                       (S_ISDIR(status.st_mode) ? "folder" : "special file"));
}

/// The folder that holds `path`.
std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

} // namespace

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Expected<InputFile> InputFile::open(const std::string &path) {
  InputFile file;
  file.name = path;
  // O_NONBLOCK: opening a pipe must not wait for its writer.
  file.descriptor =
      FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.descriptor.isOpen()) {
    return systemError(path, "open");
  }
  struct stat status;
  if (::fstat(file.descriptor.get(), &status) != 0) {
    return systemError(path, "read its size");
  }
  if (!S_ISREG(status.st_mode)) {
    return notRegular(path, status);
  }
  file.bytes = static_cast<uint64_t>(status.st_size);
  return file;
}

Status InputFile::read(uint64_t offset, std::span<std::byte> out) const {
  if (offset > bytes || out.size() > bytes - offset) {
    return Status::error(name + ": cannot read " + std::to_string(out.size()) +
                         " bytes at " + std::to_string(offset) +
                         ": the file has " + std::to_string(bytes) + " bytes");
  }
  while (!out.empty()) {
    size_t wanted = std::min(out.size(), kLargestTransferBytes);
    ssize_t got = ::pread(descriptor.get(), out.data(), wanted,
                          static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return systemError(name, "read");
    }
    if (got == 0) {
      return Status::error(name +
                           ": the file became shorter while it was "
                           "read, expected " +
                           std::to_string(bytes) + " bytes");
    }
    out = out.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return Status();
}

Expected<std::string> sfsdp::runtime::readFile(const std::string &path,
                                               size_t maxBytes) {
  Expected<InputFile> file = InputFile::open(path);
  if (!file) {
    return file.status();
  }
  if (file->size() > maxBytes) {
    return Status::error(path + ": expected at most " +
                         std::to_string(maxBytes) + " bytes, got " +
                         std::to_string(file->size()));
  }
  std::string content(file->size(), '\0');
  if (Status status = file->read(0, std::span<char>(content)); !status.ok()) {
    return status;
  }
  return content;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Expected<AtomicFile> AtomicFile::create(const std::string &path) {
  // Renaming would replace a device or pipe by a file.
  struct stat status;
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return notRegular(path, status);
  }
  AtomicFile file;
  file.finalPath = path;
  for (int attempt = 0; attempt < kPartNameAttempts; ++attempt) {
    std::string part = path + ".part-" + std::to_string(::getpid()) + "-" +
                       std::to_string(attempt);
    int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
    file.descriptor = FileDescriptor(::open(part.c_str(), flags, 0666));
    if (file.descriptor.isOpen()) {
      file.partPath = std::move(part);
      return file;
    }
    if (errno != EEXIST) {
      return systemError(path, "create");
    }
  }
  return Status::error(path +
                       ": cannot create: " + std::to_string(kPartNameAttempts) +
                       " unfinished files of this process are beside it; "
                       "remove them");
}

AtomicFile::~AtomicFile() {
  if (descriptor.isOpen()) {
    ::unlink(partPath.c_str());
  }
}

Status AtomicFile::write(uint64_t offset, std::span<const std::byte> content) {
  while (!content.empty()) {
    size_t wanted = std::min(content.size(), kLargestTransferBytes);
    ssize_t put = ::pwrite(descriptor.get(), content.data(), wanted,
                           static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put < 0) {
      return systemError(finalPath, "write");
    }
    content = content.subspan(static_cast<size_t>(put));
    offset += static_cast<uint64_t>(put);
  }
  return Status();
}

Status AtomicFile::commit() {
  assert(descriptor.isOpen() && "commit is called once");
  if (::fsync(descriptor.get()) != 0) {
    return systemError(finalPath, "write to disk");
  }
  if (::rename(partPath.c_str(), finalPath.c_str()) != 0) {
    return systemError(finalPath, "rename the finished file to this name");
  }
  if (!descriptor.close()) {
    return systemError(finalPath, "close");
  }
  // The new name itself lies in the folder. Some network file systems cannot
  // sync folders and say EINVAL.
  FileDescriptor folder(
      ::open(folderOf(finalPath).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.isOpen() || (::fsync(folder.get()) != 0 && errno != EINVAL)) {
    return systemError(finalPath, "write its folder to disk");
  }
  return Status();
}

Status sfsdp::runtime::writeFile(const std::string &path,
                                 std::string_view content) {
  Expected<AtomicFile> file = AtomicFile::create(path);
  if (!file) {
    return file.status();
  }
  if (Status status = file->write(0, content); !status.ok()) {
    return status;
  }
  return file->commit();
}
