//===- PlanBuilder.cpp - Plans made by hand -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frees stand right after the last use; everything derived is computed the
// plainest way, independently of the verifier.
//
//===----------------------------------------------------------------------===//

#include "test/support/PlanBuilder.h"

#include "runtime/Chunk.h"
#include "runtime/TensorBytes.h"

#include <algorithm>

using namespace sfsdp::runtime;
using namespace sfsdp::test;

namespace {

std::vector<int64_t> contiguousStrides(const std::vector<int64_t> &sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t dim = sizes.size(); dim-- > 1;) {
    strides[dim - 1] = strides[dim] * std::max<int64_t>(sizes[dim], 1);
  }
  return strides;
}

/// Storages that an instruction uses; a wait uses those of its start.
std::vector<StorageId> storagesOf(const Plan &plan, const Program &program,
                                  const Instruction &instruction) {
  std::vector<StorageId> used;
  auto add = [&](ValueId id) { used.push_back(plan.values[id].storage); };
  if (const auto *kernel = std::get_if<KernelCall>(&instruction.action)) {
    for (const KernelArgument &argument : kernel->arguments) {
      if (const auto *value = std::get_if<ValueRef>(&argument)) {
        add(value->id);
      }
      if (const auto *list = std::get_if<ValueRefs>(&argument)) {
        for (auto id : list->ids) {
          if (id) {
            add(*id);
          }
        }
      }
    }
    for (auto id : kernel->results) {
      if (id) {
        add(*id);
      }
    }
  }
  const auto *start = std::get_if<CollectiveStart>(&instruction.action);
  if (const auto *wait = std::get_if<CollectiveWait>(&instruction.action)) {
    start =
        &std::get<CollectiveStart>(program.instructions[wait->start].action);
  }
  if (start) {
    for (const CollectiveMemberRef &member : start->members) {
      add(member.input);
      add(member.output);
    }
  }
  return used;
}

bool isResult(const Plan &plan, StorageId storage) {
  return std::any_of(plan.results.begin(), plan.results.end(),
                     [&](const Result &result) {
                       return plan.values[result.value].storage == storage;
                     });
}

void fillSchedule(const Plan &plan, Program &program, size_t position) {
  auto *start =
      std::get_if<CollectiveStart>(&program.instructions[position].action);
  if (!start) {
    return;
  }
  start->ready = -1;
  start->needed = static_cast<int64_t>(program.instructions.size());
  for (const CollectiveMemberRef &member : start->members) {
    for (size_t other = 0; other < program.instructions.size(); ++other) {
      const Instruction &each = program.instructions[other];
      const auto *kernel = std::get_if<KernelCall>(&each.action);
      const auto *earlier = std::get_if<CollectiveStart>(&each.action);
      bool defines = false;
      if (kernel) {
        defines = std::count(kernel->results.begin(), kernel->results.end(),
                             std::optional(member.input)) > 0;
      }
      for (size_t k = 0; earlier && k < earlier->members.size(); ++k) {
        defines |= earlier->members[k].output == member.input;
      }
      if (defines) {
        start->ready = std::max(start->ready, static_cast<int64_t>(other));
      }
      std::vector<StorageId> used = storagesOf(plan, program, each);
      bool uses = std::count(used.begin(), used.end(),
                             plan.values[member.output].storage) > 0;
      if (other > position && uses && (kernel || earlier)) {
        start->needed = std::min(start->needed, static_cast<int64_t>(other));
      }
    }
  }
}

} // namespace

void sfsdp::test::fillDerived(Plan &plan) {
  Program &program = plan.programs.front();
  auto count = static_cast<int64_t>(program.instructions.size());
  for (Storage &storage : plan.storages) {
    storage.first = storage.region == Region::Argument ? 0 : -1;
    storage.last = std::max<int64_t>(count - 1, 0);
  }
  int64_t live = 0;
  for (const Storage &storage : plan.storages) {
    live += storage.region == Region::Argument ? storage.bytes : 0;
  }
  plan.predictedPeakBytes = live;
  for (int64_t now = 0; now < count; ++now) {
    const Instruction &instruction = program.instructions[now];
    for (StorageId id : storagesOf(plan, program, instruction)) {
      if (plan.storages[id].first < 0) {
        plan.storages[id].first = now;
        live += plan.storages[id].bytes;
      }
    }
    const auto *kernel = std::get_if<KernelCall>(&instruction.action);
    plan.predictedPeakBytes =
        std::max(plan.predictedPeakBytes,
                 live + (kernel ? kernel->cost.workspaceBytes : 0));
    if (const auto *freed = std::get_if<Free>(&instruction.action)) {
      plan.storages[freed->storage].last = now;
      live -= plan.storages[freed->storage].bytes;
    }
    fillSchedule(plan, program, now);
  }
}

