//===- LocalSocket.cpp - Sockets between processes of one host ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sockets that keep the bounds of messages, in the abstract name space: a zero
// byte and five digits that the kernel picks.
//
// Tested by test/unit/runtime/HostPeersTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/LocalSocket.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

using namespace sfsdp::runtime;

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

Status failed(const std::string &what) {
  return Status::error("local socket: " + what + ": " + std::strerror(errno));
}

Status late(const std::string &what, milliseconds timeout) {
  return Status::error(what + " within " + std::to_string(timeout.count()) +
                       " ms");
}

/// Waits for `events` on `fd`; false at the deadline.
bool awaitEvents(int fd, short events, Clock::time_point deadline) {
  while (true) {
    auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    pollfd event = {fd, events, 0};
    int ready =
        ::poll(&event, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    if (ready > 0 || (ready == 0 && left.count() <= 0)) {
      return ready > 0;
    }
  }
}

bool isOfThisUser(int fd) {
  ucred other = {};
  socklen_t length = sizeof other;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &length) == 0 &&
         other.uid == ::geteuid();
}

FileDescriptor openSocket() {
  return FileDescriptor(
      ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, /*protocol=*/0));
}

/// Room for one descriptor, aligned as its header wants.
union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

/// The descriptors of a message; all but the first are closed.
FileDescriptor takeDescriptor(msghdr &message) {
  FileDescriptor first;
  for (cmsghdr *part = CMSG_FIRSTHDR(&message); part;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part), sizeof fd);
      first = FileDescriptor(fd);
    }
  }
  return first;
}

} // namespace

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

Status LocalSocket::send(const std::string &text, int descriptor) const {
  if (text.empty() || text.size() > kMaxText) {
    return Status::error("local socket: expected a message of 1 to " +
                         std::to_string(kMaxText) + " bytes, got " +
                         std::to_string(text.size()));
  }
  iovec body = {const_cast<char *>(text.data()), text.size()};
  Control control = {};
  msghdr message = {};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    cmsghdr *part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(part), &descriptor, sizeof descriptor);
  }
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket.get(), &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent < 0 ? failed("cannot send") : Status();
}

Expected<LocalMessage> LocalSocket::receive(milliseconds timeout) const {
  if (!awaitEvents(socket.get(), POLLIN, Clock::now() + timeout)) {
    return late("nothing came", timeout);
  }
  char text[kMaxText];
  iovec body = {text, sizeof text};
  Control control = {};
  msghdr message = {};
  message.msg_iov = &body;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t length = ::recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC);
  if (length <= 0) {
    return Status::error("it has closed its connection");
  }
  return LocalMessage{std::string(text, length), takeDescriptor(message)};
}

bool LocalSocket::hasEnded() const {
  pollfd event = {socket.get(), POLLRDHUP, 0};
  return ::poll(&event, 1, /*timeout=*/0) > 0 &&
         (event.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

//===----------------------------------------------------------------------===//
// Connections
//===----------------------------------------------------------------------===//

Expected<LocalListener> LocalListener::open(int backlog) {
  LocalListener listener;
  listener.socket = openSocket();
  int fd = listener.socket.get();
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  socklen_t length = sizeof address.sun_family; // the kernel picks the rest
  auto *generic = reinterpret_cast<sockaddr *>(&address);
  if (fd < 0 || ::bind(fd, generic, length) != 0 ||
      ::listen(fd, backlog) != 0) {
    return failed("cannot listen");
  }
  length = sizeof address;
  if (::getsockname(fd, generic, &length) != 0 ||
      length <= offsetof(sockaddr_un, sun_path) + 1) {
    return failed("cannot learn its name");
  }
  listener.ownName.assign(address.sun_path + 1,
                          length - offsetof(sockaddr_un, sun_path) - 1);
  return listener;
}

Expected<LocalSocket> LocalListener::accept(milliseconds timeout) const {
  Clock::time_point deadline = Clock::now() + timeout;
  while (awaitEvents(socket.get(), POLLIN, deadline)) {
    FileDescriptor connection(
        ::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection.isOpen() && isOfThisUser(connection.get())) {
      return LocalSocket(std::move(connection));
    }
  }
  return late("no rank connected", timeout);
}

Expected<LocalSocket> sfsdp::runtime::connectLocally(const std::string &name) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (name.empty() || name.size() >= sizeof address.sun_path) {
    return Status::error("local socket: '" + name + "' is no name of one");
  }
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  auto length =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  FileDescriptor socket = openSocket();
  if (!socket.isOpen() ||
      ::connect(socket.get(), reinterpret_cast<sockaddr *>(&address), length) !=
          0) {
    return failed("cannot connect");
  }
  if (!isOfThisUser(socket.get())) {
    return Status::error("local socket: another user listens there");
  }
  return LocalSocket(std::move(socket));
}
