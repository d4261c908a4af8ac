//===- SafetensorsWriter.cpp - Writing safetensors files -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header is known before the contents, so a file of any size is written
// without holding it in memory.
//
// Tested by test/unit/runtime/SafetensorsWriterTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Json.h"
#include "runtime/Safetensors.h"
#include "runtime/TensorBytes.h"

#include <algorithm>

using namespace sfsdp::runtime;

namespace {

/// The header is padded with spaces so that the buffer is aligned.
constexpr size_t kBufferAlignment = 8;

constexpr const char *kMetadataName = "__metadata__";

std::string littleEndian(uint64_t number) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) {
    bytes += static_cast<char>(number >> (8 * i));
  }
  return bytes;
}

void sortByPlace(std::vector<SafetensorsSpec> &specs) {
  std::sort(specs.begin(), specs.end(), [](const auto &a, const auto &b) {
    return std::pair(-byteSize(a.dtype), std::string_view(a.name)) <
           std::pair(-byteSize(b.dtype), std::string_view(b.name));
  });
}

Json describe(const SafetensorsSpec &spec, int64_t begin, int64_t end) {
  Json tensor = Json::object();
  tensor.add("dtype", safetensorsNameOf(spec.dtype));
  tensor.add("shape", Json::listOf(spec.shape));
  tensor.add("data_offsets", Json::listOf(std::vector<int64_t>{begin, end}));
  return tensor;
}

Json describe(const SafetensorsMetadata &metadata) {
  Json object = Json::object();
  for (const auto &[key, value] : metadata) {
    object.add(key, value);
  }
  return object;
}

std::string headerText(const Json &header) {
  std::string text = writeJson(header);
  text.resize((text.size() + kBufferAlignment - 1) / kBufferAlignment *
                  kBufferAlignment,
              ' ');
  return littleEndian(text.size()) + text;
}

} // namespace

Expected<SafetensorsWriter>
SafetensorsWriter::create(const std::string &path,
                          std::vector<SafetensorsSpec> specs,
                          const SafetensorsMetadata &metadata) {
  sortByPlace(specs);
  Json header = Json::object();
  if (!metadata.empty()) {
    header.add(kMetadataName, describe(metadata));
  }
  std::vector<Slot> slots;
  std::unordered_map<std::string, size_t> positions;
  int64_t end = 0;
  for (const SafetensorsSpec &spec : specs) {
    std::string where = path + ": tensor \"" + spec.name + "\"";
    std::optional<int64_t> bytes = contiguousBytes(spec.shape, spec.dtype);
    if (!bytes) {
      return Status::error(where + " has shape " + describeShape(spec.shape) +
                           ", which is not that of a tensor");
    }
    if (spec.name == kMetadataName ||
        !positions.emplace(spec.name, slots.size()).second) {
      return Status::error(where + ": expected names that are unique and not " +
                           kMetadataName);
    }
    int64_t begin = end;
    if (__builtin_add_overflow(begin, *bytes, &end)) {
      return Status::error(where + " makes the file too large");
    }
    header.add(spec.name, describe(spec, begin, end));
    slots.push_back({spec.name, static_cast<uint64_t>(begin),
                     static_cast<uint64_t>(*bytes), 0});
  }
  std::string text = headerText(header);
  Expected<AtomicFile> file = AtomicFile::create(path);
  if (!file) {
    return file.status();
  }
  if (Status status = file->write(0, text); !status.ok()) {
    return status;
  }
  SafetensorsWriter writer(*std::move(file));
  for (Slot &slot : slots) {
    slot.offset += text.size();
  }
  writer.slots = std::move(slots);
  writer.positions = std::move(positions);
  return writer;
}

Status SafetensorsWriter::write(std::string_view name, uint64_t offset,
                                std::span<const std::byte> content) {
  auto found = positions.find(std::string(name));
  if (found == positions.end()) {
    return Status::error(file.path() + ": no tensor \"" + std::string(name) +
                         "\" was announced");
  }
  Slot &slot = slots[found->second];
  if (offset > slot.bytes || content.size() > slot.bytes - offset) {
    return Status::error(file.path() + ": cannot write " +
                         std::to_string(content.size()) + " bytes at " +
                         std::to_string(offset) + " of tensor \"" + slot.name +
                         "\", which has " + std::to_string(slot.bytes));
  }
  slot.written += content.size();
  return file.write(slot.offset + offset, content);
}

Status SafetensorsWriter::commit() {
  for (const Slot &slot : slots) {
    if (slot.written != slot.bytes) {
      return Status::error(file.path() + ": tensor \"" + slot.name +
                           "\": expected " + std::to_string(slot.bytes) +
                           " bytes, got " + std::to_string(slot.written));
    }
  }
  return file.commit();
}