PlanBuilder::PlanBuilder(int64_t ranks) {
  plan.header.compiler = "by hand";
  plan.header.mesh.axes = {{"dp", ranks}};
  plan.header.dataAxes = {"dp"};
  plan.programs = {{"train_step", {}}};
  plan.provenance = {{"", Phase::Forward, "", ""}};
}

ValueId PlanBuilder::newValue(const std::vector<int64_t> &sizes, DType dtype,
                              Region region, int64_t bytes) {
  Value value;
  value.storage = static_cast<StorageId>(plan.storages.size());
  value.dtype = dtype;
  value.sizes = sizes;
  value.strides = contiguousStrides(sizes);
  plan.storages.push_back({bytes, "", region, 0, 0});
  plan.values.push_back(value);
  return static_cast<ValueId>(plan.values.size() - 1);
}

ValueId PlanBuilder::argument(Role role, const std::string &name,
                              std::vector<int64_t> globalShape,
                              std::vector<AxisShard> placement, DType dtype,
                              const std::string &slot) {
  Argument argument;
  argument.role = role;
  argument.name = name;
  argument.slot = slot;
  argument.globalShape = globalShape;
  argument.placement = placement;
  std::vector<int64_t> sizes =
      paddedLocalShape(globalShape, placement, plan.header.mesh);
  argument.value = newValue(sizes, dtype, Region::Argument,
                            elementCount(sizes) * byteSize(dtype));
  plan.arguments.push_back(argument);
  return argument.value;
}

ScalarId PlanBuilder::scalar(ScalarOp op, std::vector<ScalarId> operands,
                             double constant) {
  plan.scalars.push_back({op, std::move(operands), constant, "", 0});
  return static_cast<ScalarId>(plan.scalars.size() - 1);
}

void PlanBuilder::append(decltype(Instruction::action) action) {
  plan.programs.front().instructions.push_back({std::move(action), 0});
}

std::vector<ValueId> PlanBuilder::call(const std::string &name,
                                       const std::string &overload,
                                       std::vector<KernelArgument> arguments,
                                       const std::vector<NewTensor> &results,
                                       int64_t workspaceBytes) {
  KernelCall kernel{name, overload, std::move(arguments), {}, {}, {}};
  kernel.cost.workspaceBytes = workspaceBytes;
  std::vector<ValueId> ids;
  for (const NewTensor &tensor : results) {
    ids.push_back(
        newValue(tensor.sizes, tensor.dtype, Region::Private,
                 elementCount(tensor.sizes) * byteSize(tensor.dtype)));
    kernel.results.emplace_back(ids.back());
  }
  append(std::move(kernel));
  return ids;
}

ValueId PlanBuilder::view(const std::string &name, const std::string &overload,
                          std::vector<KernelArgument> arguments, ValueId base,
                          std::vector<int64_t> sizes,
                          std::vector<int64_t> strides, int64_t offset) {
  Value value = plan.values[base];
  value.sizes = std::move(sizes);
  value.strides = std::move(strides);
  value.offset = offset;
  plan.values.push_back(value);
  auto id = static_cast<ValueId>(plan.values.size() - 1);
  KernelCall kernel{name, overload, std::move(arguments), {id}, {}, {}};
  kernel.cost.costClass = CostClass::View;
  append(std::move(kernel));
  return id;
}

std::vector<ValueId> PlanBuilder::update(const std::string &name,
                                         std::vector<KernelArgument> arguments,
                                         const std::vector<ValueId> &updated,
                                         int64_t workspaceBytes) {
  KernelCall kernel{name, "", std::move(arguments), {}, {}, {}};
  kernel.cost.costClass = CostClass::Optimizer;
  kernel.cost.workspaceBytes = workspaceBytes;
  std::vector<ValueId> ids;
  for (ValueId id : updated) {
    Value after = plan.values[id];
    plan.values.push_back(after);
    ids.push_back(static_cast<ValueId>(plan.values.size() - 1));
    kernel.results.emplace_back(ids.back());
  }
  append(std::move(kernel));
  return ids;
}

