//===- Reduce.cpp - Ordered sums -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Works in blocks that stay in the first-level cache: a block of accumulators
// takes rank 0's values, then those of each further rank, is divided, rounded
// and written. Every loop runs over the elements of a block, so the compiler
// vectorises it, and each element sees the same operations whatever vector it
// falls into. This file is compiled without contraction of a * b + c.
//
// Tested by test/unit/runtime/ReduceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Reduce.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

using namespace sfsdp::runtime;

//===----------------------------------------------------------------------===//
// Conversions, free of branches that would keep loops scalar
//===----------------------------------------------------------------------===//

float sfsdp::runtime::float16ToFloat(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1fu;
  uint32_t mantissa = bits & 0x3ffu;
  // A subnormal is mantissa * 2^-24, which f32 holds exactly.
  uint32_t subnormal = std::bit_cast<uint32_t>(float(mantissa) * 0x1p-24f);
  uint32_t biased = exponent == 31 ? 255u : exponent + 112u;
  uint32_t normal = (biased << 23) | (mantissa << 13);
  return std::bit_cast<float>(sign | (exponent == 0 ? subnormal : normal));
}

uint16_t sfsdp::runtime::floatToFloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  // Below 2^-14 the result is a multiple of 2^-24, which is the last place of
  // numbers around 0.5: the addition rounds, the subtraction leaves the count.
  uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) -
      std::bit_cast<uint32_t>(0.5f);
  // Rounds to nearest even at bit 13, then moves the exponent's bias from 127
  // to 15; a carry out of the mantissa raises the exponent as it should.
  uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  uint32_t normal = (rounded >> 13) - (112u << 10);
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result; // from 65520 on
  result = magnitude > 0x7f800000u ? 0x7e00u : result;  // NaN
  return uint16_t(sign | result);
}

float sfsdp::runtime::bfloat16ToFloat(uint16_t bits) {
  return std::bit_cast<float>(uint32_t(bits) << 16);
}

uint16_t sfsdp::runtime::floatToBFloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  bool isNaN = (bits & 0x7fffffffu) > 0x7f800000u;
  return uint16_t(isNaN ? 0x7fc0u : rounded);
}

//===----------------------------------------------------------------------===//
// Element types: how they are stored, in what they are added. Only f16 has a
// scale: the inverse of DivisorSplit::before
//===----------------------------------------------------------------------===//

