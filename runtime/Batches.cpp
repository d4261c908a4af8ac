//===- Batches.cpp - Training data ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening a file, and the form with one tensor per input. TokenStream.cpp has
// the other one.
//
// Tested by test/unit/runtime/BatchesTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Batches.h"
#include "runtime/Digest.h"
#include "runtime/Safetensors.h"
#include "runtime/TensorBytes.h"
#include "runtime/TokenStream.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <span>

using namespace sfsdp::runtime;

//===----------------------------------------------------------------------===//
// What a plan reads
//===----------------------------------------------------------------------===//

namespace {

/// Rows of the weight that an embedding on `storage` reads.
std::optional<int64_t> vocabularyOf(const Plan &plan, StorageId storage) {
  for (const Program &program : plan.programs) {
    for (const Instruction &instruction : program.instructions) {
      const auto *kernel = std::get_if<KernelCall>(&instruction.action);
      if (!kernel || kernel->name != "aten::embedding" ||
          kernel->arguments.size() < 2) {
        continue;
      }
      const auto *weight = std::get_if<ValueRef>(&kernel->arguments[0]);
      const auto *ids = std::get_if<ValueRef>(&kernel->arguments[1]);
      if (weight && ids && plan.values[ids->id].storage == storage) {
        return plan.values[weight->id].sizes.at(0);
      }
    }
  }
  return std::nullopt;
}

} // namespace

std::vector<InputSpec> sfsdp::runtime::inputsOf(const Plan &plan) {
  std::vector<InputSpec> inputs;
  for (const Argument &argument : plan.arguments) {
    if (argument.role != Role::Input) {
      continue;
    }
    const Value &value = plan.values[argument.value];
    inputs.push_back({argument.name, value.dtype, value.sizes,
                      vocabularyOf(plan, value.storage)});
  }
  return inputs;
}

//===----------------------------------------------------------------------===//
// One tensor per input
//===----------------------------------------------------------------------===//

namespace {

class TensorBatches final : public Batches {
public:
  static Expected<std::unique_ptr<Batches>>
  open(const std::string &path, const std::vector<InputSpec> &inputs,
       std::string fingerprint) {
    Expected<Safetensors> file = Safetensors::open(path);
    if (!file) {
      return file.status();
    }
    std::unique_ptr<TensorBatches> batches(
        new TensorBatches(std::move(*file), inputs, std::move(fingerprint)));
    if (Status status = batches->bind(); !status.ok()) {
      return status.within(path);
    }
    if (Status status = batches->checkIds(); !status.ok()) {
      return status.within(path);
    }
    return std::unique_ptr<Batches>(std::move(batches));
  }

  int64_t count() const override { return batchCount; }

  Status read(int64_t index,
              const std::vector<std::span<std::byte>> &out) const override {
    for (size_t input = 0; input < tensors.size(); ++input) {
      if (Status status =
              file.readRows(*tensors[input], index, index + 1, out[input]);
          !status.ok()) {
        return status;
      }
    }
    return Status();
  }

  const std::string &fingerprint() const override { return digest; }

private:
  TensorBatches(Safetensors file, const std::vector<InputSpec> &inputs,
                std::string fingerprint)
      : file(std::move(file)), inputs(inputs), digest(std::move(fingerprint)) {}

  Status bind();
  Status checkIds() const;
  Status checkIds(const InputSpec &input,
                  const SafetensorsTensor &tensor) const;

