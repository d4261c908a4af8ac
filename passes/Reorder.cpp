//===- Reorder.cpp - Start collectives early and await them late ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/passes/reorder*.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/StepGraph.h"
#include "passes/TrainStep.h"
#include "passes/analysis/Ordering.h"

namespace mlir::sfsdp {
#define GEN_PASS_DEF_REORDERPASS
#include "passes/Passes.h.inc"
} // namespace mlir::sfsdp

using namespace mlir;
using namespace mlir::sfsdp;
namespace analysis = ::sfsdp::analysis;

/// Every synchronous collective is a transfer. Named ones serve parameters:
/// nothing but updates and results waits for their reductions.
static analysis::OrderingProblem buildProblem(const StepGraph &graph) {
  analysis::OrderingProblem problem;
  problem.nodes = graph.nodes;
  for (auto [node, op] : llvm::enumerate(graph.ops)) {
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (collective && !collective.isStart()) {
      problem.transfers.push_back({static_cast<analysis::NodeId>(node),
                                   collective.isReduction(),
                                   collective.getMemberNames() != nullptr});
    }
  }
  return problem;
}

namespace {

/// The two halves of a collective.
struct Halves {
  Operation *start = nullptr;
  Operation *wait = nullptr;
};

} // namespace

/// Replaces `op` by its start form and a wait.
static Halves split(CollectiveOpInterface op) {
  OpBuilder builder(op);
  SmallVector<Type> types(op->getResultTypes());
  OperationState state(op->getLoc(),
                       (op->getName().getStringRef() + "_start").str());
  state.addOperands(op->getOperands());
  state.addTypes(PendingType::get(op.getContext(), types));
  state.addAttributes(op->getAttrDictionary().getValue());
  Halves halves;
  halves.start = builder.create(state);
  halves.wait = WaitOp::create(builder, op->getLoc(), TypeRange(types),
                               halves.start->getResult(0), scopeOf(op));
  op->replaceAllUsesWith(halves.wait->getResults());
  op->erase();
  return halves;
}

static void apply(const StepGraph &graph,
                  const analysis::OrderingProblem &problem,
                  const analysis::OrderingSolution &solution) {
  DenseMap<analysis::NodeId, Halves> halves;
  for (const analysis::Transfer &transfer : problem.transfers) {
    halves[transfer.node] =
        split(cast<CollectiveOpInterface>(graph.ops[transfer.node]));
  }
  for (const analysis::Step &step : solution.steps) {
    switch (step.part) {
    case analysis::Part::Whole:
      moveToEnd(graph.ops[step.node]);
      break;
    case analysis::Part::Start:
      moveToEnd(halves[step.node].start);
      break;
    case analysis::Part::Wait:
      moveToEnd(halves[step.node].wait);
      break;
    }
  }
}

namespace {

struct Reorder final : mlir::sfsdp::impl::ReorderPassBase<Reorder> {
  using ReorderPassBase::ReorderPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        findPrograms(getOperation());
    if (failed(programs)) {
      return signalPassFailure();
    }
    if (policy == ReorderPolicy::Auto) {
      getOperation().emitError() << "option policy: auto is not built yet, "
                                    "expected none or prefetch";
      return signalPassFailure();
    }
    for (func::FuncOp function : *programs) {
      if (failed(reorder(function))) {
        return signalPassFailure();
      }
    }
  }

  LogicalResult reorder(func::FuncOp function) {
    StepGraph graph = buildStepGraph(function);
    analysis::OrderingProblem problem = buildProblem(graph);
    if (failed(report(function, problem.check()))) {
      return failure();
    }
    analysis::OrderingSolution solution =
        policy == ReorderPolicy::None ? analysis::waitAtOnce(problem)
                                      : analysis::prefetchByOne(problem);
    if (failed(report(function, problem.verify(solution)))) {
      return failure();
    }
    apply(graph, problem, solution);
    return success();
  }
};

} // namespace
