//===- Weights.h - Values for parameters, buffers and constants -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what a rank needs of each argument, its box and nothing else, from an
// export archive (.pt2), a safetensors file or an indexed folder of them, or
// draws it. Names are those of the model; a tied parameter may stand under any
// of its names.
//
// Tested by test/unit/runtime/WeightsTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_WEIGHTS_H
#define SFSDP_RUNTIME_WEIGHTS_H

#include "runtime/Executor.h"

#include <memory>
#include <optional>
#include <span>

namespace sfsdp::runtime {

/// A tensor in a file. Valid while its WeightFile lives.
struct StoredTensor {
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;
  /// Captured without a value.
  bool isFake = false;
  /// Fills `out` with rows [begin, end) of dimension 0, row-major. A tensor
  /// without dimensions has one row.
  std::function<Status(int64_t begin, int64_t end, std::span<std::byte> out)>
      readRows;
};

/// A file, archive or folder of weights.
class WeightFile {
public:
  virtual ~WeightFile() = default;

  /// By the kind of what stands at `path`.
  static Expected<std::unique_ptr<WeightFile>> open(const std::string &path);

  virtual const std::string &path() const = 0;
  virtual std::optional<StoredTensor> find(const std::string &name) const = 0;
};

/// What parameters get that are in no file.
struct Initialization {
  enum class Kind : uint8_t { None, Zeros, Normal };
  Kind kind = Kind::None;
  double standardDeviation = 0;
  uint64_t seed = 0;
};

/// "zeros" or "normal:STD"; the seed is left 0.
Expected<Initialization> parseInitialization(const std::string &text);

/// The value of element `index` (row-major in the global tensor) of parameter
/// `name`: the same for every mesh and order of reading.
double initialValue(const Initialization &how, const std::string &name,
                    uint64_t index);

/// Fills every parameter, buffer and constant of `executor` with this rank's
/// box. Inputs are left alone, optimizer state stays zero. An error names the
/// argument: missing everywhere, of another shape or element type, or without
/// a value in its archive.
Status loadWeights(const Plan &plan, const MeshPosition &position,
                   const std::vector<std::unique_ptr<WeightFile>> &files,
                   const Initialization &how, Executor &executor);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_WEIGHTS_H
