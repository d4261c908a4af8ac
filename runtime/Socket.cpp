//===- Socket.cpp - TCP sockets of the runtime's own ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/runtime/SocketTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace sfsdp::runtime;

std::string sfsdp::runtime::endpointText(const std::string &host, int port) {
  bool isIPv6 = host.find(':') != std::string::npos;
  return (isIPv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Expected<AddressList> resolve(const std::string &host, int port, int type) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = type;
  addrinfo *found = nullptr;
  int failed =
      ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0) {
    return Status::error("cannot resolve host '" + host +
                         "': " + gai_strerror(failed));
  }
  return AddressList(found, &freeaddrinfo);
}

std::string errorText(int code) { return std::strerror(code); }

std::string addressText(const sockaddr *address, socklen_t length) {
  char text[NI_MAXHOST] = "";
  ::getnameinfo(address, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return text;
}

int portOf(int fd) {
  sockaddr_storage address = {};
  socklen_t length = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr *>(&address), &length) != 0) {
    return 0;
  }
  uint16_t port = address.ss_family == AF_INET6
                      ? reinterpret_cast<sockaddr_in6 &>(address).sin6_port
                      : reinterpret_cast<sockaddr_in &>(address).sin_port;
  return ntohs(port);
}

/// Connects `fd` within `timeout`; returns an errno value.
int connectWithin(int fd, const addrinfo &address,
                  std::chrono::milliseconds timeout) {
  if (::connect(fd, address.ai_addr, address.ai_addrlen) == 0) {
    return 0;
  }
  if (errno != EINPROGRESS) {
    return errno;
  }
  pollfd ready = {fd, POLLOUT, 0};
  if (::poll(&ready, 1, static_cast<int>(timeout.count())) <= 0) {
    return ETIMEDOUT;
  }
  int failed = 0;
  socklen_t length = sizeof failed;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &length);
  return failed;
}

} // namespace

Expected<Listener> sfsdp::runtime::listenOn(const std::string &host, int port) {
  std::string where = "cannot listen on " + endpointText(host, port);
  Expected<AddressList> addresses = resolve(host, port, SOCK_STREAM);
  if (!addresses.ok()) {
    return addresses.status().within(where);
  }
  const addrinfo &address = **addresses;
  FileDescriptor fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int reuse = 1; // a port in TIME_WAIT is free; one that is served is not
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
  if (::bind(fd.get(), address.ai_addr, address.ai_addrlen) != 0 ||
      ::listen(fd.get(), /*backlog=*/1024) != 0) {
    int code = errno;
    std::string hint = code == EADDRINUSE
                           ? "; another program uses this port, choose another"
                           : "";
    return Status::error(where + ": " + errorText(code) + hint);
  }
  int chosen = portOf(fd.get());
  return Listener{std::move(fd), chosen};
}

Expected<FileDescriptor>
sfsdp::runtime::connectTo(const std::string &host, int port,
                          std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  std::string where = "cannot connect to " + endpointText(host, port);
  auto deadline = Clock::now() + timeout;
  Expected<AddressList> addresses = resolve(host, port, SOCK_STREAM);
  if (!addresses.ok()) {
    return addresses.status().within(where);
  }
  const addrinfo &address = **addresses;
  while (true) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - Clock::now());
    FileDescriptor fd(::socket(address.ai_family,
                               SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    int failed = connectWithin(fd.get(), address,
                               std::max(left, std::chrono::milliseconds(1)));
    if (failed == 0) {
      int noDelay = 1;
      ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &noDelay,
                   sizeof noDelay);
      return fd;
    }
    if (failed != ECONNREFUSED || left <= std::chrono::milliseconds(0)) {
      return Status::error(where + ": " + errorText(failed));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Expected<std::string>
sfsdp::runtime::localAddressTowards(const std::string &host) {
  std::string where = "cannot find the interface towards '" + host + "'";
  Expected<AddressList> addresses = resolve(host, /*port=*/9, SOCK_DGRAM);
  if (!addresses.ok()) {
    return addresses.status().within(where);
  }
  const addrinfo &address = **addresses;
  // Connecting a datagram socket sends nothing; it only chooses the route.
  FileDescriptor fd(::socket(address.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage local = {};
  socklen_t length = sizeof local;
  if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr *>(&local), &length) !=
          0) {
    return Status::error(where + ": " + errorText(errno));
  }
  return addressText(reinterpret_cast<sockaddr *>(&local), length);
}

Expected<std::string>
sfsdp::runtime::addressOfInterface(const std::string &name) {
  ifaddrs *list = nullptr;
  if (::getifaddrs(&list) != 0) {
    return Status::error("cannot list network interfaces: " + errorText(errno));
  }
  std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  for (int family : {AF_INET, AF_INET6}) {
    for (ifaddrs *entry = list; entry; entry = entry->ifa_next) {
      if (entry->ifa_addr && entry->ifa_addr->sa_family == family &&
          name == entry->ifa_name) {
        return addressText(entry->ifa_addr, family == AF_INET
                                                ? sizeof(sockaddr_in)
                                                : sizeof(sockaddr_in6));
      }
    }
  }
  return Status::error("no network interface '" + name +
                       "' with an address on this machine");
}
