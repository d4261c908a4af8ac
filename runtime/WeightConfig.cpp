//===- WeightConfig.cpp - The tensors of an export archive ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The format is `PayloadConfig` of torch/_export/serde/schema.py.
//
// Tested by test/unit/runtime/WeightConfigTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/WeightConfig.h"

#include "runtime/TensorBytes.h"

using namespace sfsdp::runtime;

namespace {

/// torch.strided in the schema's Layout.
constexpr int64_t kStridedLayout = 7;

/// Reads a SymInt, `{"as_int": 3}`, that is a number.
struct FixedInt {
  int64_t value = 0;
};

Status readJson(JsonPlace place, FixedInt &out) {
  if (std::optional<JsonPlace> symbol = place.find("as_expr")) {
    return place.error("expected a fixed number, got the symbolic expression " +
                       writeJson(symbol->json()));
  }
  JsonFields fields(place);
  fields.required("as_int", out.value);
  return fields.finish();
}

std::vector<int64_t> valuesOf(const std::vector<FixedInt> &numbers) {
  std::vector<int64_t> values;
  for (const FixedInt &number : numbers) {
    values.push_back(number.value);
  }
  return values;
}

/// Reads the schema's TensorMeta.
Status readMeta(JsonPlace place, ArchivedTensor &tensor) {
  int64_t dtypeCode = 0;
  int64_t layout = 0;
  std::vector<FixedInt> sizes;
  std::vector<FixedInt> strides;
  FixedInt storageOffset;
  JsonFields fields(place);
  fields.required("dtype", dtypeCode);
  fields.required("layout", layout);
  fields.required("sizes", sizes);
  fields.required("strides", strides);
  fields.required("storage_offset", storageOffset);
  if (Status status = fields.finish(); !status.ok()) {
    return status;
  }
  std::optional<DType> dtype = dtypeFromExportCode(dtypeCode);
  if (!dtype) {
    return place.error("element type " + std::to_string(dtypeCode) +
                       " of the export schema is not supported");
  }
  if (layout != kStridedLayout) {
    return place.error("expected a strided tensor (layout 7), got layout " +
                       std::to_string(layout));
  }
  tensor.dtype = *dtype;
  tensor.sizes = valuesOf(sizes);
  tensor.strides = valuesOf(strides);
  tensor.storageOffset = storageOffset.value;
  return Status();
}

/// Finds the tensor's record and checks that the tensor lies in it.
Status placeInRecord(const Archive &archive, JsonPlace place,
                     ArchivedTensor &tensor) {
  std::optional<int64_t> bytes = storageBytes(
      tensor.sizes, tensor.strides, tensor.storageOffset, tensor.dtype);
  if (!bytes) {
    return place.error("shape " + describeShape(tensor.sizes) +
                       " with strides " + describeShape(tensor.strides) +
                       " is not that of a tensor");
  }
  const Record *record = archive.find(tensor.record);
  if (!record) {
    return place.error("the archive has no entry \"" + tensor.record + "\"");
  }
  tensor.isFake = record->size == 0 && *bytes > 0;
  if (!tensor.isFake && static_cast<uint64_t>(*bytes) > record->size) {
    return place.error(
        "truncated or corrupt: shape " + describeShape(tensor.sizes) +
        " needs " + std::to_string(*bytes) + " bytes, entry \"" +
        tensor.record + "\" has " + std::to_string(record->size));
  }
  return Status();
}

Expected<ArchivedTensor> readTensor(const Archive &archive, JsonMember member,
                                    std::string_view folder) {
  ArchivedTensor tensor;
  tensor.fqn = member.name;
  bool isPickled = false;
  std::string recordName;
  JsonFields fields(member.value);
  fields.required("path_name", recordName);
  fields.required("is_param", tensor.isParameter);
  fields.required("use_pickle", isPickled);
  if (Status status = fields.finish(); !status.ok()) {
    return status;
  }
  if (isPickled) {
    return member.value.error("stored as a pickle, which is not read because "
                              "it can run code; expected a plain tensor");
  }
  tensor.record = std::string(folder) + recordName;
  Expected<JsonPlace> meta = member.value.member("tensor_meta");
  if (!meta) {
    return meta.status();
  }
  if (Status status = readMeta(*meta, tensor); !status.ok()) {
    return status;
  }
  if (Status status = placeInRecord(archive, member.value, tensor);
      !status.ok()) {
    return status;
  }
  return tensor;
}

Expected<std::vector<ArchivedTensor>> readConfig(const Archive &archive,
                                                 std::string_view folder,
                                                 const std::string &file) {
  Expected<JsonDocument> document =
      archive.readJson(std::string(folder) + file);
  if (!document) {
    return document.status();
  }
  Expected<JsonPlace> config = document->root().member("config");
  if (!config) {
    return config.status();
  }
  Expected<std::vector<JsonMember>> members = config->members();
  if (!members) {
    return members.status();
  }
  std::vector<ArchivedTensor> tensors;
  for (const JsonMember &member : *members) {
    Expected<ArchivedTensor> tensor = readTensor(archive, member, folder);
    if (!tensor) {
      return tensor.status();
    }
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

} // namespace

Expected<std::vector<ArchivedTensor>>
sfsdp::runtime::readWeightConfig(const Archive &archive,
                                 std::string_view model) {
  return readConfig(archive, "data/weights/",
                    std::string(model) + "_weights_config.json");
}

Expected<std::vector<ArchivedTensor>>
sfsdp::runtime::readConstantConfig(const Archive &archive,
                                   std::string_view model) {
  return readConfig(archive, "data/constants/",
                    std::string(model) + "_constants_config.json");
}
