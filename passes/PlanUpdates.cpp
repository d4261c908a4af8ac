//===- PlanUpdates.cpp - Updates and norms as instructions ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PlanTableBuilder.h.
//
// Tested by test/passes/emit-plan.mlir and test/tools/pipeline.test.
//
//===----------------------------------------------------------------------===//

#include "passes/OperatorBridge.h"
#include "passes/PlanTableBuilder.h"
#include "passes/TrainStep.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sfsdp;

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// The kernel of an update; its arguments but for the guard at the end.
std::pair<std::string, std::vector<plan::KernelArgument>>
TableBuilder::updateCall(Operation *op) const {
  using Call = std::pair<std::string, std::vector<plan::KernelArgument>>;
  return TypeSwitch<Operation *, Call>(op)
      .Case([&](AdamWOp adamw) {
        return Call(
            "sfsdp::adamw",
            {operand(adamw.getParameter()), operand(adamw.getGradient()),
             operand(adamw.getExpAvg()), operand(adamw.getExpAvgSq()),
             operand(adamw.getDecay()), adamw.getBeta1().convertToDouble(),
             adamw.getBeta2().convertToDouble(), operand(adamw.getStepSize()),
             operand(adamw.getCorrection()), adamw.getEps().convertToDouble()});
      })
      .Case([&](AdamOp adam) {
        return Call("sfsdp::adam",
                    {operand(adam.getParameter()), operand(adam.getGradient()),
                     operand(adam.getExpAvg()), operand(adam.getExpAvgSq()),
                     adam.getWeightDecay().convertToDouble(),
                     adam.getBeta1().convertToDouble(),
                     adam.getBeta2().convertToDouble(),
                     operand(adam.getStepSize()), operand(adam.getCorrection()),
                     adam.getEps().convertToDouble()});
      })
      .Case([&](SgdOp sgd) {
        return Call("sfsdp::sgd",
                    {operand(sgd.getParameter()), operand(sgd.getGradient()),
                     operand(sgd.getMomentumBuffer()),
                     sgd.getWeightDecay().convertToDouble(),
                     sgd.getMomentum().convertToDouble(),
                     /*dampening=*/0.0, sgd.getNesterov(),
                     operand(sgd.getStepSize()), operand(sgd.getStep())});
      });
}

LogicalResult TableBuilder::addUpdate(UpdateOpInterface op) {
  plan::KernelCall call;
  std::tie(call.name, call.arguments) = updateCall(op);
  if (MutableOperandRange guard = op.getGuardOperand(); !guard.empty()) {
    call.arguments.push_back(operand(guard[0].get()));
  }
  return addInPlace(op, std::move(call));
}

LogicalResult TableBuilder::addAccumulate(AccumulateOp op) {
  plan::KernelCall call;
  call.name = "sfsdp::accumulate";
  call.arguments = {operand(op.getAccumulator()), operand(op.getGradient()),
                    operand(op.getMicroBatch())};
  return addInPlace(op, std::move(call));
}

LogicalResult TableBuilder::addInPlace(Operation *op, plan::KernelCall call) {
  auto tied = cast<InPlaceOpInterface>(op);
  for (OpResult result : op->getResults()) {
    OpOperand &target = tied.getTiedOperand(result.getResultNumber());
    call.results.emplace_back(addView(result, target.get(), /*offset=*/0));
  }
  call.cost = costOf(op, schemas);
  append(std::move(call), scopeOf(op));
  return success();
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// The kernel of an operation on norms.
static plan::KernelCall normCall(Operation *op,
                                 std::vector<plan::KernelArgument> operands) {
  plan::KernelCall call;
  TypeSwitch<Operation *>(op)
      .Case([&](ChunkNormsOp norms) {
        auto type = cast<RankedTensorType>(norms.getNorms().getType());
        call.name = "sfsdp::chunk_norms";
        call.arguments = {operands[0], type.getDimSize(0),
                          norms.getRows() ? operands[1] : std::monostate(),
                          *toDType(type.getElementType())};
      })
      .Case([&](TotalNormOp) {
        plan::ValueRefs list;
        for (const plan::KernelArgument &norm : operands) {
          list.ids.emplace_back(std::get<plan::ValueRef>(norm).id);
        }
        call.name = "sfsdp::total_norm";
        call.arguments = {std::move(list)};
      })
      .Case([&](ClipCoefficientOp clip) {
        call.name = "sfsdp::clip_coefficient";
        call.arguments = {operands[0], clip.getMax().convertToDouble()};
      })
      .Case([&](IsFiniteOp) {
        call.name = "sfsdp::is_finite";
        call.arguments = {operands[0]};
      });
  return call;
}

LogicalResult TableBuilder::addNorm(Operation *op) {
  std::vector<plan::KernelArgument> operands;
  for (Value value : op->getOperands()) {
    operands.push_back(operand(value));
  }
  plan::KernelCall call = normCall(op, std::move(operands));
  call.results.emplace_back(
      addFresh(op->getResult(0), "norm", plan::Region::Private));
  call.cost = costOf(op, schemas);
  append(std::move(call), scopeOf(op));
  return success();
}