int64_t PlanBuilder::start(CollectiveKind kind,
                           const std::vector<ValueId> &inputs,
                           const std::vector<int64_t> &outputRows,
                           std::vector<ValueId> &outputs, double divisor) {
  int64_t ranks = plan.header.mesh.axisSize("dp");
  CollectiveStart start;
  start.kind = kind;
  start.axes = {"dp"};
  start.divisor = divisor;
  for (size_t index = 0; index < inputs.size(); ++index) {
    Value input = plan.values[inputs[index]];
    int64_t inputBytes = elementCount(input.sizes) * byteSize(input.dtype);
    std::vector<int64_t> sizes = input.sizes;
    if (!sizes.empty()) {
      sizes[0] = outputRows[index];
    }
    int64_t outputBytes = elementCount(sizes) * byteSize(input.dtype);
    if (kind == CollectiveKind::AllGather) {
      start.bytesReceived += (ranks - 1) * inputBytes;
      outputBytes = ranks * inputBytes;
    } else if (kind == CollectiveKind::ReduceScatter) {
      start.bytesReceived += (ranks - 1) * outputBytes;
    } else if (kind == CollectiveKind::AllReduce) {
      start.bytesReceived += 2 * (ranks - 1) *
                             chunkRows(elementCount(input.sizes), ranks) *
                             byteSize(input.dtype);
    }
    outputs.push_back(newValue(sizes, input.dtype, Region::Arena, outputBytes));
    start.members.push_back({inputs[index], outputs.back(), ""});
  }
  append(std::move(start));
  return static_cast<int64_t>(plan.programs.front().instructions.size() - 1);
}

void PlanBuilder::wait(int64_t start) { append(CollectiveWait{start}); }

ValueId PlanBuilder::collective(CollectiveKind kind, ValueId input,
                                int64_t outputRows, double divisor) {
  std::vector<ValueId> outputs;
  wait(start(kind, {input}, {outputRows}, outputs, divisor));
  return outputs.front();
}

void PlanBuilder::result(Role role, const std::string &name, ValueId value,
                         std::vector<int64_t> globalShape,
                         std::vector<AxisShard> placement) {
  Result result;
  result.role = role;
  result.name = name;
  result.value = value;
  result.globalShape = std::move(globalShape);
  result.placement = std::move(placement);
  plan.results.push_back(result);
}

void PlanBuilder::updatedArgument(ValueId value, const std::string &name,
                                  const std::string &slot) {
  for (size_t index = 0; index < plan.arguments.size(); ++index) {
    const Argument &argument = plan.arguments[index];
    if (argument.name == name && argument.slot == slot) {
      plan.results.push_back({argument.role, name, slot, value,
                              static_cast<int64_t>(index), argument.globalShape,
                              argument.placement});
    }
  }
}

Plan PlanBuilder::finish() {
  Program &program = plan.programs.front();
  std::vector<int64_t> lastUse(plan.storages.size(), -1);
  for (size_t now = 0; now < program.instructions.size(); ++now) {
    for (StorageId id : storagesOf(plan, program, program.instructions[now])) {
      lastUse[id] = static_cast<int64_t>(now);
    }
  }
  std::vector<Instruction> placed;
  std::vector<int64_t> moved(program.instructions.size());
  for (size_t now = 0; now < program.instructions.size(); ++now) {
    moved[now] = static_cast<int64_t>(placed.size());
    placed.push_back(program.instructions[now]);
    if (auto *wait = std::get_if<CollectiveWait>(&placed.back().action)) {
      wait->start = moved[wait->start];
    }
    for (size_t id = 0; id < plan.storages.size(); ++id) {
      if (lastUse[id] == static_cast<int64_t>(now) &&
          plan.storages[id].region != Region::Argument &&
          !isResult(plan, static_cast<StorageId>(id))) {
        placed.push_back({Free{static_cast<StorageId>(id)}, 0});
      }
    }
  }
  program.instructions = std::move(placed);
  fillDerived(plan);
  return plan;
}

//===----------------------------------------------------------------------===//
// A training step
//===----------------------------------------------------------------------===//

namespace {

using Arguments = std::vector<KernelArgument>;

void appendAdamw(PlanBuilder &builder, const LinearStep &options,
                 ValueId weight, ValueId gradient, ValueId average,
                 ValueId square, int64_t shardBytes) {
  constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEps = 1e-8, kDecay = 0.01;
  ScalarId lr = builder.scalar(ScalarOp::Lr);
  ScalarId step = builder.scalar(ScalarOp::Step);
  ScalarId one = builder.scalar(ScalarOp::Constant, {}, 1);
  ScalarId wd = builder.scalar(ScalarOp::Constant, {}, kDecay);
  ScalarId scaled = builder.scalar(ScalarOp::Mul, {lr, wd});
  ScalarId decay = builder.scalar(ScalarOp::Sub, {one, scaled});
  auto bias = [&](double beta) {
    ScalarId base = builder.scalar(ScalarOp::Constant, {}, beta);
    ScalarId power = builder.scalar(ScalarOp::Pow, {base, step});
    return builder.scalar(ScalarOp::Sub, {one, power});
  };
  ScalarId stepSize = builder.scalar(ScalarOp::Div, {lr, bias(kBeta1)});
  ScalarId negStepSize = builder.scalar(ScalarOp::Neg, {stepSize});
  ScalarId half = builder.scalar(ScalarOp::Constant, {}, 0.5);
  ScalarId root = builder.scalar(ScalarOp::Pow, {bias(kBeta2), half});
  std::vector<ValueId> after =
      builder.update("sfsdp::adamw",
                     {ValueRef{weight}, ValueRef{gradient}, ValueRef{average},
                      ValueRef{square}, ScalarRef{decay}, kBeta1, kBeta2,
                      ScalarRef{negStepSize}, ScalarRef{root}, kEps},
                     {weight, average, square}, shardBytes);
  builder.updatedArgument(after[0], "linear.weight");
  builder.updatedArgument(after[1], "linear.weight", "exp_avg");
  builder.updatedArgument(after[2], "linear.weight", "exp_avg_sq");
}

} // namespace

