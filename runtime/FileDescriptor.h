//===- FileDescriptor.h - Owner of a file descriptor ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of files and of sockets.
//
// Tested by test/unit/runtime/FileTest.cpp and SocketTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_FILEDESCRIPTOR_H
#define SFSDP_RUNTIME_FILEDESCRIPTOR_H

#include <unistd.h>
#include <utility>

namespace sfsdp::runtime {

/// A file descriptor that is closed with its owner.
class FileDescriptor {
public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number(number) {}
  FileDescriptor(FileDescriptor &&other) noexcept : number(other.release()) {}
  FileDescriptor &operator=(FileDescriptor &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~FileDescriptor() { close(); }

  int get() const { return number; }
  bool isOpen() const { return number >= 0; }

  /// Gives the descriptor away.
  int release() { return std::exchange(number, -1); }
  /// Closes now; false when the system reports that data was lost.
  bool close() { return number < 0 || ::close(release()) == 0; }

private:
  int number = -1;
};

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_FILEDESCRIPTOR_H
