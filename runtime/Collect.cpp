//===- Collect.cpp - What rank 0 gets from all ranks ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts travel padded and contiguous; the receiver knows every rank's box.
//
// Tested by test/unit/runtime/CollectTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Collect.h"
#include "runtime/Reduce.h"
#include "runtime/TensorBytes.h"

#include <cstring>

using namespace sfsdp::runtime;

namespace {

Status runCall(CollectiveCall call, ProcessGroup &group) {
  auto work = group.start(std::move(call));
  return work ? (*work)->wait() : work.status();
}

/// Gathers `count` bytes of every rank into `gathered`.
Status gatherBytes(const void *bytes, int64_t count, void *gathered,
                   const std::string &label, ProcessGroup &group) {
  CollectiveCall call;
  call.kind = CollectiveKind::AllGather;
  call.members = {{bytes, gathered, count, count * group.size(), DType::UInt8}};
  call.label = label;
  return runCall(std::move(call), group);
}

} // namespace

std::vector<std::byte> sfsdp::runtime::rowMajorBytes(const TensorView &view) {
  std::vector<std::byte> bytes(static_cast<size_t>(view.bytes()));
  copyBox(view.sizes, byteSize(view.dtype),
          {static_cast<std::byte *>(view.data), view.strides},
          {bytes.data(), rowMajorStrides(view.sizes)});
  return bytes;
}

Expected<std::vector<std::byte>>
sfsdp::runtime::collectWhole(const std::vector<int64_t> &globalShape,
                             const std::vector<AxisShard> &placement,
                             const Mesh &mesh, const TensorView &part,
                             ProcessGroup &group) {
  std::vector<std::byte> own = rowMajorBytes(part);
  if (placement.empty()) {
    return own;
  }
  std::vector<std::byte> parts(own.size() * group.size());
  if (Status status =
          gatherBytes(own.data(), static_cast<int64_t>(own.size()),
                      parts.data(), "collecting a whole tensor", group);
      !status.ok()) {
    return status;
  }
  int64_t width = byteSize(part.dtype);
  std::vector<int64_t> strides = rowMajorStrides(part.sizes);
  std::vector<int64_t> wholeStrides = rowMajorStrides(globalShape);
  std::vector<std::byte> whole(
      static_cast<size_t>(elementCount(globalShape) * width));
  for (int position = 0; position < group.size(); ++position) {
    int64_t rank = mesh.ranks.empty() ? position : mesh.ranks[position];
    Box box = ownedBox(globalShape, placement, mesh, MeshPosition(mesh, rank));
    copyBox(sizesOf(box), width,
            {parts.data() + position * own.size(), strides},
            startOf(box, {whole.data(), wholeStrides}, width));
  }
  return whole;
}

Expected<std::vector<std::string>>
sfsdp::runtime::collectTexts(const std::string &text, ProcessGroup &group) {
  auto length = static_cast<int64_t>(text.size());
  std::vector<int64_t> lengths(group.size());
  if (Status status = gatherBytes(&length, sizeof length, lengths.data(),
                                  "collecting lengths", group);
      !status.ok()) {
    return status;
  }
  int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::string padded = text;
  padded.resize(longest);
  std::string all(static_cast<size_t>(longest * group.size()), '\0');
  if (Status status = gatherBytes(padded.data(), longest, all.data(),
                                  "collecting texts", group);
      !status.ok()) {
    return status;
  }
  std::vector<std::string> texts;
  for (int rank = 0; rank < group.size(); ++rank) {
    texts.push_back(all.substr(rank * longest, lengths[rank]));
  }
  return texts;
}

double sfsdp::runtime::numberIn(const TensorView &scalar) {
  auto get = [&](auto number) {
    std::memcpy(&number, scalar.data, sizeof number);
    return number;
  };
  switch (scalar.dtype) {
  case DType::Float64:
    return get(double());
  case DType::Float32:
    return get(float());
  case DType::Float16:
    return float16ToFloat(get(uint16_t()));
  case DType::BFloat16:
    return bfloat16ToFloat(get(uint16_t()));
  default:
    return 0;
  }
}

double sfsdp::runtime::meanOf(const std::vector<double> &values, DType dtype) {
  bool isWide = dtype == DType::Float64;
  std::vector<float> singles(values.begin(), values.end());
  std::vector<const void *> inputs;
  for (size_t index = 0; index < values.size(); ++index) {
    inputs.push_back(isWide ? static_cast<const void *>(&values[index])
                            : &singles[index]);
  }
  double wide = 0;
  float single = 0;
  sumInRankOrder(inputs, isWide ? static_cast<void *>(&wide) : &single, 1,
                 isWide ? DType::Float64 : DType::Float32,
                 static_cast<double>(values.size()));
  return isWide ? wide : static_cast<double>(single);
}

Expected<double> sfsdp::runtime::meanOverRanks(double value, DType dtype,
                                               ProcessGroup &group) {
  auto single = static_cast<float>(value);
  bool wide = dtype == DType::Float64;
  void *data = wide ? static_cast<void *>(&value) : &single;
  CollectiveCall call;
  call.kind = CollectiveKind::AllReduce;
  call.members = {{data, data, 1, 1, wide ? DType::Float64 : DType::Float32}};
  call.divisor = group.size();
  call.label = "mean of the loss";
  if (Status status = runCall(std::move(call), group); !status.ok()) {
    return status;
  }
  return wide ? value : static_cast<double>(single);
}
