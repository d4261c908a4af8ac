//===- Plan.cpp - The file between compiler and runtime -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Questions that a plan answers about itself. PlanWriter.cpp and PlanReader.cpp
// hold its JSON form.
//
// Tested by test/unit/runtime/PlanTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Plan.h"
#include "runtime/Digest.h"
#include "runtime/PlanNames.h"

#include <algorithm>

using namespace sfsdp::runtime;

int64_t Mesh::size() const {
  int64_t product = 1;
  for (const MeshAxis &axis : axes) {
    product *= axis.size;
  }
  return product;
}

int64_t Mesh::axisSize(std::string_view name) const {
  auto axis = std::find_if(axes.begin(), axes.end(), [&](const MeshAxis &each) {
    return each.name == name;
  });
  return axis == axes.end() ? 1 : axis->size;
}

std::string_view sfsdp::runtime::nameOf(ScalarOp op) { return spell(op); }

std::string_view sfsdp::runtime::nameOf(CostClass costClass) {
  return spell(costClass);
}

int64_t sfsdp::runtime::spanBytes(const Value &value) {
  int64_t lastElement = value.offset;
  for (size_t dim = 0; dim < value.sizes.size(); ++dim) {
    if (value.sizes[dim] == 0) {
      return value.offset * byteSize(value.dtype);
    }
    lastElement += (value.sizes[dim] - 1) * value.strides[dim];
  }
  return (lastElement + 1) * byteSize(value.dtype);
}

std::string sfsdp::runtime::digestOf(const Plan &plan) {
  if (plan.header.proved.empty()) {
    return sha256(writePlan(plan));
  }
  Plan unproved = plan;
  unproved.header.proved.clear();
  return sha256(writePlan(unproved));
}
