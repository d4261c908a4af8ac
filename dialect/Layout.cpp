//===- Layout.cpp - Tensor types with strides -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Layout.h.
//
//===----------------------------------------------------------------------===//

#include "dialect/Layout.h"
#include "dialect/Sfsdp.h"

using namespace mlir;
using namespace mlir::sfsdp;

SmallVector<int64_t> sfsdp::contiguousStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

bool sfsdp::isContiguous(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  if (llvm::is_contained(shape, 0)) {
    return true;
  }
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) {
      return false;
    }
    expected *= shape[i];
  }
  return true;
}

RankedTensorType sfsdp::tensorType(ArrayRef<int64_t> shape, Type elementType,
                                   ArrayRef<int64_t> strides) {
  Attribute encoding;
  if (ArrayRef<int64_t>(contiguousStrides(shape)) != strides) {
    encoding = StridesAttr::get(elementType.getContext(), strides);
  }
  return RankedTensorType::get(shape, elementType, encoding);
}

SmallVector<int64_t> sfsdp::stridesOf(RankedTensorType type) {
  if (auto strides = dyn_cast_or_null<StridesAttr>(type.getEncoding())) {
    return llvm::to_vector(strides.getValues());
  }
  return contiguousStrides(type.getShape());
}

bool sfsdp::isContiguous(RankedTensorType type) {
  return isContiguous(type.getShape(), stridesOf(type));
}

bool sfsdp::isDense(RankedTensorType type) {
  SmallVector<int64_t> strides = stridesOf(type);
  SmallVector<std::pair<int64_t, int64_t>> dims; // stride, size
  for (auto [size, stride] : llvm::zip(type.getShape(), strides)) {
    if (size == 0) {
      return true;
    }
    if (size > 1) {
      dims.emplace_back(stride, size);
    }
  }
  llvm::sort(dims);
  int64_t expected = 1;
  for (auto [stride, size] : dims) {
    if (stride != expected) {
      return false;
    }
    expected *= size;
  }
  return true;
}

int64_t sfsdp::elementBytes(Type elementType) {
  if (auto complex = dyn_cast<ComplexType>(elementType)) {
    return 2 * elementBytes(complex.getElementType());
  }
  return (elementType.getIntOrFloatBitWidth() + 7) / 8;
}
