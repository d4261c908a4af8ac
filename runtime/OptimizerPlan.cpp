//===- OptimizerPlan.cpp - The optimizer of a plan alone ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies the optimizer's calls and the scalars they use into a plan of one rank
// whose arguments have their global shapes.
//
// Tested by test/unit/runtime/LocalJobTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Box.h"
#include "runtime/ReferenceCheck.h"
#include "runtime/TensorBytes.h"

#include <map>

using namespace sfsdp::runtime;

namespace {

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
  }

  Plan build() {
    for (const Instruction &instruction : plan.programs.back().instructions) {
      const auto *kernel = std::get_if<KernelCall>(&instruction.action);
      if (kernel &&
          (kernel->name == "sfsdp::adamw" || kernel->name == "sfsdp::sgd")) {
        addCall(*kernel);
      }
    }
    return std::move(alone);
  }

private:
  void addCall(KernelCall kernel);
  ValueId addArgument(Argument argument, DType dtype);
  ValueId addView(ValueId argument);

  const Plan &plan;
  Plan alone;
  std::map<ValueId, size_t> argumentAt; ///< of the plan
};

ValueId OptimizerPlan::addArgument(Argument argument, DType dtype) {
  auto storage = static_cast<StorageId>(alone.storages.size());
  auto value = static_cast<ValueId>(alone.values.size());
  alone.storages.push_back(
      {elementCount(argument.globalShape) * byteSize(dtype), "",
       Region::Argument, 0, 0});
  alone.values.push_back({storage, dtype, argument.globalShape,
                          rowMajorStrides(argument.globalShape), 0});
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

void OptimizerPlan::addCall(KernelCall kernel) {
  constexpr size_t kGradient = 1;
  const auto *parameter = std::get_if<ValueRef>(&kernel.arguments[0]);
  const Argument &owner = plan.arguments[argumentAt.at(parameter->id)];
  std::map<StorageId, ValueId> wholeOn; ///< by the plan's storage
  for (size_t position = 0; position < kernel.arguments.size(); ++position) {
    auto *value = std::get_if<ValueRef>(&kernel.arguments[position]);
    if (!value) {
      continue;
    }
    const Value &local = plan.values[value->id];
    Argument argument;
    if (position == kGradient) {
      argument.role = Role::Input;
      argument.name = "grad." + owner.name;
      argument.globalShape = owner.globalShape;
    } else {
      argument = plan.arguments[argumentAt.at(value->id)];
    }
    value->id = addArgument(std::move(argument), local.dtype);
    wholeOn[local.storage] = value->id;
  }
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
