//===- SfsdpCollectives.cpp - Collectives over mesh axes ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One checker serves both forms of a collective: it sees operands and member
// result types through CollectiveOpInterface. Constraint k of every collective
// has the label <name>_ck; the checks stand in that order.
//
// Tested by test/dialect/<operation>.mlir and <operation>-invalid.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/Layout.h"
#include "dialect/Sfsdp.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::sfsdp;

//===----------------------------------------------------------------------===//
// What all collectives share
//===----------------------------------------------------------------------===//

/// Writes CommunicationResource: neither merged, nor dropped, nor swapped.
static void addGroupEffect(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  effects.emplace_back(MemoryEffects::Write::get(),
                       CommunicationResource::get());
}

static SmallVector<RankedTensorType> resultTypes(Operation *op) {
  TypeRange types = op->getResultTypes();
  if (types.size() == 1) {
    if (auto pending = dyn_cast<PendingType>(types[0])) {
      types = pending.getTypes();
    }
  }
  return llvm::map_to_vector(
      types, [](Type type) { return cast<RankedTensorType>(type); });
}

/// Equal but for member names and scope.
static bool equalCollectives(Operation *a, Operation *b) {
  if (a->getName() != b->getName()) {
    return false;
  }
  auto meaning = [](Operation *op) {
    NamedAttrList attributes(op->getAttrDictionary());
    attributes.erase("names");
    attributes.erase("scope");
    return attributes.getDictionary(op->getContext());
  };
  return meaning(a) == meaning(b);
}

namespace {

/// The group of a collective that is being checked.
struct Group {
  int64_t size = 1;
};

} // namespace

/// Constraints 1, 2, 3, 5 and 6 of every collective.
static FailureOr<Group> verifyMembers(CollectiveOpInterface op) {
  // all_gather_c1 reduce_scatter_c1 all_reduce_c1 broadcast_c1 all_to_all_c1
  if (op->getNumResults() == 1) {
    if (auto pending = dyn_cast<PendingType>(op->getResult(0).getType());
        pending &&
        !llvm::all_of(pending.getTypes(), llvm::IsaPred<RankedTensorType>)) {
      return op->emitOpError()
             << "expected a pending value of tensors, got " << pending;
    }
  }
  SmallVector<RankedTensorType> results = op.getMemberResultTypes();
  if (op.getMembers().empty() || op.getMembers().size() != results.size()) {
    return op->emitOpError()
           << "expected as many results as operands and at least one, got "
           << op.getMembers().size() << " operands and " << results.size()
           << " results";
  }
  for (auto [index, member] : llvm::enumerate(op.getMembers())) {
    auto type = cast<RankedTensorType>(member.getType());
    // all_gather_c2 reduce_scatter_c2 all_reduce_c2 broadcast_c2 all_to_all_c2
    if (type.getElementType() != results[index].getElementType()) {
      return op->emitOpError()
             << "operand " << index << ": expected a result of element type "
             << type.getElementType() << ", got " << results[index];
    }
    // all_gather_c5 reduce_scatter_c5 all_reduce_c5 broadcast_c5 all_to_all_c5
    for (RankedTensorType checked : {type, results[index]}) {
      if (!isContiguous(checked)) {
        return op->emitOpError()
               << "operand " << index << ": expected contiguous tensors, got "
               << checked;
      }
    }
  }
  // all_gather_c3 reduce_scatter_c3 all_reduce_c3 broadcast_c3 all_to_all_c3
  Group group;
  MeshAttr mesh = meshOf(op);
  llvm::StringSet<> seen;
  for (StringAttr axis : op.getGroupAxes().getAsRange<StringAttr>()) {
    std::optional<int64_t> size =
        mesh ? mesh.axisSize(axis) : std::optional<int64_t>();
    if (!size || !seen.insert(axis.getValue()).second) {
      return op->emitOpError()
             << "expected distinct axes of the module's mesh, got " << axis;
    }
    group.size *= *size;
  }
  // all_gather_c6 reduce_scatter_c6 all_reduce_c6 broadcast_c6 all_to_all_c6
  if (op.getMemberNames() &&
      op.getMemberNames().size() != op.getMembers().size()) {
    return op->emitOpError()
           << "expected one name per operand, got "
           << op.getMemberNames().size() << " for " << op.getMembers().size();
  }
  return group;
}

