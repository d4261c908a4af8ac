//===- ReferenceCheck.cpp - Every step equals an unsharded one ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The main thread assembles whole tensors from the ranks' boxes between steps,
// while no rank runs.
//
// Tested by test/unit/runtime/LocalJobTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/ReferenceCheck.h"
#include "runtime/Box.h"
#include "runtime/Collect.h"
#include "runtime/DeclaredReduction.h"
#include "runtime/Reduce.h"
#include "runtime/TensorBytes.h"

#include <algorithm>
#include <cstring>
#include <map>

using namespace sfsdp::runtime;

namespace {

using Bytes = std::vector<std::byte>;

/// A plan of one rank and its executor.
struct SingleRank {
  Plan plan;
  RankGroups groups;
  std::unique_ptr<Executor> executor;

  Status prepare(const Job &job) {
    MeshPosition position(plan.header.mesh, 0);
    GroupMaker makeGroup = localGroupMakers(1, job.options.timeout)[0];
    auto made = RankGroups::make(plan, position, makeGroup);
    if (!made) {
      return made.status();
    }
    groups = std::move(*made);
    ExecutorOptions options;
    options.operators = job.options.operators;
    options.seed = job.options.seed;
    auto prepared = Executor::make(
        plan, position,
        [this](const std::vector<std::string> &axes) {
          return groups.find(axes);
        },
        std::move(options));
    if (!prepared) {
      return prepared.status();
    }
    executor = std::move(*prepared);
    return Status();
  }
};

/// Copies a row-major tensor into `view`.
void fill(const TensorView &view, const Bytes &whole) {
  Bytes copy = whole;
  copyBox(view.sizes, byteSize(view.dtype),
          {copy.data(), rowMajorStrides(view.sizes)},
          {static_cast<std::byte *>(view.data), view.strides});
}

/// Success, or how many elements differ and where the first one is.
Status compareBits(const Bytes &got, const Bytes &expected, DType dtype) {
  if (got == expected) {
    return Status();
  }
  int64_t width = byteSize(dtype);
  int64_t different = 0, first = -1;
  auto count = static_cast<int64_t>(expected.size()) / width;
  for (int64_t index = 0; index < count; ++index) {
    if (std::memcmp(&got[index * width], &expected[index * width], width)) {
      first = first < 0 ? index : first;
      ++different;
    }
  }
  auto at = [&](const Bytes &bytes) {
    TensorView element{
        const_cast<std::byte *>(&bytes[first * width]), dtype, {}, {}};
    return std::to_string(numberIn(element));
  };
  return Status::error(
      "differs from the reference in " + std::to_string(different) + " of " +
      std::to_string(count) + " elements, first at " + std::to_string(first) +
      ": " + at(got) + ", expected " + at(expected));
}

std::string keyOf(const std::string &name, const std::string &slot) {
  return slot.empty() ? name : name + "/" + slot;
}

} // namespace

struct ReferenceCheck::State {
  State(const Job &job, std::vector<RankRun *> runs)
      : job(job), plan(job.plan), runs(std::move(runs)) {}

  Status prepare();
  Status checkPlans() const;

  /// Assembles a tensor from all ranks; `get` gives each rank's part.
  template <typename Get>
  Bytes wholeOf(const std::vector<int64_t> &globalShape,
                const std::vector<AxisShard> &placement, Get get) const;
  Bytes wholeArgument(size_t index) const;
  Bytes wholeResult(size_t index) const;

  /// A rank with the batch of data index `dataIndex`.
  RankRun &runOf(int64_t dataIndex) const;

  Status runReference(int64_t step);
  Status feedReference(RankRun &run);
  Status compareLoss(double loss) const;
  Status compareGradients();
  Status compareUpdate(int64_t step);

  const Job &job;
  const Plan &plan;
  std::vector<RankRun *> runs;
  SingleRank reference;
  SingleRank optimizer;
  std::map<std::string, Bytes> before;     ///< parameters and state, whole
  std::map<std::string, Bytes> means;      ///< of gradients, by parameter
  std::vector<std::vector<Bytes>> results; ///< by data index, then result
};

