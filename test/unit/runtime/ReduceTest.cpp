//===- ReduceTest.cpp - Ordered sums -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Reduce.h"

#include "test/support/Elements.h"

#include <bit>
#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using namespace sfsdp::test;

namespace {

std::vector<Elements> randomInputs(DType type, int ranks, int64_t count) {
  std::vector<Elements> inputs;
  for (int rank = 0; rank < ranks; ++rank) {
    inputs.emplace_back(type, count);
    inputs.back().randomize(7 * rank + 1);
  }
  return inputs;
}

double divisorFor(DType type, int ranks) {
  return isIntegral(type) ? 1 : ranks;
}

} // namespace

TEST(Reduce, EqualsTheDefinitionForEveryType) {
  for (DType type : allTypes()) {
    for (int ranks : {1, 2, 3, 5, 64}) {
      std::vector<Elements> inputs = randomInputs(type, ranks, 1037);
      double divisor = divisorFor(type, ranks);
      std::vector<const Elements *> values;
      std::vector<const void *> pointers;
      for (Elements &input : inputs) {
        values.push_back(&input);
        pointers.push_back(input.data());
      }
      Elements expected(type, 1037);
      for (int64_t i = 0; i < expected.partCount(); ++i) {
        setNaiveSum(values, i, type, divisor, expected, i);
      }
      Elements sum(type, 1037);
      sumInRankOrder(pointers, sum.data(), 1037, type, divisor);
      EXPECT_TRUE(sum == expected) << nameOf(type) << ", " << ranks;
    }
  }
}

// In f32 the order of additions shows: 2^24 + 1 is 2^24.
TEST(Reduce, GroupedSumsBlocksOfRanksFirst) {
  float big = 16777216, one = 1;
  std::vector<const void *> inputs = {&big, &one, &one, &one, &one};
  auto sum = [&](int64_t grouped) {
    float output = 0;
    sumInRankOrder(inputs, &output, 1, DType::Float32, 1, grouped);
    return output - big;
  };
  EXPECT_EQ(sum(0), 0); // (((big + 1) + 1) + 1) + 1
  EXPECT_EQ(sum(1), 0);
  EXPECT_EQ(sum(2), 4); // ((big + 1) + (1 + 1)) + 1, a tie that rounds up
  EXPECT_EQ(sum(3), 2); // ((big + 1) + 1) + (1 + 1)
  EXPECT_EQ(sum(5), 0);
  EXPECT_EQ(sum(9), 0);
}

TEST(Reduce, BitsDoNotDependOnPositionOrLength) {
  for (DType type : allTypes()) {
    std::vector<Elements> inputs = randomInputs(type, 3, 1500);
    double divisor = divisorFor(type, 3);
    Elements whole(type, 1500);
    sumInRankOrder({inputs[0].data(), inputs[1].data(), inputs[2].data()},
                   whole.data(), 1500, type, divisor);
    for (int64_t first : {0, 1, 3, 511, 513}) {
      for (int64_t count : {1, 2, 7, 15, 512, 700}) {
        Elements part(type, count);
        sumInRankOrder({inputs[0].data(first), inputs[1].data(first),
                        inputs[2].data(first)},
                       part.data(), count, type, divisor);
        EXPECT_EQ(
            std::memcmp(part.data(), whole.data(first), count * byteSize(type)),
            0)
            << nameOf(type) << " [" << first << ", +" << count << ")";
      }
    }
  }
}

TEST(Reduce, ReadsUnalignedBuffers) {
  std::vector<char> storage(4 * 100 + 1);
  Elements values(DType::Float32, 100);
  values.randomize(3);
  std::memcpy(storage.data() + 1, values.data(), 400);
  Elements sum(DType::Float32, 100);
  sumInRankOrder({storage.data() + 1}, sum.data(), 100, DType::Float32, 1);
  EXPECT_TRUE(sum == values);
}

TEST(Reduce, OutputMayBeAnInput) {
  std::vector<Elements> inputs = randomInputs(DType::BFloat16, 3, 900);
  std::vector<const void *> pointers = {inputs[0].data(), inputs[1].data(),
                                        inputs[2].data()};
  Elements expected(DType::BFloat16, 900);
  sumInRankOrder(pointers, expected.data(), 900, DType::BFloat16, 3);
  sumInRankOrder(pointers, inputs[1].data(), 900, DType::BFloat16, 3);
  EXPECT_TRUE(inputs[1] == expected);
}