  Safetensors file;
  std::vector<InputSpec> inputs;
  std::vector<const SafetensorsTensor *> tensors; ///< by input
  std::string digest;
  int64_t batchCount = 0;
};

/// Shapes are static: another batch size needs another capture.
std::string capturedFor(const std::vector<int64_t> &shape) {
  return shape.empty() ? ""
                       : ": the graph was captured for batch " +
                             std::to_string(shape.front()) +
                             ", capture it again for another";
}

Status TensorBatches::bind() {
  for (const InputSpec &input : inputs) {
    const SafetensorsTensor *tensor = file.find(input.name);
    if (!tensor) {
      return Status::error("has no tensor for input '" + input.name + "'");
    }
    std::vector<int64_t> shape = tensor->shape;
    int64_t batches = shape.empty() ? 0 : shape.front();
    bool same = !shape.empty() && tensor->dtype == input.dtype &&
                std::equal(shape.begin() + 1, shape.end(), input.shape.begin(),
                           input.shape.end());
    if (!same) {
      return Status::error(
          "tensor '" + input.name + "' is " +
          std::string(nameOf(tensor->dtype)) + describeShape(shape) +
          ", expected " + std::string(nameOf(input.dtype)) +
          describeShape(input.shape) + " behind a first dimension of batches" +
          capturedFor(input.shape));
    }
    if (!tensors.empty() && batches != batchCount) {
      return Status::error("tensor '" + input.name + "' has " +
                           std::to_string(batches) + " batches, others have " +
                           std::to_string(batchCount));
    }
    batchCount = batches;
    tensors.push_back(tensor);
  }
  return batchCount > 0 ? Status() : Status::error("holds no batch");
}

bool holdsIds(const InputSpec &input) {
  return input.vocabulary &&
         (input.dtype == DType::Int64 || input.dtype == DType::Int32);
}

/// The first of the ids in `batch` that `input` cannot hold.
std::optional<int64_t> findOutside(const InputSpec &input,
                                   std::span<const std::byte> batch) {
  size_t width = byteSize(input.dtype);
  for (size_t at = 0; at < batch.size(); at += width) {
    int64_t id = 0;
    std::memcpy(&id, &batch[at], width);
    if (width == 4) {
      id = static_cast<int32_t>(id);
    }
    if (id < 0 || id >= *input.vocabulary) {
      return id;
    }
  }
  return std::nullopt;
}

/// Reads every id once.
Status TensorBatches::checkIds() const {
  for (size_t index = 0; index < inputs.size(); ++index) {
    if (!holdsIds(inputs[index])) {
      continue;
    }
    if (Status status = checkIds(inputs[index], *tensors[index]);
        !status.ok()) {
      return status;
    }
  }
  return Status();
}

Status TensorBatches::checkIds(const InputSpec &input,
                               const SafetensorsTensor &tensor) const {
  std::vector<std::byte> batch(
      static_cast<size_t>(*contiguousBytes(input.shape, input.dtype)));
  for (int64_t index = 0; index < batchCount; ++index) {
    if (Status status = file.readRows(tensor, index, index + 1, batch);
        !status.ok()) {
      return status;
    }
    if (std::optional<int64_t> id = findOutside(input, batch)) {
      return outsideVocabulary(*id, *input.vocabulary,
                               "batch " + std::to_string(index) +
                                   " of input '" + input.name + "'");
    }
  }
  return Status();
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// Size and digest of the first and last MiB.
Expected<std::string> fingerprintOf(const std::string &path) {
  constexpr uint64_t kEnd = 1 << 20;
  Expected<InputFile> file = InputFile::open(path);
  if (!file) {
    return file.status();
  }
  Sha256 digest;
  for (uint64_t offset :
       {uint64_t{0}, file->size() - std::min(file->size(), kEnd)}) {
    std::vector<char> piece(std::min(file->size(), kEnd));
    if (Status status = file->read(offset, piece); !status.ok()) {
      return status;
    }
    digest.update(std::string_view(piece.data(), piece.size()));
  }
  return std::to_string(file->size()) + " bytes, " + digest.hex().substr(0, 16);
}

} // namespace

Status sfsdp::runtime::outsideVocabulary(int64_t id, int64_t vocabulary,
                                         const std::string &where) {
  return Status::error(where + " holds id " + std::to_string(id) +
                       ", the embedding that reads it has " +
                       std::to_string(vocabulary) + " rows");
}

Expected<std::unique_ptr<Batches>>
Batches::open(const std::string &path, const std::vector<InputSpec> &inputs,
              TokenType headerless) {
  Expected<std::string> fingerprint = fingerprintOf(path);
  if (!fingerprint) {
    return fingerprint.status();
  }
  if (path.ends_with(".safetensors")) {
    return TensorBatches::open(path, inputs, std::move(*fingerprint));
  }
  return openTokenStream(path, inputs, headerless, std::move(*fingerprint));
}
