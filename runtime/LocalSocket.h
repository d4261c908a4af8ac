//===- LocalSocket.h - Sockets between processes of one host ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unix sockets that carry messages and file descriptors. They have no name in
// the file system, so nothing of them is left behind, and both ends check that
// the other one belongs to the same user.
//
// Tested by test/unit/runtime/HostPeersTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_LOCALSOCKET_H
#define SFSDP_RUNTIME_LOCALSOCKET_H

#include "runtime/FileDescriptor.h"
#include "runtime/Status.h"

#include <chrono>
#include <string>

namespace sfsdp::runtime {

/// A text, and a descriptor that travels with it.
struct LocalMessage {
  std::string text;
  FileDescriptor descriptor;
};

/// One end of a connection.
class LocalSocket {
public:
  /// Bytes of a message's text, at most.
  static constexpr size_t kMaxText = 1024;

  LocalSocket() = default;
  explicit LocalSocket(FileDescriptor socket) : socket(std::move(socket)) {}

  bool isOpen() const { return socket.isOpen(); }

  /// Sends `text` with a copy of `descriptor`; -1: none.
  Status send(const std::string &text, int descriptor = -1) const;

  /// The next message. An error says that the other end has closed, or that
  /// nothing came within `timeout`.
  Expected<LocalMessage> receive(std::chrono::milliseconds timeout) const;

  /// Whether the process at the other end has closed it or has died.
  bool hasEnded() const;

private:
  FileDescriptor socket;
};

class LocalListener {
public:
  /// Listens under a name that the kernel chooses, for `backlog` connections.
  static Expected<LocalListener> open(int backlog);

  /// What others connect to; printable.
  const std::string &name() const { return ownName; }

  /// The next connection from a process of this user; others are dropped.
  Expected<LocalSocket> accept(std::chrono::milliseconds timeout) const;

private:
  FileDescriptor socket;
  std::string ownName;
};

/// Connects to the listener called `name`, which must be this user's.
Expected<LocalSocket> connectLocally(const std::string &name);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_LOCALSOCKET_H
