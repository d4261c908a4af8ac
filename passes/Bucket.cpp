//===- Bucket.cpp - Merge collectives -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names or sizes decide which collectives would share a bucket,
// analysis/Bucketing.h how far they can.
//
// Tested by test/passes/bucket*.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/Layout.h"
#include "passes/BucketPolicy.h"
#include "passes/Passes.h"
#include "passes/StepGraph.h"
#include "passes/TrainStep.h"
#include "passes/analysis/BucketSizes.h"
#include "passes/analysis/Bucketing.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

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
  uint32_t bucket = 0; ///< that the policy wants; 0 when size decides
};

using Registrations = llvm::StringMap<Registration>;

/// A collective that serves one parameter.
struct Member {
  analysis::NodeId node = 0;
  CollectiveOpInterface op;
  Registration registration;
};

/// Numbers the groups of collectives that may share a bucket.
class Groups {
public:
  /// Those with equal attributes that serve parameters of `bucket`, in one
  /// phase, have one group.
  uint32_t groupOf(CollectiveOpInterface op, uint32_t bucket) {
    auto &known = byBucketAndPhase[{bucket, phaseOf(op)}];
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
  std::map<std::pair<uint32_t, Phase>, Known> byBucketAndPhase;
  uint32_t count = 0;
};

} // namespace

static std::vector<std::string> parameterNames(func::FuncOp function) {
  std::vector<std::string> names;
  for (BlockArgument argument :
       argumentsWithRole(function, RoleKind::Parameter)) {
    RoleAttr role = argumentRole(function, argument.getArgNumber());
    names.push_back(role.getName().str());
  }
  return names;
}

/// The synchronous collectives that serve a parameter, in the order of text.
static SmallVector<Member> membersOf(const StepGraph &graph,
                                     const Registrations &registrations) {
  SmallVector<Member> members;
  for (auto [node, op] : llvm::enumerate(graph.ops)) {
    auto collective = dyn_cast<CollectiveOpInterface>(op);
    if (!collective || collective.isStart() || !collective.getMemberNames()) {
      continue;
    }
    auto name = cast<StringAttr>(collective.getMemberNames()[0]);
    auto found = registrations.find(name);
    if (found != registrations.end()) {
      members.push_back(
          {static_cast<analysis::NodeId>(node), collective, found->second});
    }
  }
  return members;
}

/// Bytes of the whole tensors of `op`: a gather's results, a reduction's
/// operands.
static int64_t wholeBytes(CollectiveOpInterface op) {
  int64_t bytes = 0;
  for (auto [member, result] :
       llvm::zip(op.getMembers(), op.getMemberResultTypes())) {
    auto operand = cast<RankedTensorType>(member.getType());
    bytes += std::max(operand.getNumElements(), result.getNumElements()) *
             elementBytes(result.getElementType());
  }
  return bytes;
}

/// Buckets of `bucketBytes` for each kind of collective and element type.
static void chooseBySize(SmallVector<Member> &members, int64_t bucketBytes) {
  Groups kinds;
  llvm::MapVector<std::pair<uint32_t, Type>, SmallVector<Member *>> streams;
  for (Member &member : members) {
    Type element = member.op.getMemberResultTypes()[0].getElementType();
    uint32_t kind = kinds.groupOf(member.op, /*bucket=*/0);
    streams[{kind, element}].push_back(&member);
  }
  uint32_t first = 0;
  for (auto &[key, stream] : streams) {
    std::vector<int64_t> bytes;
    for (const Member *member : stream) {
      bytes.push_back(wholeBytes(member->op));
    }
    std::vector<uint32_t> buckets = analysis::fillBuckets(bytes, bucketBytes);
    for (auto [member, bucket] : llvm::zip(stream, buckets)) {
      member->registration.bucket = first + bucket;
    }
    first += buckets.empty() ? 0 : buckets.back() + 1;
  }
}

static analysis::BucketingProblem
buildProblem(const StepGraph &graph, const Registrations &registrations,
             const BucketPolicy &policy) {
  analysis::BucketingProblem problem;
  problem.nodes = graph.nodes;
  SmallVector<Member> members = membersOf(graph, registrations);
  if (policy.kind == BucketPolicy::Kind::Size) {
    chooseBySize(members, policy.bucketBytes);
  }
  Groups groups;
  for (const Member &member : members) {
    CollectiveOpInterface op = member.op;
    problem.members.push_back({member.node,
                               groups.groupOf(op, member.registration.bucket),
                               member.registration.rank, op.isReduction()});
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
    FailureOr<BucketPolicy> chosen =
        parseBucketPolicy(getOperation(), policy.getValue());
    if (failed(programs) || failed(chosen)) {
      return signalPassFailure();
    }
    if (chosen->kind == BucketPolicy::Kind::None) {
      return;
    }
    FailureOr<Registrations> registrations =
        registerParameters(programs->front(), *chosen);
    if (failed(registrations)) {
      return signalPassFailure();
    }
    for (func::FuncOp function : *programs) {
      if (failed(mergeBuckets(function, *registrations, *chosen))) {
        return signalPassFailure();
      }
    }
  }

  /// All programs have the same parameters.
  FailureOr<Registrations> registerParameters(func::FuncOp function,
                                              const BucketPolicy &chosen) {
    std::vector<std::string> names = parameterNames(function);
    FailureOr<std::vector<uint32_t>> buckets =
        bucketsByName(getOperation(), chosen, names);
    if (failed(buckets)) {
      return failure();
    }
    bool isByName = chosen.kind != BucketPolicy::Kind::Size;
    Registrations registrations;
    for (uint32_t rank = 0; rank < names.size(); ++rank) {
      registrations[names[rank]] = {rank, isByName ? (*buckets)[rank] : 0};
    }
    return registrations;
  }

  LogicalResult mergeBuckets(func::FuncOp function,
                             const Registrations &registrations,
                             const BucketPolicy &chosen) {
    StepGraph graph = buildStepGraph(function);
    analysis::BucketingProblem problem =
        buildProblem(graph, registrations, chosen);
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
};

} // namespace