namespace {

template <typename T>
struct Native {
  using Stored = T;
  using Sum = T;
  static Sum load(Stored value, Sum /*scale*/ = 1) { return value; }
  static Stored round(Sum value) { return value; }
  static Sum add(Sum a, Sum b) { return Sum(a + b); }
};

struct Half {
  using Stored = uint16_t;
  using Sum = float;
  static Sum load(Stored value, Sum scale = 1) {
    return float16ToFloat(value) * scale;
  }
  static Stored round(Sum value) { return floatToFloat16(value); }
  static Sum add(Sum a, Sum b) { return a + b; }
};

struct BFloat {
  using Stored = uint16_t;
  using Sum = float;
  static Sum load(Stored value, Sum /*scale*/ = 1) {
    return bfloat16ToFloat(value);
  }
  static Stored round(Sum value) { return floatToBFloat16(value); }
  static Sum add(Sum a, Sum b) { return a + b; }
};

struct Logical {
  using Stored = uint8_t;
  using Sum = uint8_t;
  static Sum load(Stored value, Sum /*scale*/ = 1) { return value != 0; }
  static Stored round(Sum value) { return value; }
  static Sum add(Sum a, Sum b) { return a | b; }
};

constexpr int64_t kBlock = 512; ///< elements; two blocks fit into 16 KiB

/// Element `i` of a buffer of any alignment.
template <typename Type>
typename Type::Stored read(const char *source, int64_t i) {
  typename Type::Stored value;
  std::memcpy(&value, source + i * sizeof value, sizeof value);
  return value;
}
template <typename Type>
void write(char *target, int64_t i, typename Type::Stored value) {
  std::memcpy(target + i * sizeof value, &value, sizeof value);
}

/// The elements to sum: one pointer per rank, from element `first`.
struct Slice {
  const std::vector<const void *> &inputs;
  int64_t first = 0;
  int64_t count = 0;
};

/// Sums the ranks [begin, end).
template <typename Type>
void sumRanks(const Slice &slice, size_t begin, size_t end,
              typename Type::Sum scale, typename Type::Sum *sum) {
  auto inputOf = [&](size_t rank) {
    return static_cast<const char *>(slice.inputs[rank]) +
           slice.first * sizeof(typename Type::Stored);
  };
  const char *input = inputOf(begin);
  for (int64_t i = 0; i < slice.count; ++i) {
    sum[i] = Type::load(read<Type>(input, i), scale);
  }
  for (size_t rank = begin + 1; rank < end; ++rank) {
    input = inputOf(rank);
    for (int64_t i = 0; i < slice.count; ++i) {
      sum[i] = Type::add(sum[i], Type::load(read<Type>(input, i), scale));
    }
  }
}

/// Sums all ranks, in blocks of `grouped` of them.
template <typename Type>
void sumGroups(const Slice &slice, size_t grouped, typename Type::Sum scale,
               typename Type::Sum *sum) {
  size_t ranks = slice.inputs.size();
  sumRanks<Type>(slice, 0, std::min(grouped, ranks), scale, sum);
  typename Type::Sum block[kBlock];
  for (size_t begin = grouped; begin < ranks; begin += grouped) {
    size_t end = std::min(begin + grouped, ranks);
    sumRanks<Type>(slice, begin, end, scale, block);
    for (int64_t i = 0; i < slice.count; ++i) {
      sum[i] = Type::add(sum[i], block[i]);
    }
  }
}

/// What every type's sum takes besides the inputs.
struct SumOptions {
  DivisorSplit split;
  size_t grouped = 1; ///< ranks per block, at least one
};

/// The whole sum. `Type::Sum` is an integer type only without division.
template <typename Type>
void sum(const std::vector<const void *> &inputs, void *output, int64_t count,
         const SumOptions &options) {
  const DivisorSplit &split = options.split;
  using Sum = typename Type::Sum;
  using Stored = typename Type::Stored;
  Sum scale = Sum(1 / split.before); // a power of two: the same as dividing
  Sum divisor = Sum(split.after);
  Sum block[kBlock];
  for (int64_t first = 0; first < count; first += kBlock) {
    int64_t length = std::min(kBlock, count - first);
    sumGroups<Type>({inputs, first, length}, options.grouped, scale, block);
    char *target = static_cast<char *>(output) + first * sizeof(Stored);
    if (split.after == 1) {
      for (int64_t i = 0; i < length; ++i) {
        write<Type>(target, i, Type::round(block[i]));
      }
      continue;
    }
    for (int64_t i = 0; i < length; ++i) {
      Sum rounded = Type::load(Type::round(block[i]));
      write<Type>(target, i, Type::round(Sum(rounded / divisor)));
    }
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

DivisorSplit sfsdp::runtime::splitDivisor(DType type, double divisor) {
  if (type != DType::Float16 || divisor < 1) {
    return {1, divisor};
  }
  double before = std::ldexp(1.0, std::ilogb(divisor) / 2);
  return {before, divisor / before};
}

void sfsdp::runtime::sumInRankOrder(const std::vector<const void *> &inputs,
                                    void *output, int64_t count, DType type,
                                    double divisor, int64_t grouped) {
  assert(!inputs.empty() && "a group has at least one rank");
  assert((divisor == 1 || !isIntegral(type)) && "integers are not divided");
  SumOptions options{splitDivisor(type, divisor),
                     grouped > 0 ? static_cast<size_t>(grouped)
                                 : inputs.size()};
  switch (type) {
  case DType::Bool:
    return sum<Logical>(inputs, output, count, options);
  case DType::UInt8:
  case DType::Int8:
    return sum<Native<uint8_t>>(inputs, output, count, options);
  case DType::Int16:
    return sum<Native<uint16_t>>(inputs, output, count, options);
  case DType::Int32:
    return sum<Native<uint32_t>>(inputs, output, count, options);
  case DType::Int64:
    return sum<Native<uint64_t>>(inputs, output, count, options);
  case DType::Float16:
    return sum<Half>(inputs, output, count, options);
  case DType::BFloat16:
    return sum<BFloat>(inputs, output, count, options);
  case DType::Float32:
    return sum<Native<float>>(inputs, output, count, options);
  case DType::Float64:
    return sum<Native<double>>(inputs, output, count, options);
  case DType::Complex64:
    return sum<Native<float>>(inputs, output, 2 * count, options);
  case DType::Complex128:
    return sum<Native<double>>(inputs, output, 2 * count, options);
  }
}
