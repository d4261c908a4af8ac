//===- TcpStoreTest.cpp - The store of a job of several processes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/TcpStore.h"

#include "runtime/Agreement.h"
#include "runtime/Socket.h"

#include <gtest/gtest.h>
#include <thread>

using namespace sfsdp::runtime;
using namespace std::chrono_literals;

namespace {

/// The places of a job of `size` local ranks, as `-n` would give them.
std::vector<LaunchContext> localContexts(int size) {
  Expected<Listener> listener = listenOn("127.0.0.1", 0);
  std::vector<LaunchContext> contexts(size);
  for (int rank = 0; rank < size; ++rank) {
    contexts[rank].rank = rank;
    contexts[rank].worldSize = contexts[rank].localWorldSize = size;
    contexts[rank].masterPort = listener->port;
  }
  contexts[0].listenFd = listener->socket.release();
  return contexts;
}

} // namespace

TEST(TcpStore, SharesValuesBetweenRanks) {
  std::vector<LaunchContext> contexts = localContexts(2);
  auto server = connectStore(contexts[0], 10s);
  ASSERT_TRUE(server.ok()) << server.message();
  auto client = connectStore(contexts[1], 10s);
  ASSERT_TRUE(client.ok()) << client.message();
  std::string value("a\0b", 3);
  EXPECT_TRUE((*client)->set("key", value).ok());
  EXPECT_EQ(*(*server)->get("key", 10s), value);
  EXPECT_TRUE((*server)->wait({"key"}, 1s).ok());
}

TEST(TcpStore, NamesTheKeyThatNobodySet) {
  auto store = connectStore(localContexts(1)[0], 10s);
  ASSERT_TRUE(store.ok()) << store.message();
  EXPECT_EQ((*store)->get("key", 20ms).message(),
            "no rank set 'key' in the store within 20 ms");
}

TEST(TcpStore, F54_PortInUseNamesEndpointAndVariables) {
  Expected<Listener> other = listenOn("127.0.0.1", 0);
  LaunchContext context;
  context.worldSize = context.localWorldSize = 2;
  context.masterPort = other->port;
  std::string message = connectStore(context, 1s).message();
  EXPECT_NE(message.find("127.0.0.1:" + std::to_string(other->port)),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("MASTER_PORT"), std::string::npos) << message;
}

TEST(TcpStore, AServerThatNeverComesIsNamed) {
  LaunchContext context;
  {
    Expected<Listener> closed = listenOn("127.0.0.1", 0);
    context.masterPort = closed->port;
  }
  context.rank = 1;
  context.worldSize = context.localWorldSize = 2;
  EXPECT_EQ(
      connectStore(context, 300ms).message(),
      "rank 1 found no store within 300 ms: cannot connect to 127.0.0.1:" +
          std::to_string(context.masterPort) +
          ": Connection refused; is rank 0 running, and are MASTER_ADDR "
          "and MASTER_PORT the same on all ranks?");
}

// A store that a launcher serves, as torchrun does: rank 0 is a client too, and
// keys of another attempt are not seen.
TEST(TcpStore, UsesTheAgentsStoreUnderAPrefix) {
  std::vector<LaunchContext> contexts = localContexts(1);
  auto agent = connectStore(contexts[0], 10s);
  ASSERT_TRUE(agent.ok()) << agent.message();
  LaunchContext worker = contexts[0];
  worker.listenFd = -1;
  worker.useAgentStore = true;
  worker.storePrefix = "/worker/attempt_1/";
  auto store = connectStore(worker, 10s);
  ASSERT_TRUE(store.ok()) << store.message();
  EXPECT_TRUE((*store)->set("key", "1").ok());
  EXPECT_EQ(*(*agent)->get("/worker/attempt_1/key", 1s), "1");
}

TEST(TcpStore, CarriesAnAgreement) {
  std::vector<LaunchContext> contexts = localContexts(3);
  std::vector<std::string> messages(3);
  std::vector<std::unique_ptr<Store>> stores(3);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([&, rank] {
      auto store = connectStore(contexts[rank], 10s);
      ASSERT_TRUE(store.ok()) << store.message();
      stores[rank] = *std::move(store);
      messages[rank] =
          agree(*stores[rank], rank, 3, {{"seed", rank == 2 ? "1" : "0"}}, 10s)
              .message();
    });
  }
  for (std::thread &rank : ranks) {
    rank.join();
  }
  for (const std::string &message : messages) {
    EXPECT_EQ(message, "ranks disagree on seed (ranks 0 and 1 have '0', rank 2 "
                       "has '1'); start all ranks with the same options");
  }
}
