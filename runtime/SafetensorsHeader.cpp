//===- SafetensorsHeader.cpp - What a safetensors file says of itself ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/runtime/SafetensorsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/SafetensorsHeader.h"

#include "runtime/Json.h"
#include "runtime/TensorBytes.h"

#include <algorithm>
#include <array>

using namespace sfsdp::runtime;

namespace {

constexpr uint64_t kLengthBytes = 8;
/// The format's own limit.
constexpr uint64_t kLargestHeaderBytes = 100'000'000;

Status damaged(const InputFile &file, std::string_view detail) {
  return Status::error(
      file.path() + ": truncated or corrupt safetensors file (" +
      std::to_string(file.size()) + " bytes): " + std::string(detail));
}

Expected<uint64_t> readHeaderLength(const InputFile &file) {
  if (file.size() < kLengthBytes) {
    return damaged(file, "expected at least 8 bytes");
  }
  std::array<unsigned char, kLengthBytes> bytes;
  if (Status status = file.read(0, std::as_writable_bytes(std::span(bytes)));
      !status.ok()) {
    return status;
  }
  uint64_t length = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    length |= uint64_t{bytes[i]} << (8 * i);
  }
  if (length > kLargestHeaderBytes || length > file.size() - kLengthBytes) {
    return damaged(file, "its header of " + std::to_string(length) +
                             " bytes is longer than the file or than 100 MB");
  }
  return length;
}

Expected<JsonDocument> readHeaderText(const InputFile &file, uint64_t length) {
  std::string text(length, '\0');
  if (Status status = file.read(kLengthBytes, std::span<char>(text));
      !status.ok()) {
    return status;
  }
  return parseJson(text, file.path() + "(header)");
}

Status readMetadata(JsonPlace place, SafetensorsMetadata &metadata) {
  Expected<std::vector<JsonMember>> members = place.members();
  if (!members) {
    return members.status();
  }
  for (const JsonMember &member : *members) {
    Expected<std::string_view> value = member.value.string();
    if (!value) {
      return value.status();
    }
    metadata.emplace_back(member.name, *value);
  }
  return Status();
}

/// Reads one tensor; its offset counts from the start of the buffer.
Expected<SafetensorsTensor> readTensor(JsonMember member) {
  SafetensorsTensor tensor;
  tensor.name = member.name;
  std::string dtypeName;
  std::vector<int64_t> range;
  JsonFields fields(member.value);
  fields.required("dtype", dtypeName);
  fields.required("shape", tensor.shape);
  fields.required("data_offsets", range);
  if (Status status = fields.finishStrictly(); !status.ok()) {
    return status;
  }
  std::optional<DType> dtype = dtypeFromSafetensorsName(dtypeName);
  if (!dtype) {
    return member.value.error("element type " + writeJson(Json(dtypeName)) +
                              " is not supported");
  }
  if (range.size() != 2 || range[0] < 0 || range[1] < range[0]) {
    return member.value.error("expected data_offsets [begin, end], got " +
                              describeShape(range));
  }
  std::optional<int64_t> bytes = contiguousBytes(tensor.shape, *dtype);
  if (!bytes || *bytes != range[1] - range[0]) {
    return member.value.error(
        "shape " + describeShape(tensor.shape) + " of " + dtypeName + " has " +
        (bytes ? std::to_string(*bytes) : "too many") +
        " bytes, data_offsets hold " + std::to_string(range[1] - range[0]));
  }
  tensor.dtype = *dtype;
  tensor.offset = static_cast<uint64_t>(range[0]);
  tensor.bytes = static_cast<uint64_t>(*bytes);
  return tensor;
}

/// Sorts tensors by place, and checks that they fill the buffer.
Status arrange(const InputFile &file, uint64_t bufferOffset,
               std::vector<SafetensorsTensor> &tensors) {
  auto place = [](const SafetensorsTensor &tensor) {
    return std::pair(tensor.offset, tensor.bytes);
  };
  std::stable_sort(
      tensors.begin(), tensors.end(),
      [&](const auto &a, const auto &b) { return place(a) < place(b); });
  uint64_t filled = 0;
  for (SafetensorsTensor &tensor : tensors) {
    if (tensor.offset != filled) {
      return damaged(file, "tensor \"" + tensor.name + "\" begins at byte " +
                               std::to_string(tensor.offset) +
                               " of the buffer, expected " +
                               std::to_string(filled));
    }
    filled += tensor.bytes;
    tensor.offset += bufferOffset;
  }
  uint64_t expected = bufferOffset + filled;
  if (file.size() != expected) {
    return damaged(file,
                   "its header says " + std::to_string(expected) + " bytes");
  }
  return Status();
}

} // namespace

Expected<SafetensorsHeader>
sfsdp::runtime::readSafetensorsHeader(const InputFile &file) {
  Expected<uint64_t> length = readHeaderLength(file);
  if (!length) {
    return length.status();
  }
  Expected<JsonDocument> document = readHeaderText(file, *length);
  if (!document) {
    return document.status();
  }
  Expected<std::vector<JsonMember>> members = document->root().members();
  if (!members) {
    return members.status();
  }
  SafetensorsHeader header;
  for (const JsonMember &member : *members) {
    if (member.name == "__metadata__") {
      Status status = readMetadata(member.value, header.metadata);
      if (!status.ok()) {
        return status;
      }
      continue;
    }
    Expected<SafetensorsTensor> tensor = readTensor(member);
    if (!tensor) {
      return tensor.status();
    }
    header.tensors.push_back(*std::move(tensor));
  }
  Status status = arrange(file, kLengthBytes + *length, header.tensors);
  if (!status.ok()) {
    return status;
  }
  return header;
}