Status ReferenceCheck::State::checkPlans() const {
  const Plan &other = *job.reference;
  if (other.header.mesh.size() != 1) {
    return Status::error("--check-against needs a plan of one rank, " +
                         job.options.checkAgainst + " is for " +
                         std::to_string(other.header.mesh.size()));
  }
  if (plan.header.microBatches > 1 || other.header.microBatches > 1) {
    return Status::error("--check-against compares one batch per rank and "
                         "step; compile both plans with micro-batches=1");
  }
  auto hasGradients = [](const Plan &each) {
    return std::ranges::any_of(each.results, [](const Result &result) {
      return result.role == Role::Gradient;
    });
  };
  for (const auto &[each, path] :
       {std::pair(&plan, &job.options.plan),
        std::pair(&other, &job.options.checkAgainst)}) {
    if (!hasGradients(*each)) {
      return Status::error("--check-against compares gradients, but " + *path +
                           " has none; compile it with results=gradients");
    }
  }
  for (const Result &result : other.results) {
    if (result.role == Role::Parameter) {
      return Status::error("--check-against needs a plan that leaves its "
                           "parameters alone; compile " +
                           job.options.checkAgainst + " with optimizer=none");
    }
  }
  return Status();
}

Status ReferenceCheck::State::prepare() {
  if (Status status = checkPlans(); !status.ok()) {
    return status;
  }
  prepareLane(job.options.threads);
  reference.plan = *job.reference;
  if (Status status = reference.prepare(job); !status.ok()) {
    return status.within(job.options.checkAgainst);
  }
  optimizer.plan = optimizerOf(plan);
  return optimizer.prepare(job);
}

template <typename Get>
Bytes ReferenceCheck::State::wholeOf(const std::vector<int64_t> &globalShape,
                                     const std::vector<AxisShard> &placement,
                                     Get get) const {
  int64_t width = byteSize(get(*runs[0]).dtype);
  std::vector<int64_t> strides = rowMajorStrides(globalShape);
  Bytes whole(static_cast<size_t>(elementCount(globalShape) * width));
  for (RankRun *run : runs) {
    TensorView part = get(*run);
    Box box =
        ownedBox(globalShape, placement, plan.header.mesh, run->position());
    copyBox(sizesOf(box), width,
            {static_cast<std::byte *>(part.data), part.strides},
            startOf(box, {whole.data(), strides}, width));
    if (placement.empty()) {
      break;
    }
  }
  return whole;
}

Bytes ReferenceCheck::State::wholeArgument(size_t index) const {
  const Argument &argument = plan.arguments[index];
  return wholeOf(argument.globalShape, argument.placement,
                 [&](RankRun &run) { return run.executor().argument(index); });
}

Bytes ReferenceCheck::State::wholeResult(size_t index) const {
  const Result &result = plan.results[index];
  return wholeOf(result.globalShape, result.placement,
                 [&](RankRun &run) { return run.executor().result(index); });
}

RankRun &ReferenceCheck::State::runOf(int64_t dataIndex) const {
  for (RankRun *run : runs) {
    if (run->position().indexOn(plan.header.dataAxes) == dataIndex) {
      return *run;
    }
  }
  return *runs.front();
}

/// Gives the reference what `run` had before the step: parameters whole,
/// everything else as it is in that rank's memory.
Status ReferenceCheck::State::feedReference(RankRun &run) {
  for (size_t index = 0; index < reference.plan.arguments.size(); ++index) {
    const Argument &wanted = reference.plan.arguments[index];
    TensorView view = reference.executor->argument(index);
    bool found = false;
    for (size_t own = 0; own < plan.arguments.size() && !found; ++own) {
      const Argument &argument = plan.arguments[own];
      found = argument.role == wanted.role && argument.name == wanted.name &&
              argument.globalShape == wanted.globalShape;
      if (found) {
        fill(view, argument.role == Role::Parameter
                       ? before.at(argument.name)
                       : rowMajorBytes(run.executor().argument(own)));
      }
    }
    if (!found) {
      return Status::error("the reference reads '" + wanted.name +
                           "', which the plan does not have in this shape");
    }
  }
  return Status();
}

Status ReferenceCheck::State::runReference(int64_t step) {
  results.assign(job.dataRanks, {});
  for (int64_t index = 0; index < job.dataRanks; ++index) {
    if (Status status = feedReference(runOf(index)); !status.ok()) {
      return status;
    }
    reference.executor->drawAs(index);
    Status status = reference.executor->runStep(step, job.options.lr.at(step));
    if (!status.ok()) {
      return status.within(job.options.checkAgainst);
    }
    for (size_t result = 0; result < reference.plan.results.size(); ++result) {
      results[index].push_back(
          rowMajorBytes(reference.executor->result(result)));
    }
  }
  return Status();
}

Status ReferenceCheck::State::compareLoss(double loss) const {
  for (size_t result = 0; result < reference.plan.results.size(); ++result) {
    if (reference.plan.results[result].role != Role::Loss) {
      continue;
    }
    DType dtype =
        reference.plan.values[reference.plan.results[result].value].dtype;
    std::vector<double> losses;
    for (const std::vector<Bytes> &each : results) {
      Bytes copy = each[result];
      losses.push_back(numberIn({copy.data(), dtype, {}, {}}));
    }
    double mean = meanOf(losses, dtype);
    if (std::memcmp(&mean, &loss, sizeof mean) != 0) {
      return Status::error("loss is " + std::to_string(loss) +
                           ", the reference has " + std::to_string(mean));
    }
  }
  return Status();
}

