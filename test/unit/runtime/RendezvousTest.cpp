//===- RendezvousTest.cpp - The store that all ranks of a job share -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Rendezvous.h"

#include <gtest/gtest.h>
#include <thread>

using namespace sfsdp::runtime;
using namespace std::chrono_literals;

TEST(MemoryStore, HoldsAnyBytes) {
  auto store = makeMemoryStore();
  std::string value("a\0b", 3);
  EXPECT_TRUE(store->set("key", value).ok());
  EXPECT_EQ(*store->get("key", 0ms), value);
  EXPECT_TRUE(store->set("key", "").ok());
  EXPECT_EQ(*store->get("key", 0ms), "");
}

TEST(MemoryStore, WaitsForAKey) {
  auto store = makeMemoryStore();
  std::thread late([&] {
    std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(store->set("a", "1").ok());
    EXPECT_TRUE(store->set("b", "2").ok());
  });
  EXPECT_EQ(*store->get("a", 10s), "1");
  EXPECT_TRUE(store->wait({"a", "b"}, 10s).ok());
  late.join();
}

TEST(MemoryStore, NamesTheKeyThatNobodySet) {
  auto store = makeMemoryStore();
  EXPECT_EQ(store->get("a", 5ms).message(),
            "no rank set 'a' in the store within 5 ms");
  EXPECT_EQ(store->wait({"a"}, 5ms).message(),
            "no rank set 'a' in the store within 5 ms");
}

TEST(PrefixedStore, SeparatesKeys) {
  auto store = makeMemoryStore();
  auto one = withPrefix(*store, "one/");
  auto two = withPrefix(*store, "two/");
  EXPECT_TRUE(one->set("key", "1").ok());
  EXPECT_FALSE(two->get("key", 0ms).ok());
  EXPECT_EQ(*store->get("one/key", 0ms), "1");
  EXPECT_TRUE(one->wait({"key"}, 0ms).ok());
}
