//===- PlanArguments.cpp - Attributes as the plan spells them -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PlanArguments.h.
//
//===----------------------------------------------------------------------===//

#include "passes/PlanArguments.h"

#include "dialect/Layout.h"
#include "passes/OperatorBridge.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sfsdp;
namespace plan = ::sfsdp::runtime;

std::pair<std::string, std::string> mlir::sfsdp::kernelName(StringRef callee) {
  auto [library, qualified] = callee.split("::");
  if (qualified.empty()) {
    qualified = callee;
    library = "aten";
  }
  auto [name, overload] = qualified.split('.');
  return {(library + "::" + name).str(),
          overload == "default" ? "" : overload.str()};
}

static plan::MemoryFormat memoryFormat(MemoryFormat format) {
  switch (format) {
  case MemoryFormat::Contiguous:
    return plan::MemoryFormat::Contiguous;
  case MemoryFormat::Preserve:
    return plan::MemoryFormat::Preserve;
  case MemoryFormat::ChannelsLast:
    return plan::MemoryFormat::ChannelsLast;
  case MemoryFormat::ChannelsLast3d:
    return plan::MemoryFormat::ChannelsLast3d;
  }
  llvm_unreachable("all formats are named above");
}

plan::KernelArgument
mlir::sfsdp::kernelArgument(Attribute argument,
                            function_ref<plan::KernelArgument()> nextOperand) {
  using Result = plan::KernelArgument;
  return TypeSwitch<Attribute, Result>(argument)
      .Case([&](OperandAttr) { return nextOperand(); })
      .Case([&](ArrayAttr list) -> Result {
        plan::ValueRefs refs;
        for (Attribute element : list) {
          std::optional<plan::ValueId> id;
          if (isa<OperandAttr>(element)) {
            id = std::get<plan::ValueRef>(nextOperand()).id;
          }
          refs.ids.push_back(id);
        }
        return refs;
      })
      .Case([](BoolAttr attr) -> Result { return attr.getValue(); })
      .Case([](IntegerAttr attr) -> Result { return attr.getInt(); })
      .Case([](FloatAttr attr) -> Result { return attr.getValueAsDouble(); })
      .Case([](StringAttr attr) -> Result { return attr.str(); })
      .Case([](TypeAttr attr) -> Result { return *toDType(attr.getValue()); })
      .Case([](DenseI64ArrayAttr attr) -> Result {
        return std::vector<int64_t>(attr.asArrayRef());
      })
      .Case([](DenseF64ArrayAttr attr) -> Result {
        return std::vector<double>(attr.asArrayRef());
      })
      .Case([](DenseBoolArrayAttr attr) -> Result {
        return std::vector<bool>(attr.asArrayRef().begin(),
                                 attr.asArrayRef().end());
      })
      .Case([](MemoryFormatAttr attr) -> Result {
        return memoryFormat(attr.getValue());
      })
      .Case(
          [](StridedAttr) -> Result { return plan::TensorLayoutKind::Strided; })
      .Case([](DeviceAttr) -> Result { return plan::DeviceArgument(); })
      .Default([](Attribute) -> Result { return std::monostate(); });
}

plan::ScalarOp mlir::sfsdp::scalarOp(ScalarFunction function) {
  switch (function) {
  case ScalarFunction::Add:
    return plan::ScalarOp::Add;
  case ScalarFunction::Sub:
    return plan::ScalarOp::Sub;
  case ScalarFunction::Mul:
    return plan::ScalarOp::Mul;
  case ScalarFunction::Div:
    return plan::ScalarOp::Div;
  case ScalarFunction::Pow:
    return plan::ScalarOp::Pow;
  case ScalarFunction::Neg:
    return plan::ScalarOp::Neg;
  }
  llvm_unreachable("all functions are named above");
}

