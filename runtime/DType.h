//===- DType.h - Element types -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element types that plans, weight files and process groups know. Codes of
// the ExportedProgram format and names of PyTorch and safetensors are spelled
// here once.
//
// Tested by test/unit/runtime/DTypeTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_DTYPE_H
#define SFSDP_RUNTIME_DTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace sfsdp::runtime {

enum class DType : uint8_t {
  Bool,
  UInt8,
  Int8,
  Int16,
  Int32,
  Int64,
  Float16,
  BFloat16,
  Float32,
  Float64,
  Complex64,
  Complex128,
};

inline constexpr int kDTypeCount = 12;

/// Bytes of one element.
int64_t byteSize(DType type);

/// The name used in plans and messages, as in the IR: "f32", "bf16", "i64",
/// "ui8", "i1", "complex<f32>", ….
std::string_view nameOf(DType type);
std::optional<DType> dtypeFromName(std::string_view name);

/// The name used by safetensors files: "F32", "BF16", "I64", "BOOL", ….
/// safetensors names Complex64 "C64" and has no Complex128 ("C128" is ours).
std::string_view safetensorsNameOf(DType type);
std::optional<DType> dtypeFromSafetensorsName(std::string_view name);

/// The code that `torch.export` archives use (torch/_export/serde/schema.py,
/// `ScalarType`); absent for types that no plan can hold, such as float8.
std::optional<DType> dtypeFromExportCode(int64_t code);

/// The value of c10::ScalarType, which operators take as an int argument.
int64_t torchCodeOf(DType type);
std::optional<DType> dtypeFromTorchCode(int64_t code);

bool isFloatingPoint(DType type); ///< real floating-point types only
bool isComplex(DType type);
bool isIntegral(DType type); ///< integers and Bool

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_DTYPE_H
