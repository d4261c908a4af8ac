//===- OptimizerPlan.cpp - The optimizer of a plan alone ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies the optimizer's calls and the scalars they use into a plan of one rank
// whose arguments have their global shapes. Where the plan clips, norms are
// formed from the same chunks, but of whole gradients.
//
// Tested by test/unit/runtime/LocalJobTest.cpp and test/e2e/check-against.py.
//
//===----------------------------------------------------------------------===//

#include "runtime/Box.h"
#include "runtime/ReferenceCheck.h"
#include "runtime/TensorBytes.h"

#include <map>

using namespace sfsdp::runtime;

namespace {

bool isUpdate(const KernelCall &kernel) {
  return kernel.name == "sfsdp::adamw" || kernel.name == "sfsdp::adam" ||
         kernel.name == "sfsdp::sgd";
}

class OptimizerPlan {
public:
  explicit OptimizerPlan(const Plan &plan) : plan(plan) {
    alone.header.device = plan.header.device;
    alone.scalars = plan.scalars;
    alone.provenance = {{}};
    alone.programs = {{"update", {}}};
    for (size_t index = 0; index < plan.arguments.size(); ++index) {
      argumentAt[plan.arguments[index].value] = index;
    }
    for (const Result &result : plan.results) {
      if (result.role == Role::ChunkNorms) {
        parameterOf[result.value] = result.name;
      }
    }
  }

  Plan build() {
    for (const Instruction &instruction : plan.programs.back().instructions) {
      if (const auto *kernel = std::get_if<KernelCall>(&instruction.action)) {
        addGradientOf(*kernel);
      }
    }
    for (const Instruction &instruction : plan.programs.back().instructions) {
      const auto *kernel = std::get_if<KernelCall>(&instruction.action);
      if (kernel && isUpdate(*kernel)) {
        addUpdate(*kernel);
      } else if (kernel) {
        addNorm(*kernel);
      }
    }
    return std::move(alone);
  }

private:
  void addGradientOf(const KernelCall &update);
  void addUpdate(KernelCall kernel);
  void addNorm(const KernelCall &kernel);
  void addTotalNorm(const KernelCall &kernel);
  /// Adds a call of one argument list and one fresh result like the plan's
  /// value `like`, and returns the result.
  ValueId addCall(const std::string &name, const std::string &overload,
                  std::vector<KernelArgument> arguments, Value like);
  ValueId addArgument(Argument argument, const Value &local);
  ValueId addView(ValueId argument);

  const Argument &parameter(const KernelCall &update) const {
    const auto *value = std::get_if<ValueRef>(&update.arguments[0]);
    return plan.arguments[argumentAt.at(value->id)];
  }