/// What a reduction adds to `start`.
template <typename OpTy>
static LogicalResult setReduction(plan::CollectiveStart &start, OpTy op) {
  if (op.getReduce() == ReduceKind::Avg) {
    return op.emitOpError()
           << "expected sum with a divisor, got avg, which no transport does";
  }
  start.order = op.getOrder() == ReductionOrder::Ordered
                    ? plan::ReductionOrder::Ordered
                    : plan::ReductionOrder::Backend;
  start.grouped = op.getGrouped();
  start.divisor = op.getDivisor().convertToDouble();
  return success();
}

/// Transports move whole rows: only dimension 0 is contiguous on the wire.
static LogicalResult expectOuterDim(Operation *op, int64_t dim) {
  if (dim != 0) {
    return op->emitOpError() << "expected dim 0 on the wire, got " << dim;
  }
  return success();
}

FailureOr<plan::CollectiveStart>
mlir::sfsdp::collectiveStart(CollectiveOpInterface op) {
  plan::CollectiveStart start;
  for (auto axis : op.getGroupAxes().getAsRange<StringAttr>()) {
    start.axes.push_back(axis.str());
  }
  LogicalResult supported =
      TypeSwitch<Operation *, LogicalResult>(op)
          .Case<AllGatherOp, AllGatherStartOp>([&](auto gather) {
            start.kind = plan::CollectiveKind::AllGather;
            start.keepable = gather.getRegather();
            return expectOuterDim(op, gather.getDim());
          })
          .Case<ReduceScatterOp, ReduceScatterStartOp>([&](auto scatter) {
            start.kind = plan::CollectiveKind::ReduceScatter;
            return failure(failed(expectOuterDim(op, scatter.getDim())) ||
                           failed(setReduction(start, scatter)));
          })
          .Case<AllReduceOp, AllReduceStartOp>([&](auto reduce) {
            start.kind = plan::CollectiveKind::AllReduce;
            return setReduction(start, reduce);
          })
          .Case<BroadcastOp, BroadcastStartOp>(
              [&](auto broadcast) -> LogicalResult {
                start.kind = plan::CollectiveKind::Broadcast;
                if (broadcast.getRoot() != 0) {
                  return op->emitOpError() << "expected root 0 in a plan, got "
                                           << broadcast.getRoot();
                }
                return success();
              })
          .Default([](Operation *unsupported) {
            return unsupported->emitOpError()
                   << "expected a collective that a plan can hold";
          });
  if (failed(supported)) {
    return failure();
  }
  for (size_t i = 0; i < op.getMembers().size(); ++i) {
    plan::CollectiveMemberRef member;
    if (ArrayAttr names = op.getMemberNames()) {
      member.name = cast<StringAttr>(names[i]).str();
    }
    start.members.push_back(std::move(member));
  }
  return start;
}

int64_t mlir::sfsdp::bytesReceived(const plan::CollectiveStart &start,
                                   const plan::Plan &plan, int64_t groupSize) {
  int64_t bytes = 0;
  for (const plan::CollectiveMemberRef &member : start.members) {
    int64_t in = plan::spanBytes(plan.values[member.input]);
    int64_t out = plan::spanBytes(plan.values[member.output]);
    int64_t element = plan::byteSize(plan.values[member.input].dtype);
    switch (start.kind) {
    case plan::CollectiveKind::AllGather:
      bytes += (groupSize - 1) * in;
      break;
    case plan::CollectiveKind::ReduceScatter:
      bytes += (groupSize - 1) * out;
      break;
    case plan::CollectiveKind::AllReduce:
      // A reduce-scatter and an all-gather of ceil(elements / ranks).
      bytes += 2 * (groupSize - 1) * chunkOf(in / element, groupSize) * element;
      break;
    case plan::CollectiveKind::AllToAll:
      bytes += (groupSize - 1) * (in / groupSize);
      break;
    case plan::CollectiveKind::Broadcast:
      bytes += groupSize > 1 ? in : 0;
      break;
    }
  }
  return bytes;
}