Plan sfsdp::test::linearStep(const LinearStep &options) {
  PlanBuilder builder(options.ranks);
  std::vector<AxisShard> placement;
  if (options.shard) {
    placement = {{"dp", 0}};
  }
  std::vector<int64_t> shape = {options.rows, options.columns};
  std::vector<int64_t> outputShape = {options.batch, options.rows};
  int64_t chunk = chunkRows(options.rows, options.shard ? options.ranks : 1);
  int64_t outputs = options.batch * options.rows;

  ValueId weight =
      builder.argument(Role::Parameter, "linear.weight", shape, placement);
  ValueId average = -1, square = -1, momentum = -1;
  if (options.optimizer == "adamw") {
    average = builder.argument(Role::State, "linear.weight", shape, placement,
                               DType::Float32, "exp_avg");
    square = builder.argument(Role::State, "linear.weight", shape, placement,
                              DType::Float32, "exp_avg_sq");
  }
  if (options.optimizer == "sgd") {
    momentum = builder.argument(Role::State, "linear.weight", shape, placement,
                                DType::Float32, "momentum_buffer");
  }
  ValueId x =
      builder.argument(Role::Input, "x", {options.batch, options.columns});
  ValueId target = builder.argument(Role::Input, "target", outputShape);

  ValueId whole = options.shard ? builder.collective(CollectiveKind::AllGather,
                                                     weight, options.rows)
                                : weight;
  ValueId transposed =
      builder.view("aten::t", "", {ValueRef{whole}}, whole,
                   {options.columns, options.rows}, {1, options.columns});
  ValueId y = builder.call("aten::mm", "", {ValueRef{x}, ValueRef{transposed}},
                           {{outputShape}})[0];
  ValueId d = builder.call("aten::sub", "Tensor",
                           {ValueRef{y}, ValueRef{target}}, {{outputShape}})[0];
  ValueId squared = builder.call(
      "aten::mul", "Tensor", {ValueRef{d}, ValueRef{d}}, {{outputShape}})[0];
  ValueId loss =
      builder.call("aten::mean", "", {ValueRef{squared}}, {NewTensor{}})[0];
  builder.result(Role::Loss, "loss", loss, {});
  ValueId dy = builder.call("aten::mul", "Scalar",
                            {ValueRef{d}, 2.0 / static_cast<double>(outputs)},
                            {{outputShape}})[0];
  ValueId dyt = builder.view("aten::t", "", {ValueRef{dy}}, dy,
                             {options.rows, options.batch}, {1, options.rows});
  ValueId dw =
      builder.call("aten::mm", "", {ValueRef{dyt}, ValueRef{x}}, {{shape}})[0];
  auto ranks = static_cast<double>(options.ranks);
  ValueId gradient = builder.collective(
      options.shard ? CollectiveKind::ReduceScatter : CollectiveKind::AllReduce,
      dw, chunk, ranks);
  if (options.gradients) {
    builder.result(Role::Gradient, "linear.weight", gradient, shape, placement);
  }
  if (options.optimizer == "adamw") {
    appendAdamw(builder, options, weight, gradient, average, square,
                chunk * options.columns * 4);
  }
  if (options.optimizer == "sgd") {
    ScalarId lr = builder.scalar(ScalarOp::Lr);
    ScalarId negLr = builder.scalar(ScalarOp::Neg, {lr});
    ScalarId step = builder.scalar(ScalarOp::Step);
    std::vector<ValueId> after = builder.update(
        "sfsdp::sgd",
        {ValueRef{weight}, ValueRef{gradient}, ValueRef{momentum},
         /*weight_decay=*/0.01, /*momentum=*/0.9, /*dampening=*/0.0,
         /*nesterov=*/false, ScalarRef{negLr}, ScalarRef{step}},
        {weight, momentum}, chunk * options.columns * 4);
    builder.updatedArgument(after[0], "linear.weight");
    builder.updatedArgument(after[1], "linear.weight", "momentum_buffer");
  }
  return builder.finish();
}
