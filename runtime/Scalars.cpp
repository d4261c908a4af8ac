//===- Scalars.cpp - Host values of one step ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One double operation of C per node, which is what Python's floats do too.
//
// Tested by test/unit/runtime/ScalarsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Scalars.h"
#include "runtime/Chunk.h"

#include <cmath>

using namespace sfsdp::runtime;

namespace {

double evaluate(const Plan &plan, const Scalar &scalar,
                const MeshPosition &position, const StepPoint &point,
                const std::vector<double> &values) {
  auto operand = [&](size_t index) { return values[scalar.operands[index]]; };
  switch (scalar.op) {
  case ScalarOp::Constant:
    return scalar.constant;
  case ScalarOp::Lr:
    return point.lr;
  case ScalarOp::Step:
    return static_cast<double>(point.step);
  case ScalarOp::MicroBatch:
    return static_cast<double>(point.microBatch);
  case ScalarOp::Add:
    return operand(0) + operand(1);
  case ScalarOp::Sub:
    return operand(0) - operand(1);
  case ScalarOp::Mul:
    return operand(0) * operand(1);
  case ScalarOp::Div:
    return operand(0) / operand(1);
  case ScalarOp::Pow:
    return std::pow(operand(0), operand(1));
  case ScalarOp::Neg:
    return -operand(0);
  case ScalarOp::MeshCoordinate:
    return static_cast<double>(position.coordinate(scalar.axis));
  case ScalarOp::ValidRows:
    return static_cast<double>(ownedRows(scalar.rows,
                                         plan.header.mesh.axisSize(scalar.axis),
                                         position.coordinate(scalar.axis))
                                   .size());
  }
  return 0;
}

} // namespace

void sfsdp::runtime::evaluateScalars(const Plan &plan,
                                     const MeshPosition &position,
                                     const StepPoint &point,
                                     std::vector<double> &values) {
  values.resize(plan.scalars.size());
  for (size_t id = 0; id < plan.scalars.size(); ++id) {
    values[id] = evaluate(plan, plan.scalars[id], position, point, values);
  }
}
