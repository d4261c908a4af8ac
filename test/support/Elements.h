//===- Elements.h - Buffers of every element type, and naive sums --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A buffer of elements of a type known at run time, written and read as
// doubles, and the definition of an ordered sum spelled one element at a time.
// A complex element is two parts.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_TEST_SUPPORT_ELEMENTS_H
#define SFSDP_TEST_SUPPORT_ELEMENTS_H

#include "runtime/Reduce.h"

#include <cmath>
#include <cstring>
#include <random>

namespace sfsdp::test {

using runtime::DType;

inline std::vector<DType> allTypes() {
  std::vector<DType> types;
  for (int i = 0; i < runtime::kDTypeCount; ++i) {
    types.push_back(static_cast<DType>(i));
  }
  return types;
}

/// `count` elements of `type`, zero at first.
class Elements {
public:
  Elements(DType type, int64_t count)
      : type(type), length(count), bytes(count * runtime::byteSize(type)) {}

  int64_t count() const { return length; }
  int64_t partCount() const { return isComplex(type) ? 2 * length : length; }
  void *data() { return bytes.data(); }
  const void *data() const { return bytes.data(); }
  /// Address of element `i`.
  const void *data(int64_t i) const {
    return bytes.data() + i * runtime::byteSize(type);
  }

  /// Every bit set: NaN for floating-point types.
  void poison() { std::fill(bytes.begin(), bytes.end(), char(0xff)); }

  void setPart(int64_t i, double value);
  double part(int64_t i) const;

  /// Random values; large, small and of both signs where the type has them.
  void randomize(uint32_t seed);

  bool operator==(const Elements &other) const { return bytes == other.bytes; }

private:
  template <typename T>
  void store(int64_t i, T value) {
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  template <typename T>
  T fetch(int64_t i) const {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    return value;
  }

  DType type;
  int64_t length;
  std::vector<char> bytes;
};

inline void Elements::setPart(int64_t i, double value) {
  switch (type) {
  case DType::Bool:
    return store<uint8_t>(i, value != 0);
  case DType::UInt8:
    return store<uint8_t>(i, uint8_t(int64_t(value)));
  case DType::Int8:
    return store<int8_t>(i, int8_t(int64_t(value)));
  case DType::Int16:
    return store<int16_t>(i, int16_t(int64_t(value)));
  case DType::Int32:
    return store<int32_t>(i, int32_t(int64_t(value)));
  case DType::Int64:
    return store<int64_t>(i, int64_t(value));
  case DType::Float16:
    return store<uint16_t>(i, runtime::floatToFloat16(float(value)));
  case DType::BFloat16:
    return store<uint16_t>(i, runtime::floatToBFloat16(float(value)));
  case DType::Float32:
  case DType::Complex64:
    return store<float>(i, float(value));
  case DType::Float64:
  case DType::Complex128:
    return store<double>(i, value);
  }
}

inline double Elements::part(int64_t i) const {
  switch (type) {
  case DType::Bool:
  case DType::UInt8:
    return fetch<uint8_t>(i);
  case DType::Int8:
    return fetch<int8_t>(i);
  case DType::Int16:
    return fetch<int16_t>(i);
  case DType::Int32:
    return fetch<int32_t>(i);
  case DType::Int64:
    return double(fetch<int64_t>(i));
  case DType::Float16:
    return runtime::float16ToFloat(fetch<uint16_t>(i));
  case DType::BFloat16:
    return runtime::bfloat16ToFloat(fetch<uint16_t>(i));
  case DType::Float32:
  case DType::Complex64:
    return fetch<float>(i);
  case DType::Float64:
  case DType::Complex128:
    return fetch<double>(i);
  }
  return 0;
}

inline void Elements::randomize(uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> mantissa(-100, 100);
  std::uniform_int_distribution<int> exponent(-10, 3);
  for (int64_t i = 0; i < partCount(); ++i) {
    double value = mantissa(random);
    bool fraction = isFloatingPoint(type) || isComplex(type);
    setPart(i,
            fraction ? std::ldexp(value, exponent(random)) : std::trunc(value));
  }
}

/// Element `i` of the sum of `inputs` over the ranks in their order, rounded to
/// the element type and divided by `divisor` in it.
inline void setNaiveSum(const std::vector<const Elements *> &inputs, int64_t i,
                        DType type, double divisor, Elements &output,
                        int64_t outputIndex) {
  bool isDouble = type == DType::Float64 || type == DType::Complex128;
  bool isFraction = isFloatingPoint(type) || isComplex(type);
  runtime::DivisorSplit split = runtime::splitDivisor(type, divisor);
  double sum = 0;
  for (size_t rank = 0; rank < inputs.size(); ++rank) {
    double value = inputs[rank]->part(i) / split.before;
    if (rank == 0) {
      sum = value;
    } else if (type == DType::Bool) {
      sum = sum != 0 || value != 0;
    } else {
      sum = isDouble || !isFraction ? sum + value
                                    : double(float(sum) + float(value));
    }
  }
  output.setPart(outputIndex, sum);
  if (divisor != 1) {
    double rounded = output.part(outputIndex);
    output.setPart(outputIndex,
                   isDouble ? rounded / split.after
                            : double(float(rounded) / float(split.after)));
  }
}

} // namespace sfsdp::test

#endif // SFSDP_TEST_SUPPORT_ELEMENTS_H