/// `full` has the true rows along `dim`, `chunk` a rank's share of them.
static LogicalResult verifyChunk(CollectiveOpInterface op, size_t index,
                                 RankedTensorType full, RankedTensorType chunk,
                                 int64_t dim, Group group) {
  if (full.getRank() <= dim) {
    return op->emitOpError() << "operand " << index << ": expected more than "
                             << dim << " dimensions, got " << full;
  }
  SmallVector<int64_t> expected(full.getShape());
  expected[dim] = chunkOf(expected[dim], group.size);
  if (ArrayRef<int64_t>(expected) != chunk.getShape()) {
    return op->emitOpError() << "operand " << index << ": expected a chunk of ["
                             << expected << "] of " << full << " on "
                             << group.size << " ranks, got " << chunk;
  }
  return success();
}

static LogicalResult verifyEqualTypes(CollectiveOpInterface op) {
  for (auto [index, member] : llvm::enumerate(op.getMembers())) {
    RankedTensorType result = op.getMemberResultTypes()[index];
    if (member.getType() != result) {
      return op->emitOpError() << "operand " << index << ": expected a result "
                               << member.getType() << ", got " << result;
    }
  }
  return success();
}

/// Constraints 7 to 10 of a reduction.
template <typename OpTy>
static LogicalResult verifyReduction(OpTy op) {
  // reduce_scatter_c7 all_reduce_c7
  APFloat divisor = op.getDivisor();
  if (!divisor.isFinite() || divisor.isNegative() || divisor.isZero()) {
    return op.emitOpError()
           << "expected a positive finite divisor, got " << op.getDivisorAttr();
  }
  // reduce_scatter_c8 all_reduce_c8
  if (op.getReduce() == ReduceKind::Avg &&
      (op.getOrder() != ReductionOrder::Backend ||
       divisor.convertToDouble() != 1)) {
    return op.emitOpError()
           << "expected avg with order backend and without divisor, got order "
           << stringifyReductionOrder(op.getOrder());
  }
  // reduce_scatter_c9 all_reduce_c9
  for (Value member : op.getInputs()) {
    if (cast<RankedTensorType>(member.getType())
            .getElementType()
            .isInteger(1)) {
      return op.emitOpError()
             << "expected numbers to reduce, got " << member.getType();
    }
  }
  // reduce_scatter_c10 all_reduce_c10
  if (op.getGrouped() != 0 && op.getOrder() != ReductionOrder::Ordered) {
    return op.emitOpError() << "expected grouped with order ordered, got order "
                            << stringifyReductionOrder(op.getOrder());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

template <typename OpTy>
static LogicalResult verifyAllGather(OpTy op) {
  FailureOr<Group> group = verifyMembers(op);
  if (failed(group)) {
    return failure();
  }
  // all_gather_c4
  for (auto [index, result] : llvm::enumerate(op.getMemberResultTypes())) {
    auto chunk = cast<RankedTensorType>(op.getInputs()[index].getType());
    if (failed(verifyChunk(op, index, result, chunk, op.getDim(), *group))) {
      return failure();
    }
  }
  return success();
}

template <typename OpTy>
static LogicalResult verifyReduceScatter(OpTy op) {
  FailureOr<Group> group = verifyMembers(op);
  if (failed(group)) {
    return failure();
  }
  // reduce_scatter_c4
  for (auto [index, result] : llvm::enumerate(op.getMemberResultTypes())) {
    auto full = cast<RankedTensorType>(op.getInputs()[index].getType());
    if (failed(verifyChunk(op, index, full, result, op.getDim(), *group))) {
      return failure();
    }
  }
  return verifyReduction(op);
}

template <typename OpTy>
static LogicalResult verifyAllReduce(OpTy op) {
  if (failed(verifyMembers(op)) || failed(verifyEqualTypes(op))) {
    return failure();
  }
  return verifyReduction(op);
}

template <typename OpTy>
static LogicalResult verifyBroadcast(OpTy op) {
  FailureOr<Group> group = verifyMembers(op);
  if (failed(group) || failed(verifyEqualTypes(op))) {
    return failure();
  }
  // broadcast_c4
  if (static_cast<int64_t>(op.getRoot()) >= group->size) {
    return op.emitOpError() << "expected a root below " << group->size
                            << ", got " << op.getRoot();
  }
  return success();
}

template <typename OpTy>
static LogicalResult verifyAllToAll(OpTy op) {
  FailureOr<Group> group = verifyMembers(op);
  if (failed(group)) {
    return failure();
  }
  // all_to_all_c4
  int64_t split = op.getSplitDim(), concat = op.getConcatDim();
  for (auto [index, result] : llvm::enumerate(op.getMemberResultTypes())) {
    auto type = cast<RankedTensorType>(op.getInputs()[index].getType());
    if (std::max(split, concat) >= type.getRank() ||
        type.getDimSize(split) % group->size != 0) {
      return op.emitOpError()
             << "operand " << index << ": expected dimension " << split
             << " to divide by " << group->size << ", got " << type;
    }
    SmallVector<int64_t> expected(type.getShape());
    expected[split] /= group->size;
    expected[concat] *= group->size;
    if (ArrayRef<int64_t>(expected) != result.getShape()) {
      return op.emitOpError()
             << "operand " << index << ": expected a result of [" << expected
             << "], got " << result;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Interface methods, once per operation
//===----------------------------------------------------------------------===//

#define SFSDP_COLLECTIVE(OP, NAME, START, VERIFIER)                            \
  LogicalResult OP::verify() { return VERIFIER(*this); }                       \
  SmallVector<RankedTensorType> OP::getMemberResultTypes() {                   \
    return resultTypes(*this);                                                 \
  }                                                                            \
  bool OP::isStart() { return START; }                                         \
  StringRef OP::getCollectiveName() { return NAME; }                           \
  bool OP::canShareBucketWith(Operation *other) {                              \
    return equalCollectives(*this, other);                                     \
  }                                                                            \
  void OP::getEffects(                                                         \
      SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>      \
          &effects) {                                                          \
    addGroupEffect(effects);                                                   \
  }

SFSDP_COLLECTIVE(AllGatherOp, "all_gather", false, verifyAllGather)
SFSDP_COLLECTIVE(AllGatherStartOp, "all_gather", true, verifyAllGather)
SFSDP_COLLECTIVE(ReduceScatterOp, "reduce_scatter", false, verifyReduceScatter)
SFSDP_COLLECTIVE(ReduceScatterStartOp, "reduce_scatter", true,
                 verifyReduceScatter)
SFSDP_COLLECTIVE(AllReduceOp, "all_reduce", false, verifyAllReduce)
SFSDP_COLLECTIVE(AllReduceStartOp, "all_reduce", true, verifyAllReduce)
SFSDP_COLLECTIVE(BroadcastOp, "broadcast", false, verifyBroadcast)
SFSDP_COLLECTIVE(BroadcastStartOp, "broadcast", true, verifyBroadcast)
SFSDP_COLLECTIVE(AllToAllOp, "all_to_all", false, verifyAllToAll)
SFSDP_COLLECTIVE(AllToAllStartOp, "all_to_all", true, verifyAllToAll)

#undef SFSDP_COLLECTIVE

//===----------------------------------------------------------------------===//
// WaitOp
//===----------------------------------------------------------------------===//

LogicalResult WaitOp::verify() {
  // wait_c1
  if (!getPending().hasOneUse()) {
    return emitOpError() << "expected a pending value to be waited for once";
  }
  return success();
}

LogicalResult WaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       ValueRange operands, DictionaryAttr,
                                       OpaqueProperties, RegionRange,
                                       SmallVectorImpl<Type> &inferred) {
  auto pending = dyn_cast<PendingType>(operands.front().getType());
  if (!pending) {
    return failure();
  }
  llvm::append_range(inferred, pending.getTypes());
  return success();
}

void WaitOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  addGroupEffect(effects);
}
