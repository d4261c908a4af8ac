//===- RankMemoryTest.cpp - Counted and cached memory of one rank ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/RankMemory.h"

#include <cmath>
#include <gtest/gtest.h>
#include <thread>

using namespace sfsdp::runtime;

TEST(RankMemory, CountsBytesAsAskedFor) {
  auto memory = RankMemory::make();
  void *a = memory->allocate(100);
  void *b = memory->allocate(1000);
  EXPECT_EQ(memory->counts().liveBytes, 1100);
  RankMemory::free(b);
  void *c = memory->allocate(50);
  EXPECT_EQ(memory->counts().liveBytes, 150);
  EXPECT_EQ(memory->counts().peakBytes, 1100);
  RankMemory::free(a);
  RankMemory::free(c);
  EXPECT_EQ(memory->counts().liveBytes, 0);
}

TEST(RankMemory, EmptyTensorsHaveAnAddress) {
  auto memory = RankMemory::make();
  void *empty = memory->allocate(0);
  EXPECT_NE(empty, nullptr);
  EXPECT_EQ(memory->counts().liveBytes, 0);
  RankMemory::free(empty);
  RankMemory::free(nullptr);
}

TEST(RankMemory, ReusesABlockOfTheSameClass) {
  auto memory = RankMemory::make();
  void *first = memory->allocate(1 << 20);
  RankMemory::free(first);
  EXPECT_EQ(memory->cachedBytes(), 1 << 20);
  void *second = memory->allocate((1 << 20) - 64);
  EXPECT_EQ(second, first);
  RankMemory::free(second);
}

TEST(RankMemory, WastesAtMostAFifthAndAligns) {
  auto memory = RankMemory::make();
  for (size_t bytes = 1; bytes < (1 << 22); bytes = bytes * 9 / 8 + 1) {
    void *data = memory->allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % RankMemory::kAlignment, 0u);
    static_cast<char *>(data)[bytes - 1] = 1;
    RankMemory::free(data);
    void *again = memory->allocate(bytes);
    int64_t before = memory->cachedBytes();
    RankMemory::free(again);
    EXPECT_LE(memory->cachedBytes() - before,
              static_cast<int64_t>(bytes * 5 / 4 + 64));
  }
}

TEST(RankMemory, BlocksMayBeFreedElsewhereAndLater) {
  auto memory = RankMemory::make();
  void *data = memory->allocate(64);
  std::thread([&] {
    auto other = RankMemory::make();
    MemoryScope scope(*other);
    RankMemory::free(data);
  }).join();
  EXPECT_EQ(memory->counts().liveBytes, 0);
  void *survivor = memory->allocate(64);
  memory.reset();
  static_cast<char *>(survivor)[0] = 1;
  RankMemory::free(survivor);
}

TEST(RankMemory, ScopesNestPerThread) {
  auto outer = RankMemory::make(), inner = RankMemory::make();
  RankMemory &process = currentMemory();
  {
    MemoryScope first(*outer);
    EXPECT_EQ(&currentMemory(), outer.get());
    {
      MemoryScope second(*inner);
      EXPECT_EQ(&currentMemory(), inner.get());
      std::thread([&] { EXPECT_EQ(&currentMemory(), &process); }).join();
    }
    EXPECT_EQ(&currentMemory(), outer.get());
  }
  EXPECT_EQ(&currentMemory(), &process);
}

namespace {

/// Room for `blocks` blocks of up to 128 bytes.
class FewBlocks final : public PeerMemory {
public:
  explicit FewBlocks(int blocks) : left(blocks) {}

  void *take(size_t bytes) override {
    EXPECT_LE(bytes, sizeof(Block));
    if (left == 0) {
      return nullptr;
    }
    taken += static_cast<int64_t>(bytes);
    return &memory[--left];
  }
  int64_t takenBytes() const override { return taken; }
  bool holds(const void *data) const {
    return data >= &memory[0] && data < &memory[4];
  }

private:
  struct alignas(64) Block {
    char bytes[128];
  };
  Block memory[4];
  int left;
  int64_t taken = 0;
};

} // namespace

TEST(RankMemory, BlocksForPeersLieInTheirMemoryWhileThereIsSome) {
  auto peerMemory = std::make_shared<FewBlocks>(2);
  auto memory = RankMemory::make(DebugFill::None, peerMemory);
  void *own = memory->allocate(64);
  void *first = memory->allocate(64, Readers::Peers);
  void *second = memory->allocate(64, Readers::Peers);
  void *third = memory->allocate(64, Readers::Peers);
  EXPECT_FALSE(peerMemory->holds(own));
  EXPECT_TRUE(peerMemory->holds(first) && peerMemory->holds(second));
  EXPECT_FALSE(peerMemory->holds(third));
  EXPECT_EQ(memory->counts().liveBytes, 4 * 64);
  EXPECT_EQ(memory->counts().heldBytes, 4 * RankMemory::blockBytes(64));
  // A freed block goes to the next tensor of its kind only.
  RankMemory::free(first);
  void *another = memory->allocate(64);
  EXPECT_FALSE(peerMemory->holds(another));
  EXPECT_EQ(memory->allocate(64, Readers::Peers), first);
  EXPECT_EQ(memory->counts().heldBytes, 5 * RankMemory::blockBytes(64));
  for (void *data : {own, first, second, third, another}) {
    RankMemory::free(data);
  }
  EXPECT_EQ(memory->cachedBytes(), 3 * 64);
}

TEST(RankMemory, ScopesSayWhoReads) {
  auto peerMemory = std::make_shared<FewBlocks>(2);
  auto memory = RankMemory::make(DebugFill::None, peerMemory);
  std::vector<void *> blocks;
  MemoryScope outer(*memory);
  blocks.push_back(allocateHere(64));
  {
    MemoryScope inner(*memory, Readers::Peers);
    blocks.push_back(allocateHere(64));
    MemoryScope innermost(*memory);
    blocks.push_back(allocateHere(64));
  }
  blocks.push_back(allocateHere(64));
  EXPECT_EQ(peerMemory->holds(blocks[0]), false);
  EXPECT_EQ(peerMemory->holds(blocks[1]), true);
  EXPECT_EQ(peerMemory->holds(blocks[2]), false);
  EXPECT_EQ(peerMemory->holds(blocks[3]), false);
  for (void *data : blocks) {
    RankMemory::free(data);
  }
}

TEST(RankMemory, DebugModeFillsWithNan) {
  auto memory = RankMemory::make(DebugFill::Nan);
  auto *data = static_cast<float *>(memory->allocate(8));
  EXPECT_TRUE(std::isnan(data[0]) && std::isnan(data[1]));
  data[0] = 1;
  RankMemory::free(data);
  auto *again = static_cast<float *>(memory->allocate(8));
  EXPECT_EQ(again, data);
  EXPECT_TRUE(std::isnan(again[0]));
  RankMemory::free(again);
}
