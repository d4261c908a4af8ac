//===- WeightFile.cpp - Tensors of archives and safetensors files ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both kinds of file answer the same two questions: which tensor has this name,
// and what are these rows of it.
//
// Tested by test/unit/runtime/WeightsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Box.h"
#include "runtime/Safetensors.h"
#include "runtime/TensorBytes.h"
#include "runtime/WeightConfig.h"
#include "runtime/Weights.h"

#include <map>
#include <mutex>
#include <set>

using namespace sfsdp::runtime;

namespace {

class SafetensorsWeights final : public WeightFile {
public:
  explicit SafetensorsWeights(Safetensors file) : file(std::move(file)) {}

  const std::string &path() const override { return file.path(); }

  std::optional<StoredTensor> find(const std::string &name) const override {
    const SafetensorsTensor *tensor = file.find(name);
    if (!tensor) {
      return std::nullopt;
    }
    StoredTensor stored;
    stored.dtype = tensor->dtype;
    stored.shape = tensor->shape;
    stored.readRows = [this, tensor](int64_t begin, int64_t end,
                                     std::span<std::byte> out) {
      return tensor->shape.empty() ? file.read(*tensor, 0, out)
                                   : file.readRows(*tensor, begin, end, out);
    };
    return stored;
  }

private:
  Safetensors file;
};

class ArchiveWeights final : public WeightFile {
public:
  static Expected<std::unique_ptr<WeightFile>> open(const std::string &path) {
    Expected<Archive> archive = Archive::open(path);
    if (!archive) {
      return archive.status();
    }
    std::unique_ptr<ArchiveWeights> weights(
        new ArchiveWeights(std::move(*archive)));
    Expected<ExportedModel> model = findExportedModel(weights->archive);
    if (!model) {
      return model.status();
    }
    for (auto read : {readWeightConfig, readConstantConfig}) {
      auto entries = read(weights->archive, model->name);
      if (!entries) {
        return entries.status();
      }
      for (ArchivedTensor &entry : *entries) {
        std::string name = entry.fqn;
        weights->entries.emplace(std::move(name), std::move(entry));
      }
    }
    return std::unique_ptr<WeightFile>(std::move(weights));
  }

  const std::string &path() const override { return archive.path(); }

  std::optional<StoredTensor> find(const std::string &name) const override {
    auto entry = entries.find(name);
    if (entry == entries.end()) {
      return std::nullopt;
    }
    const ArchivedTensor &tensor = entry->second;
    StoredTensor stored;
    stored.dtype = tensor.dtype;
    stored.shape = tensor.sizes;
    stored.isFake = tensor.isFake;
    stored.readRows = [this, &tensor](int64_t begin, int64_t end,
                                      std::span<std::byte> out) {
      return readRows(tensor, begin, end, out);
    };
    return stored;
  }

private:
  explicit ArchiveWeights(Archive archive) : archive(std::move(archive)) {}

  /// Reads the stretch of the record that the rows span, and picks their
  /// elements out of it when the tensor is not row-major.
  Status readRows(const ArchivedTensor &tensor, int64_t begin, int64_t end,
                  std::span<std::byte> out) const {
    std::vector<int64_t> sizes = tensor.sizes;
    int64_t first = tensor.storageOffset;
    if (!sizes.empty()) {
      first += begin * tensor.strides[0];
      sizes[0] = end - begin;
    }
    const Record *record = archive.find(tensor.record);
    if (Status status = verifyOnce(*record); !status.ok()) {
      return status;
    }
    int64_t width = byteSize(tensor.dtype);
    Value value{0, tensor.dtype, sizes, tensor.strides, 0};
    if (isContiguous(sizes, tensor.strides)) {
      return archive.readAt(*record, first * width, out);
    }
    std::vector<std::byte> stretch(static_cast<size_t>(spanBytes(value)));
    if (Status status = archive.readAt(*record, first * width, stretch);
        !status.ok()) {
      return status;
    }
    copyBox(sizes, width, {stretch.data(), tensor.strides},
            {out.data(), rowMajorStrides(sizes)});
    return Status();
  }

  /// Compares the record's checksum when it is read for the first time.
  Status verifyOnce(const Record &record) const {
    std::lock_guard lock(mutex);
    if (verified.contains(record.name)) {
      return Status();
    }
    Status status = archive.verify(record);
    if (status.ok()) {
      verified.insert(record.name);
    }
    return status;
  }

  Archive archive;
  std::map<std::string, ArchivedTensor> entries;
  mutable std::mutex mutex; ///< ranks as threads share the file
  mutable std::set<std::string> verified;
};

} // namespace

Expected<std::unique_ptr<WeightFile>>
WeightFile::open(const std::string &path) {
  if (path.ends_with(".pt2")) {
    return ArchiveWeights::open(path);
  }
  Expected<Safetensors> file = Safetensors::open(path);
  if (!file) {
    return file.status();
  }
  return std::unique_ptr<WeightFile>(
      std::make_unique<SafetensorsWeights>(std::move(*file)));
}
