//===- DType.cpp - Element types ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row per element type; every question is a look-up in this table.
//
// Tested by test/unit/runtime/DTypeTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/DType.h"

using namespace sfsdp::runtime;

namespace {

struct Row {
  DType type;
  int64_t bytes;
  std::string_view name;
  std::string_view safetensors;
  int64_t exportCode; ///< ScalarType of torch/_export/serde/schema.py
  int64_t torchCode;  ///< c10::ScalarType
};

constexpr Row kRows[kDTypeCount] = {
    {DType::Bool, 1, "i1", "BOOL", 12, 11},
    {DType::UInt8, 1, "ui8", "U8", 1, 0},
    {DType::Int8, 1, "i8", "I8", 2, 1},
    {DType::Int16, 2, "i16", "I16", 3, 2},
    {DType::Int32, 4, "i32", "I32", 4, 3},
    {DType::Int64, 8, "i64", "I64", 5, 4},
    {DType::Float16, 2, "f16", "F16", 6, 5},
    {DType::BFloat16, 2, "bf16", "BF16", 13, 15},
    {DType::Float32, 4, "f32", "F32", 7, 6},
    {DType::Float64, 8, "f64", "F64", 8, 7},
    {DType::Complex64, 8, "complex<f32>", "C64", 10, 9},
    {DType::Complex128, 16, "complex<f64>", "C128", 11, 10},
};

const Row &rowOf(DType type) { return kRows[static_cast<int>(type)]; }

template <typename Matches>
std::optional<DType> find(Matches matches) {
  for (const Row &row : kRows) {
    if (matches(row)) {
      return row.type;
    }
  }
  return std::nullopt;
}

} // namespace

int64_t sfsdp::runtime::byteSize(DType type) { return rowOf(type).bytes; }

std::string_view sfsdp::runtime::nameOf(DType type) { return rowOf(type).name; }

std::optional<DType> sfsdp::runtime::dtypeFromName(std::string_view name) {
  return find([&](const Row &row) { return row.name == name; });
}

std::string_view sfsdp::runtime::safetensorsNameOf(DType type) {
  return rowOf(type).safetensors;
}

std::optional<DType>
sfsdp::runtime::dtypeFromSafetensorsName(std::string_view name) {
  return find([&](const Row &row) { return row.safetensors == name; });
}

std::optional<DType> sfsdp::runtime::dtypeFromExportCode(int64_t code) {
  return find([&](const Row &row) { return row.exportCode == code; });
}

int64_t sfsdp::runtime::torchCodeOf(DType type) {
  return rowOf(type).torchCode;
}

std::optional<DType> sfsdp::runtime::dtypeFromTorchCode(int64_t code) {
  return find([&](const Row &row) { return row.torchCode == code; });
}

bool sfsdp::runtime::isFloatingPoint(DType type) {
  return type >= DType::Float16 && type <= DType::Float64;
}

bool sfsdp::runtime::isComplex(DType type) { return type >= DType::Complex64; }

bool sfsdp::runtime::isIntegral(DType type) { return type <= DType::Int64; }