  const Plan &plan;
  Plan alone;
  std::map<ValueId, size_t> argumentAt;       ///< of the plan
  std::map<ValueId, std::string> parameterOf; ///< whose chunk norms these are
  std::map<std::string, ValueId> gradientOf;  ///< by parameter
  std::map<ValueId, ValueId> copyOf;          ///< norm, coefficient and guard
  std::optional<ValueId> coefficient;
};

constexpr size_t kGradient = 1; ///< argument of an update

ValueId OptimizerPlan::addArgument(Argument argument, const Value &local) {
  auto storage = static_cast<StorageId>(alone.storages.size());
  auto value = static_cast<ValueId>(alone.values.size());
  alone.storages.push_back(
      {elementCount(argument.globalShape) * byteSize(local.dtype), "",
       Region::Argument, 0, 0});
  // A whole tensor keeps its strides: the norm of one chunk follows them.
  bool isWhole = local.sizes == argument.globalShape;
  alone.values.push_back(
      {storage, local.dtype, argument.globalShape,
       isWhole ? local.strides : rowMajorStrides(argument.globalShape), 0});
  argument.value = value;
  argument.placement.clear();
  alone.arguments.push_back(std::move(argument));
  return value;
}

ValueId OptimizerPlan::addView(ValueId argument) {
  Value copy = alone.values[argument];
  alone.values.push_back(std::move(copy));
  return static_cast<ValueId>(alone.values.size() - 1);
}

ValueId OptimizerPlan::addCall(const std::string &name,
                               const std::string &overload,
                               std::vector<KernelArgument> arguments,
                               Value like) {
  like.storage = static_cast<StorageId>(alone.storages.size());
  like.offset = 0;
  alone.storages.push_back({spanBytes(like), "", Region::Private, 0, 0});
  alone.values.push_back(std::move(like));
  auto result = static_cast<ValueId>(alone.values.size() - 1);
  KernelCall call;
  call.name = name;
  call.overload = overload;
  call.arguments = std::move(arguments);
  call.results = {result};
  alone.programs.front().instructions.push_back({std::move(call), 0});
  return result;
}

void OptimizerPlan::addGradientOf(const KernelCall &update) {
  if (!isUpdate(update)) {
    return;
  }
  const Argument &owner = parameter(update);
  const auto *gradient = std::get_if<ValueRef>(&update.arguments[kGradient]);
  Argument argument;
  argument.role = Role::Input;
  argument.name = "grad." + owner.name;
  argument.globalShape = owner.globalShape;
  gradientOf[owner.name] =
      addArgument(std::move(argument), plan.values[gradient->id]);
}

void OptimizerPlan::addTotalNorm(const KernelCall &kernel) {
  ValueRefs norms;
  for (std::optional<ValueId> id :
       std::get<ValueRefs>(kernel.arguments[0]).ids) {
    const Value &ofChunks = plan.values[*id];
    norms.ids.emplace_back(
        addCall("sfsdp::chunk_norms", "",
                {ValueRef{gradientOf.at(parameterOf.at(*id))},
                 ofChunks.sizes[0], std::monostate(), ofChunks.dtype},
                ofChunks));
  }
  ValueId total = *kernel.results[0];
  copyOf[total] = addCall(kernel.name, "", {norms}, plan.values[total]);
}

void OptimizerPlan::addNorm(const KernelCall &kernel) {
  if (kernel.name == "sfsdp::total_norm") {
    return addTotalNorm(kernel);
  }
  bool isCoefficient = kernel.name == "sfsdp::clip_coefficient";
  if (!isCoefficient && kernel.name != "sfsdp::is_finite") {
    return;
  }
  std::vector<KernelArgument> arguments = kernel.arguments;
  arguments[0] =
      ValueRef{copyOf.at(std::get<ValueRef>(kernel.arguments[0]).id)};
  ValueId result = *kernel.results[0];
  copyOf[result] =
      addCall(kernel.name, "", std::move(arguments), plan.values[result]);
  if (isCoefficient) {
    coefficient = copyOf[result];
    return;
  }
  // Lets the executor count the steps that are left out.
  alone.results.push_back(
      {Role::Applied, "applied", "", copyOf[result], {}, {}, {}});
}

void OptimizerPlan::addUpdate(KernelCall kernel) {
  ValueId gradient = gradientOf.at(parameter(kernel).name);
  std::map<StorageId, ValueId> wholeOn; ///< by the plan's storage
  for (size_t position = 0; position < kernel.arguments.size(); ++position) {
    auto *value = std::get_if<ValueRef>(&kernel.arguments[position]);
    if (!value || position == kGradient) {
      continue;
    }
    if (auto guard = copyOf.find(value->id); guard != copyOf.end()) {
      value->id = guard->second;
      continue;
    }
    const Value &local = plan.values[value->id];
    value->id = addArgument(plan.arguments[argumentAt.at(value->id)], local);
    wholeOn[local.storage] = value->id;
  }
  if (coefficient) {
    gradient = addCall("aten::mul", "Tensor",
                       {ValueRef{gradient}, ValueRef{*coefficient}},
                       alone.values[gradient]);
  }
  kernel.arguments[kGradient] = ValueRef{gradient};
  for (std::optional<ValueId> &result : kernel.results) {
    if (result) {
      result = addView(wholeOn.at(plan.values[*result].storage));
    }
  }
  alone.programs.front().instructions.push_back({std::move(kernel), 0});
}

} // namespace

Plan sfsdp::runtime::optimizerOf(const Plan &plan) {
  return OptimizerPlan(plan).build();
}