// 256 + 1 rounds back to 256 in bf16; the sum of F18 is rounded only once.
TEST(Reduce, F18_SixteenBitSumsAccumulateInSinglePrecision) {
  std::vector<Elements> inputs(4, Elements(DType::BFloat16, 1));
  inputs[0].setPart(0, 256);
  inputs[1].setPart(0, 1);
  inputs[2].setPart(0, 1);
  inputs[3].setPart(0, 2);
  Elements sum(DType::BFloat16, 1);
  sumInRankOrder(
      {inputs[0].data(), inputs[1].data(), inputs[2].data(), inputs[3].data()},
      sum.data(), 1, DType::BFloat16, 1);
  EXPECT_EQ(sum.part(0), 260);
}

// 1 / 3 differs from 1 * (1 / 3) for some numerators: 5 is the first.
TEST(Reduce, DividesTruly) {
  for (int value = 1; value < 100; ++value) {
    float input = float(value);
    float output = 0;
    sumInRankOrder({&input}, &output, 1, DType::Float32, 3);
    EXPECT_EQ(output, float(value) / 3.0f) << value;
  }
}

TEST(Reduce, IntegersWrapAround) {
  int8_t a = 100, b = 100, sum = 0;
  sumInRankOrder({&a, &b}, &sum, 1, DType::Int8, 1);
  EXPECT_EQ(sum, -56);
}

TEST(Reduce, SplitsTheDivisorOfHalfPrecisionOnly) {
  auto split = [](double divisor) {
    return splitDivisor(DType::Float16, divisor);
  };
  EXPECT_EQ(split(1).before, 1);
  EXPECT_EQ(split(3).before, 1);
  EXPECT_EQ(split(4).before, 2);
  EXPECT_EQ(split(15).before, 2);
  EXPECT_EQ(split(16).before, 4);
  EXPECT_EQ(split(64).before, 8);
  EXPECT_EQ(split(64).after, 8);
  EXPECT_EQ(split(300).before, 16);
  EXPECT_EQ(split(0.5).before, 1);
  EXPECT_EQ(splitDivisor(DType::BFloat16, 64).before, 1);
  EXPECT_EQ(splitDivisor(DType::Float32, 64).after, 64);
}

TEST(Reduce, BrainFloatRoundsToNearestEven) {
  EXPECT_EQ(floatToBFloat16(1.0f), 0x3f80);
  EXPECT_EQ(floatToBFloat16(1.00390625f), 0x3f80); // half way, to even
  EXPECT_EQ(floatToBFloat16(1.01171875f), 0x3f82); // half way, to even
  EXPECT_EQ(floatToBFloat16(3.4e38f), 0x7f80);     // rounds to infinity
  EXPECT_EQ(floatToBFloat16(std::nanf("")), 0x7fc0);
  EXPECT_EQ(bfloat16ToFloat(0xc040), -3.0f);
}

TEST(Reduce, HalfComesBackFromSinglePrecision) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    bool isNaN = (bits & 0x7fffu) > 0x7c00u;
    float value = float16ToFloat(uint16_t(bits));
    if (isNaN) {
      EXPECT_TRUE(std::isnan(value));
      EXPECT_EQ(floatToFloat16(value) & 0x7fffu, 0x7e00u);
    } else {
      EXPECT_EQ(floatToFloat16(value), bits);
    }
  }
}

#ifdef __FLT16_MANT_DIG__
// The compiler's own type is the oracle: around every half-way point between
// two values of half precision, and on random bits.
TEST(Reduce, HalfRoundsLikeTheCompiler) {
  auto check = [](uint32_t bits) {
    float value = std::bit_cast<float>(bits);
    if (!std::isnan(value)) {
      ASSERT_EQ(floatToFloat16(value),
                std::bit_cast<uint16_t>(static_cast<_Float16>(value)))
          << bits;
    }
  };
  for (uint32_t half = 0; half < 0x7c00; ++half) {
    double low = float16ToFloat(uint16_t(half));
    double high = half + 1 == 0x7c00 ? 65536 : float16ToFloat(half + 1);
    uint32_t middle = std::bit_cast<uint32_t>(float((low + high) / 2));
    for (uint32_t bits : {middle - 1, middle, middle + 1}) {
      check(bits);
      check(bits | 0x80000000u);
    }
  }
  std::mt19937 random(5);
  for (int i = 0; i < 100000; ++i) {
    check(random());
  }
}
#endif
