//===- HostPeersTest.cpp - The ranks of a job on one host -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/HostPeers.h"

#include "test/support/ShmTransport.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using namespace sfsdp::test;
using namespace std::chrono_literals;

namespace {

/// What connecting says on each of `size` ranks; `tamper` may change what the
/// store holds before the last one comes.
std::vector<std::string>
connectMessages(int size, std::chrono::milliseconds timeout,
                const std::function<void(Store &, int rank)> &before) {
  std::unique_ptr<Store> store = makeMemoryStore();
  std::vector<std::string> messages(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      before(*store, rank);
      HostPeersOptions options;
      options.timeout = timeout;
      auto peers = HostPeers::connect(*store, rank, size, options);
      messages[rank] = peers.message();
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  return messages;
}

} // namespace

TEST(HostPeers, ArenasAreReadByAll) {
  auto peers = connectPeers(3);
  for (auto &own : peers) {
    auto *block = static_cast<char *>(own->takeFromArena(100));
    ASSERT_NE(block, nullptr);
    block[99] = static_cast<char>('a' + own->rank());
  }
  for (auto &reader : peers) {
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(char(reader->arena(rank).data()[99]), 'a' + rank);
    }
  }
}

TEST(HostPeers, ArenaHasAnEnd) {
  auto peers = connectPeers(2, /*arenaBytes=*/4096);
  auto memory = arenaOf(peers[0]);
  EXPECT_EQ(memory->takenBytes(), 0);
  void *first = memory->take(1);
  void *second = memory->take(4096);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(static_cast<char *>(second) - static_cast<char *>(first), 64);
  EXPECT_EQ(memory->takenBytes(), 64 + 4096);
  EXPECT_EQ(memory->take(8192), nullptr);
  EXPECT_NE(memory->take(4096 - 64), nullptr);
  EXPECT_EQ(memory->take(1), nullptr);
}

TEST(HostPeers, ExchangesSegmentsWithinGroups) {
  auto peers = connectPeers(3);
  std::vector<std::thread> threads;
  for (int rank : {0, 2}) {
    threads.emplace_back([&, rank] {
      auto own = SharedSegment::create(1);
      own->data()[0] = std::byte(rank + 1);
      auto others = peers[rank]->exchange("outer", {0, 2}, *own);
      ASSERT_TRUE(others.ok()) << others.message();
      EXPECT_EQ((*others)[rank / 2].data(), nullptr);
      EXPECT_EQ((*others)[1 - rank / 2].data()[0], std::byte(3 - rank));
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
}

TEST(HostPeers, RanksThatMakeOtherGroupsAreAnError) {
  auto peers = connectPeers(2);
  std::vector<std::thread> threads;
  for (int rank : {0, 1}) {
    threads.emplace_back([&, rank] {
      auto own = SharedSegment::create(1);
      std::string name = rank == 0 ? "dp" : "tp";
      auto others = peers[rank]->exchange(name, {0, 1}, *own);
      ASSERT_FALSE(others.ok());
      EXPECT_NE(others.message().find("expected 'group " + name + "'"),
                std::string::npos)
          << others.message();
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
}

TEST(HostPeers, NoticesThatARankHasLeft) {
  auto peers = connectPeers(2);
  EXPECT_FALSE(peers[0]->hasLeft(1));
  peers[1].reset();
  EXPECT_TRUE(peers[0]->hasLeft(1));
}

// Rank 2 claims another boot of the machine.
TEST(HostPeers, RefusesRanksOfOtherHosts) {
  std::vector<std::string> messages =
      connectMessages(2, 5s, [](Store &store, int rank) {
        if (rank == 0) {
          std::string mine = *store.get("shm/1", 5s);
          (void)store.set("shm/1", "elsewhere" + mine);
        }
      });
  EXPECT_EQ(messages[0],
            "--backend shm needs all ranks on one host, but rank 1 runs "
            "elsewhere than rank 0; use --backend gloo");
}

TEST(HostPeers, NamesARankThatDoesNotCome) {
  std::unique_ptr<Store> store = makeMemoryStore();
  HostPeersOptions options;
  options.timeout = 50ms;
  auto peers = HostPeers::connect(*store, 0, 2, options);
  ASSERT_FALSE(peers.ok());
  EXPECT_EQ(peers.message().find("rank 1: no rank set"), 0u) << peers.message();
}

// Somebody connects first and says something else, or nothing.
TEST(HostPeers, DropsStrangers) {
  std::vector<std::string> messages =
      connectMessages(2, 5s, [](Store &store, int rank) {
        if (rank == 0) {
          return;
        }
        std::string published = *store.get("shm/0", 5s);
        size_t begin = published.find(' ') + 1;
        size_t end = published.find(' ', begin);
        std::string name = published.substr(begin, end - begin);
        auto silent = connectLocally(name);
        auto liar = connectLocally(name);
        ASSERT_TRUE(silent.ok() && liar.ok()) << liar.message();
        auto segment = SharedSegment::create(1);
        ASSERT_TRUE(
            liar->send("hello 1 0123456789abcdef", segment->descriptor()).ok());
      });
  EXPECT_EQ(messages, std::vector<std::string>(2));
}

TEST(LocalSocket, KeepsTheBoundsOfMessages) {
  auto listener = LocalListener::open(1);
  ASSERT_TRUE(listener.ok()) << listener.message();
  auto client = connectLocally(listener->name());
  auto server = listener->accept(5s);
  ASSERT_TRUE(client.ok() && server.ok()) << server.message();
  EXPECT_TRUE(client->send("one").ok());
  EXPECT_TRUE(client->send("two").ok());
  EXPECT_EQ(server->receive(5s)->text, "one");
  EXPECT_EQ(server->receive(5s)->text, "two");
  EXPECT_FALSE(client->send("").ok());
  EXPECT_FALSE(client->send(std::string(5000, 'x')).ok());
  EXPECT_EQ(server->receive(10ms).message(), "nothing came within 10 ms");
  *client = LocalSocket();
  EXPECT_EQ(server->receive(5s).message(), "it has closed its connection");
}
