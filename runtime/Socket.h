//===- Socket.h - TCP sockets of the runtime's own --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For what the runtime serves itself: the store's listening socket and the
// control channel. Everything binds to one interface, never to all.
//
// Tested by test/unit/runtime/SocketTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_SOCKET_H
#define SFSDP_RUNTIME_SOCKET_H

#include "runtime/FileDescriptor.h"
#include "runtime/Status.h"

#include <chrono>
#include <string>

namespace sfsdp::runtime {

/// A listening socket and the port it got.
struct Listener {
  FileDescriptor socket;
  int port = 0;
};

/// Listens on `host` (an address or a name of this machine; IPv4 or IPv6) and
/// `port`; port 0 picks a free one. The descriptor is closed on exec. Errors
/// name host:port, and for a port in use say so by its error code.
Expected<Listener> listenOn(const std::string &host, int port);

/// Connects to host:port; tries again until `timeout` while nobody listens.
Expected<FileDescriptor> connectTo(const std::string &host, int port,
                                   std::chrono::milliseconds timeout);

/// The local address from which packets to `host` leave.
Expected<std::string> localAddressTowards(const std::string &host);

/// The address of network interface `name` ("eth0"), IPv4 if it has one.
Expected<std::string> addressOfInterface(const std::string &name);

/// "host:port", with brackets around an IPv6 address.
std::string endpointText(const std::string &host, int port);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_SOCKET_H