Status ReferenceCheck::State::compareGradients() {
  Expected<DeclaredReduction> declared = declaredReduction(plan.header);
  if (!declared) {
    return declared.status();
  }
  for (size_t index = 0; index < plan.results.size(); ++index) {
    const Result &gradient = plan.results[index];
    if (gradient.role != Role::Gradient) {
      continue;
    }
    std::vector<const void *> parts;
    DType dtype = plan.values[gradient.value].dtype;
    for (size_t other = 0; other < reference.plan.results.size(); ++other) {
      const Result &result = reference.plan.results[other];
      bool same = result.role == Role::Gradient &&
                  result.name == gradient.name &&
                  reference.plan.values[result.value].dtype == dtype;
      for (int64_t rank : same ? declared->ranks : std::vector<int64_t>()) {
        parts.push_back(results[rank][other].data());
      }
    }
    std::string where = "gradient of '" + gradient.name + "'";
    if (parts.empty()) {
      return Status::error(where + " of " + std::string(nameOf(dtype)) +
                           " is not among the reference's results");
    }
    Bytes mean(results[0].empty()
                   ? 0
                   : static_cast<size_t>(elementCount(gradient.globalShape) *
                                         byteSize(dtype)));
    sumInRankOrder(parts, mean.data(), elementCount(gradient.globalShape),
                   dtype, declared->divisor, declared->grouped);
    if (Status status = compareBits(wholeResult(index), mean, dtype);
        !status.ok()) {
      return status.within(where);
    }
    means[gradient.name] = std::move(mean);
  }
  return Status();
}

Status ReferenceCheck::State::compareUpdate(int64_t step) {
  constexpr size_t kGradientPrefix = 5; // "grad."
  for (size_t index = 0; index < optimizer.plan.arguments.size(); ++index) {
    const Argument &argument = optimizer.plan.arguments[index];
    TensorView view = optimizer.executor->argument(index);
    fill(view, argument.role == Role::Input
                   ? means.at(argument.name.substr(kGradientPrefix))
                   : before.at(keyOf(argument.name, argument.slot)));
  }
  Status run = optimizer.executor->runStep(step, job.options.lr.at(step));
  if (!run.ok()) {
    return run.within("optimizer of the reference");
  }
  for (size_t index = 0; index < optimizer.plan.arguments.size(); ++index) {
    const Argument &argument = optimizer.plan.arguments[index];
    if (argument.role == Role::Input) {
      continue;
    }
    TensorView view = optimizer.executor->argument(index);
    for (size_t own = 0; own < plan.arguments.size(); ++own) {
      const Argument &each = plan.arguments[own];
      bool same = each.role == argument.role && each.name == argument.name &&
                  each.slot == argument.slot;
      Status status = same ? compareBits(wholeArgument(own),
                                         rowMajorBytes(view), view.dtype)
                           : Status();
      if (!status.ok()) {
        return status.within("'" + keyOf(each.name, each.slot) +
                             "' after its update");
      }
    }
  }
  return Status();
}

ReferenceCheck::ReferenceCheck(std::unique_ptr<State> state)
    : state(std::move(state)) {}

ReferenceCheck::~ReferenceCheck() = default;

Expected<std::unique_ptr<ReferenceCheck>>
ReferenceCheck::make(const Job &job, std::vector<RankRun *> runs) {
  auto state = std::make_unique<State>(job, std::move(runs));
  if (Status status = state->prepare(); !status.ok()) {
    return status;
  }
  return std::unique_ptr<ReferenceCheck>(new ReferenceCheck(std::move(state)));
}

void ReferenceCheck::before(int64_t) {
  state->before.clear();
  for (size_t index = 0; index < state->plan.arguments.size(); ++index) {
    const Argument &argument = state->plan.arguments[index];
    if (argument.role == Role::Parameter || argument.role == Role::State) {
      state->before[keyOf(argument.name, argument.slot)] =
          state->wholeArgument(index);
    }
  }
}

Status ReferenceCheck::after(int64_t step, double loss) {
  std::string where = "step " + std::to_string(step);
  if (Status status = state->runReference(step); !status.ok()) {
    return status.within(where);
  }
  if (Status status = state->compareLoss(loss); !status.ok()) {
    return status.within(where);
  }
  if (Status status = state->compareGradients(); !status.ok()) {
    return status.within(where);
  }
  return state->compareUpdate(step).within(where);
}
