//===- Safetensors.h - Weights and batches in safetensors files ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A safetensors file is a length (8 bytes, little-endian), a JSON header of
// that length and one buffer that the tensors fill without holes. A large model
// is a folder of such files with `model.safetensors.index.json`.
//
// Tested by test/unit/runtime/SafetensorsTest.cpp and
// SafetensorsWriterTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_SAFETENSORS_H
#define SFSDP_RUNTIME_SAFETENSORS_H

#include "runtime/DType.h"
#include "runtime/File.h"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sfsdp::runtime {

/// Free text beside the tensors, in the file's order.
using SafetensorsMetadata = std::vector<std::pair<std::string, std::string>>;

/// One tensor, row-major and contiguous.
struct SafetensorsTensor {
  std::string name;
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;
  uint64_t bytes = 0;
  size_t file = 0;     ///< index of the file that holds it
  uint64_t offset = 0; ///< bytes from that file's start
};

/// Open safetensors files. Reads may come from several threads.
class Safetensors {
public:
  /// Opens a file, or a folder with `model.safetensors.index.json` or
  /// `model.safetensors`. Headers are checked here, whole.
  static Expected<Safetensors> open(const std::string &path);

  const std::string &path() const { return name; }

  /// In the order of the buffer; of a folder only what its index lists, by
  /// file.
  const std::vector<SafetensorsTensor> &tensors() const { return entries; }

  /// That of the first file.
  const SafetensorsMetadata &metadata() const { return text; }

  /// The tensor called `name`; null when there is none. Valid while this lives.
  const SafetensorsTensor *find(std::string_view name) const;

  /// Fills `out` from byte `offset` of the tensor on.
  Status read(const SafetensorsTensor &tensor, uint64_t offset,
              std::span<std::byte> out) const;

  /// Rows [begin, end) of dimension 0, which `out` has room for exactly.
  /// Requires a tensor of at least one dimension.
  Status readRows(const SafetensorsTensor &tensor, int64_t begin, int64_t end,
                  std::span<std::byte> out) const;

private:
  Safetensors() = default;

  static Expected<Safetensors> openFile(const std::string &path);
  static Expected<Safetensors> openFolder(const std::string &folder);
  Status addFile(const std::string &path);
  void index();

  std::string name;
  std::vector<InputFile> files;
  std::vector<SafetensorsTensor> entries;
  SafetensorsMetadata text;
  std::unordered_map<std::string_view, size_t> positions;
};

/// What is to be written.
struct SafetensorsSpec {
  std::string name;
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;
};

/// Writes one file, tensor by tensor in any order and in pieces; the file
/// appears when committed. Equal specs, metadata and contents give equal bytes:
/// the buffer is ordered by element size, then name, which keeps every tensor
/// aligned.
class SafetensorsWriter {
public:
  static Expected<SafetensorsWriter>
  create(const std::string &path, std::vector<SafetensorsSpec> specs,
         const SafetensorsMetadata &metadata = {});

  /// Writes `content` at byte `offset` of tensor `name`. Every byte is written
  /// once.
  Status write(std::string_view name, uint64_t offset,
               std::span<const std::byte> content);

  /// Requires that everything was written; call once.
  Status commit();

private:
  struct Slot {
    std::string name;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    uint64_t written = 0;
  };

  explicit SafetensorsWriter(AtomicFile file) : file(std::move(file)) {}

  AtomicFile file;
  std::vector<Slot> slots; ///< in the order of the buffer
  std::unordered_map<std::string, size_t> positions;
};

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_SAFETENSORS_H
