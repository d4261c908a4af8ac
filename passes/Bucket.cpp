//===- Bucket.cpp - Merge collectives -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names decide which collectives would share a bucket, analysis/Bucketing.h how
// far they can.
//
// Tested by test/passes/bucket*.mlir.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/StepGraph.h"
#include "passes/TrainStep.h"
#include "passes/analysis/Blocks.h"
#include "passes/analysis/Bucketing.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::sfsdp {
#define GEN_PASS_DEF_BUCKETPASS
#include "passes/Passes.h.inc"
} // namespace mlir::sfsdp

using namespace mlir;
using namespace mlir::sfsdp;
namespace analysis = ::sfsdp::analysis;

static constexpr StringLiteral kPassName = "sfsdp-bucket";

//===----------------------------------------------------------------------===//
// Problem
//===----------------------------------------------------------------------===//

namespace {

/// Where a parameter stands in the model.
struct Registration {
  uint32_t rank = 0;
  uint32_t block = 0;
};

/// Numbers the groups of collectives that may share a bucket.
class Groups {
public:
  /// `op` serves a parameter of `block`.
  uint32_t groupOf(CollectiveOpInterface op, uint32_t block) {
    auto &known = byBlockAndPhase[{block, phaseOf(op)}];
    for (auto [representative, group] : known) {
      if (op.canShareBucketWith(representative)) {
        return group;
      }
    }
    known.push_back({op, count});
    return count++;
  }

private:
  using Known = SmallVector<std::pair<Operation *, uint32_t>, 2>;
  std::map<std::pair<uint32_t, Phase>, Known> byBlockAndPhase;
  uint32_t count = 0;
};

} // namespace

static llvm::StringMap<Registration> registrationsOf(func::FuncOp function) {
  std::vector<std::string> names;
  for (BlockArgument argument :
       argumentsWithRole(function, RoleKind::Parameter)) {
    RoleAttr role = argumentRole(function, argument.getArgNumber());
    names.push_back(role.getName().str());
  }
  std::vector<uint32_t> blocks = analysis::numberBlocks(names);
  llvm::StringMap<Registration> registrations;
  for (uint32_t rank = 0; rank < names.size(); ++rank) {
    registrations[names[rank]] = {rank, blocks[rank]};
  }
  return registrations;
}

/// The synchronous collectives that serve a parameter are the members.
static analysis::BucketingProblem buildProblem(func::FuncOp function,
                                               const StepGraph &graph) {
  llvm::StringMap<Registration> registrations = registrationsOf(function);
  analysis::BucketingProblem problem;
  problem.nodes = graph.nodes;
  Groups groups;
  for (auto [node, op] : llvm::enumerate(graph.ops)) {
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (!collective || collective.isStart() || !collective.getMemberNames()) {
      continue;
    }
    auto name = cast<StringAttr>(collective.getMemberNames()[0]);
    auto found = registrations.find(name);
    if (found == registrations.end()) {
      continue;
    }
    const Registration &registration = found->second;
    problem.members.push_back({static_cast<analysis::NodeId>(node),
                               groups.groupOf(collective, registration.block),
                               registration.rank, collective.isReduction()});
  }
  return problem;
}

//===----------------------------------------------------------------------===//
// Edit
//===----------------------------------------------------------------------===//

/// The module that holds all of `modules`: their common dotted prefix.
static StringRef commonModule(ArrayRef<StringRef> modules) {
  SmallVector<StringRef> common, segments;
  modules.front().split(common, '.');
  for (StringRef module : modules.drop_front()) {
    segments.clear();
    module.split(segments, '.');
    size_t equal = 0;
    while (equal < std::min(common.size(), segments.size()) &&
           common[equal] == segments[equal]) {
      ++equal;
    }
    common.truncate(equal);
  }
  return common.empty() ? StringRef()
                        : modules.front().take_front(common.back().end() -
                                                     modules.front().begin());
}

static ScopeAttr bucketScope(ArrayRef<Operation *> members) {
  MLIRContext *context = members.front()->getContext();
  SmallVector<StringRef> modules =
      llvm::map_to_vector(members, [](Operation *op) {
        ScopeAttr scope = scopeOf(op);
        return scope ? scope.getModule().getValue() : StringRef();
      });
  return ScopeAttr::get(context, phaseOf(members.front()),
                        StringAttr::get(context, commonModule(modules)),
                        StringAttr(), StringAttr::get(context, kPassName));
}

/// One collective for all of `members`, in place of the first.
static void merge(ArrayRef<Operation *> members) {
  Operation *first = members.front();
  OperationState state(first->getLoc(), first->getName());
  SmallVector<Attribute> names;
  SmallVector<Location> locations;
  for (Operation *member : members) {
    state.addOperands(member->getOperands());
    state.addTypes(member->getResultTypes());
    llvm::append_range(names,
                       cast<CollectiveOpInterface>(member).getMemberNames());
    locations.push_back(member->getLoc());
  }
  MLIRContext *context = first->getContext();
  state.location = FusedLoc::get(context, locations);
  NamedAttrList attributes(first->getAttrDictionary());
  attributes.set("names", ArrayAttr::get(context, names));
  attributes.set("scope", bucketScope(members));
  state.addAttributes(attributes);
  OpBuilder builder(first);
  ValueRange results = builder.create(state)->getResults();
  for (Operation *member : members) {
    member->replaceAllUsesWith(results.take_front(member->getNumResults()));
    results = results.drop_front(member->getNumResults());
    member->erase();
  }
}

static void apply(const StepGraph &graph,
                  const analysis::BucketingProblem &problem,
                  const analysis::BucketingSolution &solution) {
  for (analysis::NodeId node : solution.order) {
    moveToEnd(graph.ops[node]);
  }
  for (const std::vector<uint32_t> &bucket : solution.buckets) {
    if (bucket.size() == 1) {
      continue;
    }
    merge(llvm::map_to_vector(bucket, [&](uint32_t member) {
      return graph.ops[problem.members[member].node];
    }));
  }
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {

struct Bucket final : mlir::sfsdp::impl::BucketPassBase<Bucket> {
  using BucketPassBase::BucketPassBase;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> programs =
        findPrograms(getOperation());
    FailureOr<bool> merges = readPolicy();
    if (failed(programs) || failed(merges)) {
      return signalPassFailure();
    }
    if (!*merges) {
      return;
    }
    for (func::FuncOp function : *programs) {
      if (failed(mergeBuckets(function))) {
        return signalPassFailure();
      }
    }
  }

  LogicalResult mergeBuckets(func::FuncOp function) {
    StepGraph graph = buildStepGraph(function);
    analysis::BucketingProblem problem = buildProblem(function, graph);
    if (failed(report(function, problem.check()))) {
      return failure();
    }
    analysis::BucketingSolution solution = analysis::mergeGroups(problem);
    if (failed(report(function, problem.verify(solution)))) {
      return failure();
    }
    apply(graph, problem, solution);
    return success();
  }

  /// Whether there is anything to merge.
  FailureOr<bool> readPolicy() {
    StringRef text = policy.getValue();
    if (text == "none" || text == "block") {
      return text == "block";
    }
    bool isKnown =
        llvm::StringSwitch<bool>(text.split(':').first)
            .Cases({"per-parameter", "size", "block", "saturate",
                    "simplefsdp-greedy", "deepcompile", "lhs", "auto"},
                   true)
            .Default(false);
    return getOperation().emitError()
           << "option policy: expected none or block, got '" << text << "'"
           << (isKnown ? ", which is not built yet" : "");
  }
};

} // namespace
