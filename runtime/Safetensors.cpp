//===- Safetensors.cpp - Reading safetensors files -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/runtime/SafetensorsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Safetensors.h"

#include "runtime/Json.h"
#include "runtime/SafetensorsHeader.h"

#include <filesystem>
#include <map>

using namespace sfsdp::runtime;

namespace {

constexpr const char *kIndexName = "model.safetensors.index.json";
constexpr const char *kSingleName = "model.safetensors";

/// Tensor name to file name.
using WeightMap = std::map<std::string, std::string>;

bool isPlainFileName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

Expected<WeightMap> readWeightMap(const std::string &path) {
  Expected<JsonDocument> document = readJsonFile(path);
  if (!document) {
    return document.status();
  }
  Expected<JsonPlace> map = document->root().member("weight_map");
  if (!map) {
    return map.status();
  }
  Expected<std::vector<JsonMember>> members = map->members();
  if (!members) {
    return members.status();
  }
  WeightMap files;
  for (const JsonMember &member : *members) {
    Expected<std::string_view> file = member.value.string();
    if (!file) {
      return file.status();
    }
    if (!isPlainFileName(*file)) {
      return member.value.error("expected the name of a file in this folder, "
                                "got " +
                                writeJson(Json(*file)));
    }
    files.emplace(member.name, *file);
  }
  return files;
}

} // namespace

Expected<Safetensors> Safetensors::open(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    return openFile(path);
  }
  std::string folder = path.ends_with('/') ? path : path + "/";
  if (fs::exists(folder + kIndexName, ignored)) {
    return openFolder(folder);
  }
  if (fs::exists(folder + kSingleName, ignored)) {
    return openFile(folder + kSingleName);
  }
  return Status::error(path + ": expected a safetensors file, or a folder with "
                              "model.safetensors.index.json or "
                              "model.safetensors");
}

Expected<Safetensors> Safetensors::openFile(const std::string &path) {
  Safetensors opened;
  opened.name = path;
  if (Status status = opened.addFile(path); !status.ok()) {
    return status;
  }
  opened.index();
  return opened;
}

Expected<Safetensors> Safetensors::openFolder(const std::string &folder) {
  std::string indexPath = folder + kIndexName;
  Expected<WeightMap> map = readWeightMap(indexPath);
  if (!map) {
    return map.status();
  }
  Safetensors opened;
  opened.name = folder;
  std::map<std::string, size_t> fileNumbers;
  for (const auto &[tensor, file] : *map) {
    fileNumbers.emplace(file, 0);
  }
  for (auto &[file, number] : fileNumbers) {
    number = opened.files.size();
    if (Status status = opened.addFile(folder + file); !status.ok()) {
      return status;
    }
  }
  std::erase_if(opened.entries, [&](const SafetensorsTensor &tensor) {
    auto listed = map->find(tensor.name);
    return listed == map->end() ||
           fileNumbers.at(listed->second) != tensor.file;
  });
  opened.index();
  for (const auto &[tensor, file] : *map) {
    if (!opened.find(tensor)) {
      return Status::error(indexPath + ": tensor \"" + tensor +
                           "\" is not in \"" + file + "\", as the index says");
    }
  }
  return opened;
}

Status Safetensors::addFile(const std::string &path) {
  Expected<InputFile> file = InputFile::open(path);
  if (!file) {
    return file.status();
  }
  Expected<SafetensorsHeader> header = readSafetensorsHeader(*file);
  if (!header) {
    return header.status();
  }
  if (files.empty()) {
    text = std::move(header->metadata);
  }
  for (SafetensorsTensor &tensor : header->tensors) {
    tensor.file = files.size();
    entries.push_back(std::move(tensor));
  }
  files.push_back(*std::move(file));
  return Status();
}

void Safetensors::index() {
  for (size_t i = 0; i < entries.size(); ++i) {
    positions.emplace(entries[i].name, i);
  }
}

const SafetensorsTensor *Safetensors::find(std::string_view name) const {
  auto found = positions.find(name);
  return found == positions.end() ? nullptr : &entries[found->second];
}

Status Safetensors::read(const SafetensorsTensor &tensor, uint64_t offset,
                         std::span<std::byte> out) const {
  if (offset > tensor.bytes || out.size() > tensor.bytes - offset) {
    return Status::error(name + ": cannot read " + std::to_string(out.size()) +
                         " bytes at " + std::to_string(offset) +
                         " of tensor \"" + tensor.name + "\", which has " +
                         std::to_string(tensor.bytes));
  }
  return files[tensor.file].read(tensor.offset + offset, out);
}

Status Safetensors::readRows(const SafetensorsTensor &tensor, int64_t begin,
                             int64_t end, std::span<std::byte> out) const {
  assert(!tensor.shape.empty() && "a 0-dim tensor has no rows");
  int64_t rows = tensor.shape.front();
  if (begin < 0 || end < begin || end > rows) {
    return Status::error(name + ": cannot read rows " + std::to_string(begin) +
                         " to " + std::to_string(end) + " of tensor \"" +
                         tensor.name + "\", which has " + std::to_string(rows));
  }
  uint64_t rowBytes = rows == 0 ? 0 : tensor.bytes / rows;
  assert(out.size() == rowBytes * (end - begin) && "out holds the rows");
  return read(tensor, rowBytes * begin, out);
}
