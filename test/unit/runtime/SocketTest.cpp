//===- SocketTest.cpp - TCP sockets of the runtime's own ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Socket.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using namespace std::chrono_literals;

TEST(Socket, ListensOnAFreePortAndAcceptsAConnection) {
  Expected<Listener> listener = listenOn("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok()) << listener.message();
  EXPECT_GT(listener->port, 0);
  Expected<FileDescriptor> client = connectTo("127.0.0.1", listener->port, 5s);
  EXPECT_TRUE(client.ok()) << client.message();
}

TEST(Socket, F54_PortInUseNamesTheEndpoint) {
  Expected<Listener> first = listenOn("127.0.0.1", 0);
  ASSERT_TRUE(first.ok());
  Expected<Listener> second = listenOn("127.0.0.1", first->port);
  EXPECT_EQ(second.message(),
            "cannot listen on 127.0.0.1:" + std::to_string(first->port) +
                ": Address already in use; another program uses this port, "
                "choose another");
}

TEST(Socket, ConnectingToNobodyEndsAtTheTimeout) {
  int port = 0;
  {
    Expected<Listener> listener = listenOn("127.0.0.1", 0);
    ASSERT_TRUE(listener.ok());
    port = listener->port;
  }
  Expected<FileDescriptor> client = connectTo("127.0.0.1", port, 50ms);
  EXPECT_EQ(client.message(),
            "cannot connect to 127.0.0.1:" + std::to_string(port) +
                ": Connection refused");
}

TEST(Socket, FindsLocalAddresses) {
  EXPECT_EQ(*localAddressTowards("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(*addressOfInterface("lo"), "127.0.0.1");
  EXPECT_EQ(addressOfInterface("none0").message(),
            "no network interface 'none0' with an address on this machine");
}

TEST(Socket, WritesEndpoints) {
  EXPECT_EQ(endpointText("node1", 80), "node1:80");
  EXPECT_EQ(endpointText("::1", 80), "[::1]:80");
}
