//===- LayoutCheck.cpp - Kernels return what the plan says ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strides of dimensions with one element, and of empty tensors, mean nothing
// and are not compared.
//
// Tested by test/unit/runtime/ExecutorTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/LayoutCheck.h"
#include "runtime/TensorBytes.h"

using namespace sfsdp::runtime;

c10::ScalarType sfsdp::runtime::scalarTypeOf(DType type) {
  return static_cast<c10::ScalarType>(torchCodeOf(type));
}

namespace {

bool sameStrides(const Value &value, const at::Tensor &tensor) {
  if (tensor.numel() == 0) {
    return true;
  }
  for (size_t dim = 0; dim < value.sizes.size(); ++dim) {
    if (value.sizes[dim] != 1 &&
        value.strides[dim] != tensor.stride(static_cast<int64_t>(dim))) {
      return false;
    }
  }
  return tensor.storage_offset() == value.offset;
}

std::string layoutText(std::string_view dtype,
                       const std::vector<int64_t> &sizes,
                       const std::vector<int64_t> &strides, int64_t offset) {
  return std::string(dtype) + describeShape(sizes) + " with strides " +
         describeShape(strides) + " at " + std::to_string(offset);
}

} // namespace

Status LayoutCheck::see(ValueId id, const at::Tensor &tensor) {
  const Value &value = plan.values[id];
  std::string name = "%" + std::to_string(id);
  if (!tensor.defined()) {
    return Status::error("result " + name + " is absent, the plan expects it");
  }
  bool same = tensor.scalar_type() == scalarTypeOf(value.dtype) &&
              tensor.sizes() == c10::IntArrayRef(value.sizes) &&
              sameStrides(value, tensor);
  if (!same) {
    return Status::error(
        "result " + name + " is " +
        layoutText(c10::toString(tensor.scalar_type()), tensor.sizes().vec(),
                   tensor.strides().vec(), tensor.storage_offset()) +
        ", the plan expects " +
        layoutText(nameOf(value.dtype), value.sizes, value.strides,
                   value.offset) +
        "; this LibTorch is not the one the plan was made for");
  }
  return seeBlock(value.storage, tensor).within("result " + name);
}

Status LayoutCheck::seeBlock(StorageId storage, const at::Tensor &tensor) {
  const void *block = tensor.storage().unsafeGetStorageImpl();
  if (blocks[storage] == block) {
    return Status();
  }
  auto holder = holders.find(block);
  if (blocks[storage] || holder != holders.end()) {
    return Status::error(
        blocks[storage]
            ? "lies in memory of its own, the plan expects a view of storage " +
                  std::to_string(storage)
            : "is a view of storage " + std::to_string(holder->second) +
                  ", the plan expects memory of its own");
  }
  int64_t bytes = static_cast<int64_t>(tensor.storage().nbytes());
  if (bytes > plan.storages[storage].bytes) {
    return Status::error("occupies " + std::to_string(bytes) +
                         " bytes, the plan expects " +
                         std::to_string(plan.storages[storage].bytes));
  }
  blocks[storage] = block;
  holders.emplace(block, storage);
  return Status();
}

void LayoutCheck::forget(StorageId storage) {
  holders.erase(blocks[storage]);
  blocks[storage] = nullptr;
}
