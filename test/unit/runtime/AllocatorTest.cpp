//===- AllocatorTest.cpp - Tensors live in counted memory -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Allocator.h"
#include "runtime/RankMemory.h"

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

using namespace sfsdp::runtime;

TEST(Allocator, CountsTheTensorsOfAScope) {
  useCountedMemory();
  auto memory = RankMemory::make();
  at::Tensor survivor;
  {
    MemoryScope scope(*memory);
    at::Tensor a = at::zeros({10, 10});
    EXPECT_EQ(memory->counts().liveBytes, 400);
    survivor = a + a;
    EXPECT_EQ(memory->counts().liveBytes, 800);
  }
  EXPECT_EQ(memory->counts().liveBytes, 400);
  EXPECT_EQ(memory->counts().peakBytes, 800);
  survivor.reset();
  EXPECT_EQ(memory->counts().liveBytes, 0);
}

TEST(Allocator, ServesKernelsThatAllocateRawMemory) {
  useCountedMemory();
  EXPECT_NE(c10::GetCPUAllocator()->raw_deleter(), nullptr);
  at::Tensor x = at::ones({64, 64});
  EXPECT_TRUE(at::gelu(x).defined());
}
