//===- Batches.h - Training data --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two forms of data: a stream of token ids (.bin), cut into batches in order,
// where the last input is the first one shifted by one token; and a safetensors
// file with one tensor per input of the model, [batches, …shape].
//
// Which batch a rank reads follows from step and dp rank alone: see batchOf.
//
// Tested by test/unit/runtime/BatchesTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_BATCHES_H
#define SFSDP_RUNTIME_BATCHES_H

#include "runtime/Plan.h"

#include <memory>
#include <optional>
#include <span>

namespace sfsdp::runtime {

/// An input of the plan that data must give.
struct InputSpec {
  std::string name;
  DType dtype = DType::Int64;
  std::vector<int64_t> shape; ///< of one batch
  /// Rows of the embedding that reads it: ids must be below; absent when no
  /// embedding does.
  std::optional<int64_t> vocabulary;
};

/// The inputs of `plan`, in the order of its arguments.
std::vector<InputSpec> inputsOf(const Plan &plan);

/// Element type of a token stream without a header.
enum class TokenType : uint8_t { U16, U32 };

class Batches {
public:
  virtual ~Batches() = default;

  /// Opens `path` for `inputs`, and checks that it has a batch and that no id
  /// is outside its vocabulary.
  static Expected<std::unique_ptr<Batches>>
  open(const std::string &path, const std::vector<InputSpec> &inputs,
       TokenType headerless);

  /// How many batches there are, at least one.
  virtual int64_t count() const = 0;

  /// Reads batch `index` < count(): input i, row-major, into `out[i]`.
  virtual Status read(int64_t index,
                      const std::vector<std::span<std::byte>> &out) const = 0;

  /// What ranks compare before they start: size, and a digest of both ends.
  virtual const std::string &fingerprint() const = 0;
};

/// Position of a batch in the training run.
struct BatchPlace {
  int64_t step = 1;       ///< from 1
  int64_t microBatch = 0; ///< of `microBatches` per step
  int64_t rank = 0;       ///< of `ranks` data ranks
};

/// The batch at `place`, wrapping around after `count`.
inline int64_t batchOf(const BatchPlace &place, int64_t microBatches,
                       int64_t ranks, int64_t count) {
  int64_t pass = (place.step - 1) * microBatches + place.microBatch;
  return (pass * ranks + place.rank) % count;
}

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_BATCHES_H
