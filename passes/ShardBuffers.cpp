//===- ShardBuffers.cpp - One rank's buffers for all ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/shard-buffers.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/Operators.h"
#include "passes/Sharding.h"
#include "passes/TrainStep.h"

using namespace mlir;
using namespace mlir::sfsdp;

void mlir::sfsdp::broadcastBuffers(const Sharding &sharding) {
  func::FuncOp function = sharding.function;
  SmallVector<BlockArgument> buffers =
      argumentsWithRole(function, RoleKind::Buffer);
  if (sharding.data.ranks == 1 || buffers.empty()) {
    return;
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  Location loc = function.getLoc();
  ScopeAttr scope = scopeMovedBy(builder.getContext(), ScopeAttr(),
                                 Phase::Forward, kShardPassName);
  SmallVector<Value> sent;
  SmallVector<Type> types;
  SmallVector<Attribute> names;
  SmallVector<SmallVector<OpOperand *>> uses;
  for (BlockArgument buffer : buffers) {
    uses.push_back(llvm::map_to_vector(buffer.getUses(),
                                       [](OpOperand &use) { return &use; }));
    auto type = cast<RankedTensorType>(buffer.getType());
    auto contiguous =
        RankedTensorType::get(type.getShape(), type.getElementType());
    sent.push_back(copyTo(builder, loc, buffer, contiguous, scope));
    types.push_back(contiguous);
    names.push_back(argumentRole(function, buffer.getArgNumber()).getName());
  }
  auto broadcast =
      BroadcastOp::create(builder, loc, types, sent, sharding.data.split,
                          /*root=*/0, builder.getArrayAttr(names), scope);
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    Value same = copyTo(builder, loc, broadcast.getResult(index),
                        cast<RankedTensorType>(buffer.getType()), scope);
    for (OpOperand *use : uses[index]) {
      use->set(same);
    }
  }
}
