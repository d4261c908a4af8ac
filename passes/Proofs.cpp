//===- Proofs.cpp - What is proved before anything runs -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One sweep over the text per proof. Text order is what every rank follows, so
// what holds along the text holds on every rank.
//
// Tested by test/passes/verify-order.mlir and verify-lifetimes.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/Proofs.h"

#include "dialect/Sfsdp.h"
#include "passes/OperatorBridge.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::sfsdp;

/// "all_gather of layers.0.weight, …" for messages.
static std::string nameOf(CollectiveOpInterface op) {
  std::string text = op.getCollectiveName().str();
  if (ArrayAttr names = op.getMemberNames()) {
    text += " of ";
    llvm::raw_string_ostream stream(text);
    llvm::interleaveComma(names.getAsRange<StringAttr>(), stream,
                          [&](StringAttr name) { stream << name.getValue(); });
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// The wait of `start`; a diagnostic unless it is the only use.
static FailureOr<WaitOp> waitOf(CollectiveOpInterface start) {
  Value pending = start->getResult(0);
  if (!pending.hasOneUse()) {
    return start->emitOpError()
           << "expected one wait for the " << nameOf(start) << ", got "
           << std::distance(pending.use_begin(), pending.use_end()) << " uses";
  }
  auto wait = dyn_cast<WaitOp>(*pending.user_begin());
  if (!wait) {
    return start->emitOpError()
           << "expected a wait for the " << nameOf(start) << ", got "
           << (*pending.user_begin())->getName();
  }
  return wait;
}

/// Whether nothing may be carried across `op`.
static bool hasUnknownEffect(Operation &op) {
  if (auto aten = dyn_cast<AtenOp>(op)) {
    return aten.getEffect() == OperatorEffect::Unknown;
  }
  return op.getNumRegions() != 0;
}

static LogicalResult proveStraightLine(func::FuncOp function) {
  if (!llvm::hasSingleElement(function.getBody())) {
    return function.emitOpError() << "expected one block, got "
                                  << function.getBody().getBlocks().size();
  }
  Block *body = &function.getBody().front();
  WalkResult result = function.walk([&](Operation *op) {
    if (isa<CollectiveOpInterface, WaitOp>(op) && op->getBlock() != body) {
      op->emitOpError() << "expected to stand in the function's own block, so "
                           "that every rank reaches it";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult mlir::sfsdp::proveOrder(func::FuncOp function) {
  if (failed(proveStraightLine(function))) {
    return failure();
  }
  // Start of each collective in flight, by its wait, oldest first.
  llvm::MapVector<Operation *, CollectiveOpInterface> inFlight;
  for (Operation &op : function.getBody().front()) {
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (collective && collective.isStart()) {
      FailureOr<WaitOp> wait = waitOf(collective);
      if (failed(wait)) {
        return failure();
      }
      inFlight[wait->getOperation()] = collective;
    } else if (isa<WaitOp>(op)) {
      inFlight.erase(&op);
    } else if (hasUnknownEffect(op) && !inFlight.empty()) {
      CollectiveOpInterface start = inFlight.front().second;
      InFlightDiagnostic error =
          op.emitOpError() << "has unknown effects, expected no collective in "
                              "flight, got the "
                           << nameOf(start);
      error.attachNote(start->getLoc()) << "started here";
      return error;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Lifetimes
//===----------------------------------------------------------------------===//

namespace {

/// What a value sees: a memory as it was after so many updates.
struct Sight {
  Value memory;
  unsigned updates = 0;
};

class Lifetimes {
public:
  explicit Lifetimes(func::FuncOp function) : function(function) {}

  LogicalResult prove() {
    Block &body = function.getBody().front();
    for (BlockArgument argument : body.getArguments()) {
      see(argument, {argument, 0});
    }
    for (Operation &op : body) {
      if (failed(checkReads(op)) || failed(visit(op))) {
        return failure();
      }
    }
    return success();
  }

  /// The argument whose latest value `value` is; null if there is none.
  BlockArgument latestOf(Value value) const {
    for (const Sight &sight : sights.lookup(value)) {
      if (sight.updates != 0 && sight.updates == updatesOf(sight.memory)) {
        return dyn_cast<BlockArgument>(sight.memory);
      }
    }
    return BlockArgument();
  }

private:
  using Sights = SmallVector<Sight, 1>;

  void see(Value value, Sight sight) { sights[value].push_back(sight); }

  unsigned updatesOf(Value memory) const {
    auto found = writers.find(memory);
    return found == writers.end() ? 0 : found->second.size();
  }

  std::string describe(Value memory) {
    if (auto argument = dyn_cast<BlockArgument>(memory)) {
      if (auto role = function.getArgAttrOfType<RoleAttr>(
              argument.getArgNumber(), kRoleAttrName)) {
        std::string slot =
            role.getSlot() ? (" " + role.getSlot().getValue()).str() : "";
        return (stringifyRoleKind(role.getKind()) + " " +
                role.getName().getValue() + slot)
            .str();
      }
    }
    return "memory that an operation made";
  }

  LogicalResult checkReads(Operation &op) {
    for (Value operand : op.getOperands()) {
      for (const Sight &sight : sights.lookup(operand)) {
        if (sight.updates == updatesOf(sight.memory)) {
          continue;
        }
        InFlightDiagnostic error = op.emitOpError()
                                   << "reads " << describe(sight.memory)
                                   << " after its update";
        error.attachNote(writers[sight.memory][sight.updates]->getLoc())
            << "updated here";
        return error;
      }
    }
    return success();
  }

  LogicalResult visit(Operation &op) {
    if (auto inPlace = dyn_cast<InPlaceOpInterface>(op)) {
      return visitUpdate(inPlace);
    }
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (collective && collective.isStart()) {
      inFlight.insert(&op);
    } else if (isa<WaitOp>(op)) {
      inFlight.remove(op.getOperand(0).getDefiningOp());
    } else if (hasUnknownEffect(op)) {
      visitUnknown(op);
    } else {
      visitViews(op);
    }
    return success();
  }

  LogicalResult visitUpdate(InPlaceOpInterface op) {
    SmallVector<Value> overwritten;
    for (OpResult result : op->getResults()) {
      Value tied = op.getTiedOperand(result.getResultNumber()).get();
      for (const Sight &sight : sights.lookup(tied)) {
        if (failed(checkNotInFlight(op, sight.memory))) {
          return failure();
        }
        overwritten.push_back(sight.memory);
        see(result, {sight.memory, updatesOf(sight.memory) + 1});
      }
    }
    for (Value memory : overwritten) {
      writers[memory].push_back(op);
    }
    return success();
  }

  bool reads(CollectiveOpInterface start, Value memory) const {
    return llvm::any_of(start.getMembers(), [&](Value member) {
      return llvm::any_of(sights.lookup(member), [&](const Sight &sight) {
        return sight.memory == memory;
      });
    });
  }

  LogicalResult checkNotInFlight(Operation *op, Value memory) {
    for (Operation *start : inFlight) {
      if (!reads(cast<CollectiveOpInterface>(start), memory)) {
        continue;
      }
      InFlightDiagnostic error = op->emitOpError()
                                 << "overwrites " << describe(memory)
                                 << ", which a collective in flight reads";
      error.attachNote(start->getLoc()) << "started here";
      return error;
    }
    return success();
  }

  /// An unknown operator may return a view of any operand.
  void visitUnknown(Operation &op) {
    for (Value result : op.getResults()) {
      for (Value operand : op.getOperands()) {
        for (const Sight &sight : sights.lookup(operand)) {
          see(result, sight);
        }
      }
    }
    seeOwnMemory(op);
  }

  void visitViews(Operation &op) {
    for (auto [result, view] :
         llvm::zip(op.getResults(), viewsOf(&op, schemas))) {
      if (view) {
        sights[result] = Sights(sights.lookup(view->operand->get()));
      }
    }
    seeOwnMemory(op);
  }

  void seeOwnMemory(Operation &op) {
    for (Value result : op.getResults()) {
      if (sights[result].empty()) {
        see(result, {result, 0});
      }
    }
  }

  func::FuncOp function;
  rules::SchemaTable schemas;
  DenseMap<Value, Sights> sights;
  /// The updates of each memory, first to last.
  DenseMap<Value, SmallVector<Operation *, 1>> writers;
  llvm::SetVector<Operation *> inFlight;
};

} // namespace

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The role kind of the argument that a result with role `kind` belongs to.
static std::optional<RoleKind> ownerKind(RoleKind kind) {
  switch (kind) {
  case RoleKind::Gradient:
  case RoleKind::Parameter:
    return RoleKind::Parameter;
  case RoleKind::Buffer:
  case RoleKind::State:
    return kind;
  default:
    return std::nullopt;
  }
}

using RoleKey = std::tuple<RoleKind, StringAttr, StringAttr>;

static DenseMap<RoleKey, unsigned> argumentsByRole(func::FuncOp function) {
  DenseMap<RoleKey, unsigned> arguments;
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    if (auto role = function.getArgAttrOfType<RoleAttr>(index, kRoleAttrName)) {
      arguments[{role.getKind(), role.getName(), role.getSlot()}] = index;
    }
  }
  return arguments;
}

/// Result `index` has type, placement and global type of argument `owner`.
static LogicalResult checkPlacement(func::FuncOp function, unsigned index,
                                    unsigned owner, StringAttr name) {
  auto result = dyn_cast<RankedTensorType>(function.getResultTypes()[index]);
  auto argument =
      dyn_cast<RankedTensorType>(function.getArgumentTypes()[owner]);
  if (!result || !argument || result.getShape() != argument.getShape()) {
    return function.emitOpError()
           << "result " << index << ": expected the shape of " << name << ", "
           << function.getArgumentTypes()[owner] << ", got "
           << function.getResultTypes()[index];
  }
  Attribute expected = function.getArgAttr(owner, kPlacementAttrName);
  Attribute got = function.getResultAttr(index, kPlacementAttrName);
  if (expected == got) {
    return success();
  }
  auto print = [](InFlightDiagnostic &to, Attribute placement) {
    placement ? to << placement : to << "none";
  };
  InFlightDiagnostic error = function.emitOpError()
                             << "result " << index
                             << ": expected the placement of " << name << ", ";
  print(error, expected);
  error << ", got ";
  print(error, got);
  return error;
}

/// A new value of a parameter or state is in the memory of its argument.
static LogicalResult checkUpdated(func::FuncOp function, unsigned index,
                                  unsigned owner, Value value, StringAttr name,
                                  const Lifetimes &lifetimes) {
  BlockArgument latest = lifetimes.latestOf(value);
  if (!latest || latest.getArgNumber() != owner) {
    return function.emitOpError()
           << "result " << index << ": expected the updated value of " << name
           << ", got a value that no update made from it";
  }
  return success();
}

static LogicalResult proveResults(func::FuncOp function,
                                  const Lifetimes &lifetimes) {
  DenseMap<RoleKey, unsigned> arguments = argumentsByRole(function);
  DenseSet<unsigned> updated;
  Operation *returned = function.getBody().front().getTerminator();
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    auto role = function.getResultAttrOfType<RoleAttr>(index, kRoleAttrName);
    std::optional<RoleKind> kind =
        role ? ownerKind(role.getKind()) : std::nullopt;
    if (!kind) {
      continue;
    }
    auto owner = arguments.find({*kind, role.getName(), role.getSlot()});
    if (owner == arguments.end()) {
      return function.emitOpError()
             << "result " << index << ": expected an argument for " << role
             << ", got none";
    }
    if (failed(
            checkPlacement(function, index, owner->second, role.getName()))) {
      return failure();
    }
    bool isInPlace = role.getKind() == RoleKind::Parameter ||
                     role.getKind() == RoleKind::State;
    if (isInPlace && failed(checkUpdated(function, index, owner->second,
                                         returned->getOperand(index),
                                         role.getName(), lifetimes))) {
      return failure();
    }
    if (role.getKind() != RoleKind::Gradient) {
      updated.insert(owner->second);
    }
  }
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    auto role = function.getArgAttrOfType<RoleAttr>(index, kRoleAttrName);
    if (role && role.getKind() == RoleKind::State && !updated.contains(index)) {
      return function.emitOpError()
             << "argument " << index << ": expected a "
             << "result with its new value, " << role << ", got none";
    }
  }
  return success();
}

LogicalResult mlir::sfsdp::proveLifetimes(func::FuncOp function) {
  Lifetimes lifetimes(function);
  return success(succeeded(lifetimes.prove()) &&
                 succeeded(proveResults(function, lifetimes)));
}
