//===- Executor.cpp - Runs the program of a plan --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value is a slot that holds a tensor from its definition to the free of its
// storage. Whatever LibTorch throws is caught here and named by instruction.
//
// Tested by test/unit/runtime/ExecutorTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Executor.h"
#include "runtime/Allocator.h"
#include "runtime/CallSite.h"
#include "runtime/LayoutCheck.h"
#include "runtime/PeerStorages.h"
#include "runtime/PlanNames.h"
#include "runtime/Scalars.h"
#include "runtime/TensorBytes.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>
#include <chrono>
#include <torch/headeronly/version.h>

using namespace sfsdp::runtime;

namespace {

int64_t nowNs() {
  return std::chrono::steady_clock::now().time_since_epoch() /
         std::chrono::nanoseconds(1);
}

/// A collective start, made ready.
struct CollectiveSite {
  ProcessGroup *group = nullptr;
  CollectiveCall call; ///< but for the pointers
  std::vector<CollectiveMemberRef> members;
  std::unique_ptr<Work> work; ///< while in flight
};

struct Step {
  enum class Kind : uint8_t { Kernel, Start, Wait, Free };
  Kind kind;
  size_t index; ///< of a call site, a collective site or a storage
  Readers readers = Readers::Owner; ///< of what a kernel returns
};

at::Tensor viewOf(const at::Tensor &block, const Value &value) {
  return block.as_strided(value.sizes, value.strides, value.offset);
}

int64_t elementsOf(const Storage &storage, DType type) {
  return storage.bytes / byteSize(type);
}

} // namespace

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

namespace {

/// A program of the plan, made ready. Its collectives and call sites are its
/// own.
struct Routine {
  const Program *program = nullptr;
  std::vector<Step> steps;
  std::vector<CallSite> sites;
  std::vector<CollectiveSite> collectives;
  std::vector<size_t> collectiveOf; ///< by instruction
  std::vector<StorageId> kept;      ///< results that live until the next run
  int64_t firstInstruction = 0;     ///< counted over all programs
  bool checked = false;
};

} // namespace

struct Executor::State {
  State(const Plan &plan, const MeshPosition &position, ExecutorOptions options)
      : plan(plan), position(position), options(std::move(options)),
        memory(RankMemory::make(this->options.fill, this->options.peerMemory)),
        readByPeers(storagesReadByPeers(plan)), values(plan.values.size()),
        valuesOn(plan.storages.size()), routines(plan.programs.size()) {}

  Status prepare(const GroupFinder &groups);
  Status prepareRoutine(const GroupFinder &groups);
  Status prepare(const KernelCall &kernel, const GroupFinder &groups);
  Status prepare(const CollectiveStart &start, const GroupFinder &groups);
  Status prepare(const CollectiveWait &wait, const GroupFinder &groups);
  Status prepare(const Free &freed, const GroupFinder &groups);
  void makeArguments();
  Readers readersOf(const KernelCall &kernel) const;
  at::Tensor newBlock(ValueId id) const;
  void findKeptStorages();

  Status run(Routine &next, const StepPoint &point, bool isTimed);
  void runInstructions(int64_t step, LayoutCheck *check);
  void runInstruction(int64_t step, const Step &instruction);
  void runKernel(const Step &instruction);
  void start(int64_t step, CollectiveSite &site);
  void wait(int64_t step, CollectiveSite &site);
  void release(StorageId storage);
  void compareArguments(LayoutCheck &check);
  void compare(LayoutCheck &check);
  std::string where(int64_t step) const;

  const std::vector<Instruction> &instructions() const {
    return routine->program->instructions;
  }

  const Plan &plan;
  MeshPosition position;
  ExecutorOptions options;
  std::shared_ptr<RankMemory> memory; ///< outlives the tensors below
  std::vector<bool> readByPeers;      ///< by storage
  std::vector<at::Tensor> values;
  std::vector<std::vector<ValueId>> valuesOn; ///< by storage
  std::vector<Routine> routines;
  Routine *routine = nullptr; ///< the one that is prepared or runs
  std::vector<double> scalars;
  torch::jit::Stack stack;
  std::vector<InstructionTime> times;
  int64_t dataRank = position.indexOn(plan.header.dataAxes);
  std::optional<ValueId> guard; ///< the result of role Applied
  int64_t leftOut = 0;          ///< steps that were not applied
  bool applied = true;          ///< the last one
  int64_t waited = 0;
  size_t now = 0;
  bool timed = false;    ///< runStep records times
  bool isTiming = false; ///< the program that runs does
};

Status Executor::State::prepare(const GroupFinder &groups) {
  int64_t instructionCount = 0;
  for (size_t number = 0; number < routines.size(); ++number) {
    routine = &routines[number];
    routine->program = &plan.programs[number];
    routine->firstInstruction = instructionCount;
    instructionCount += static_cast<int64_t>(instructions().size());
    if (Status status = prepareRoutine(groups); !status.ok()) {
      return status;
    }
  }
  for (size_t id = 0; id < plan.values.size(); ++id) {
    valuesOn[plan.values[id].storage].push_back(static_cast<ValueId>(id));
  }
  makeArguments();
  for (const Result &result : plan.results) {
    if (result.role == Role::Applied) {
      guard = result.value;
    }
  }
  return Status();
}

Status Executor::State::prepareRoutine(const GroupFinder &groups) {
  routine->collectiveOf.resize(instructions().size());
  for (now = 0; now < instructions().size(); ++now) {
    Status status =
        std::visit([&](const auto &action) { return prepare(action, groups); },
                   instructions()[now].action);
    if (!status.ok()) {
      return status.within(routine->program->name + "[" + std::to_string(now) +
                           "]");
    }
  }
  findKeptStorages();
  return Status();
}

Status Executor::State::prepare(const KernelCall &kernel,
                                const GroupFinder &groups) {
  Expected<CallSite> site = CallSite::make(kernel, options.operators);
  if (!site) {
    return site.status();
  }
  routine->steps.push_back(
      {Step::Kind::Kernel, routine->sites.size(), readersOf(kernel)});
  routine->sites.push_back(std::move(*site));
  return Status();
}

Status Executor::State::prepare(const CollectiveStart &start,
                                const GroupFinder &groups) {
  CollectiveSite site;
  site.group = groups(start.axes);
  if (!site.group) {
    return Status::error("there is no process group for its axes");
  }
  site.members = start.members;
  site.call.kind = start.kind;
  site.call.order = start.order;
  site.call.divisor = start.divisor;
  site.call.grouped = start.grouped;
  site.call.label = "instruction " + std::to_string(now) + ", " +
                    std::string(spell(start.kind));
  for (const CollectiveMemberRef &member : start.members) {
    const Value &input = plan.values[member.input];
    const Value &output = plan.values[member.output];
    site.call.members.push_back({nullptr, nullptr, elementCount(input.sizes),
                                 elementCount(output.sizes), input.dtype});
    if (start.kind == CollectiveKind::AllGather) {
      site.call.members.back().outputCount =
          site.group->size() * elementCount(input.sizes);
    }
  }
  if (!start.members.front().name.empty()) {
    site.call.label += " of " + start.members.front().name;
  }
  routine->collectiveOf[now] = routine->collectives.size();
  routine->steps.push_back({Step::Kind::Start, routine->collectives.size()});
  routine->collectives.push_back(std::move(site));
  return Status();
}

Status Executor::State::prepare(const CollectiveWait &wait,
                                const GroupFinder &groups) {
  routine->steps.push_back(
      {Step::Kind::Wait, routine->collectiveOf[wait.start]});
  return Status();
}

Status Executor::State::prepare(const Free &freed, const GroupFinder &groups) {
  routine->steps.push_back(
      {Step::Kind::Free, static_cast<size_t>(freed.storage)});
  return Status();
}

/// Results of this program: what it makes and never frees.
void Executor::State::findKeptStorages() {
  std::vector<bool> isFreed(plan.storages.size()), isKept(isFreed);
  for (const Step &step : routine->steps) {
    if (step.kind == Step::Kind::Free) {
      isFreed[step.index] = true;
    }
  }
  auto number = routine - routines.data();
  for (const Result &result : plan.results) {
    StorageId id = plan.values[result.value].storage;
    if (result.program == number && !isFreed[id] && !isKept[id] &&
        plan.storages[id].region != Region::Argument) {
      isKept[id] = true;
      routine->kept.push_back(id);
    }
  }
}

void Executor::State::makeArguments() {
  for (const Argument &argument : plan.arguments) {
    at::Tensor block = newBlock(argument.value).zero_();
    values[argument.value] = viewOf(block, plan.values[argument.value]);
  }
}

/// Who reads the new tensors that `kernel` returns; its workspace may lie with
/// them.
Readers Executor::State::readersOf(const KernelCall &kernel) const {
  for (const std::optional<ValueId> &result : kernel.results) {
    StorageId id = result ? plan.values[*result].storage : 0;
    bool isNew = result && plan.storages[id].region != Region::Argument &&
                 plan.storages[id].first == static_cast<int64_t>(now);
    if (isNew && readByPeers[id]) {
      return Readers::Peers;
    }
  }
  return Readers::Owner;
}

/// Memory for the storage of `value`, one-dimensional, as its elements.
at::Tensor Executor::State::newBlock(ValueId id) const {
  const Value &value = plan.values[id];
  MemoryScope scope(*memory, readByPeers[value.storage] ? Readers::Peers
                                                        : Readers::Owner);
  return at::empty({elementsOf(plan.storages[value.storage], value.dtype)},
                   scalarTypeOf(value.dtype));
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

std::string Executor::State::where(int64_t step) const {
  std::string text = "step " + std::to_string(step) + ", " +
                     routine->program->name + "[" + std::to_string(now) + "]";
  const auto *kernel =
      now < instructions().size()
          ? std::get_if<KernelCall>(&instructions()[now].action)
          : nullptr;
  return kernel ? text + " (" + kernel->name + ")" : text;
}

void Executor::State::start(int64_t step, CollectiveSite &site) {
  if (options.onCollective) {
    options.onCollective(step,
                         routine->firstInstruction + static_cast<int64_t>(now));
  }
  CollectiveCall call = site.call;
  for (size_t index = 0; index < site.members.size(); ++index) {
    const CollectiveMemberRef &member = site.members[index];
    const Value &value = plan.values[member.output];
    at::Tensor &output = values[member.output];
    if (value.storage == plan.values[member.input].storage) {
      output = values[member.input];
    } else {
      output = viewOf(newBlock(member.output), value);
    }
    call.members[index].input = values[member.input].const_data_ptr();
    call.members[index].output = output.data_ptr();
  }
  Expected<std::unique_ptr<Work>> work = site.group->start(std::move(call));
  TORCH_CHECK(work.ok(), work.message());
  site.work = *std::move(work);
}

void Executor::State::wait(int64_t step, CollectiveSite &site) {
  if (options.onCollective) {
    options.onCollective(step,
                         routine->firstInstruction + static_cast<int64_t>(now));
  }
  int64_t begin = nowNs();
  Status status = site.work->wait();
  waited += nowNs() - begin;
  TORCH_CHECK(status.ok(), status.message());
  if (isTiming) {
    const auto &action = std::get<CollectiveWait>(instructions()[now].action);
    times[action.start].lane = site.work->span();
  }
  site.work.reset();
}

void Executor::State::release(StorageId storage) {
  for (ValueId id : valuesOn[storage]) {
    values[id].reset();
  }
}

void Executor::State::runKernel(const Step &instruction) {
  const CallSite &site = routine->sites[instruction.index];
  if (instruction.readers == Readers::Owner) {
    site.run(values, stack);
    return;
  }
  MemoryScope scope(*memory, instruction.readers);
  site.run(values, stack);
}

void Executor::State::runInstruction(int64_t step, const Step &instruction) {
  switch (instruction.kind) {
  case Step::Kind::Kernel:
    runKernel(instruction);
    return;
  case Step::Kind::Start:
    start(step, routine->collectives[instruction.index]);
    return;
  case Step::Kind::Wait:
    wait(step, routine->collectives[instruction.index]);
    return;
  case Step::Kind::Free:
    release(static_cast<StorageId>(instruction.index));
    return;
  }
}

void Executor::State::compareArguments(LayoutCheck &check) {
  for (const Argument &argument : plan.arguments) {
    Status status = check.see(argument.value, values[argument.value]);
    TORCH_CHECK(status.ok(), status.message());
  }
}

/// Compares what the instruction `now` has made with the plan.
void Executor::State::compare(LayoutCheck &check) {
  const auto &action = instructions()[now].action;
  Status status;
  if (const auto *kernel = std::get_if<KernelCall>(&action)) {
    for (size_t index = 0; index < kernel->results.size() && status.ok();
         ++index) {
      std::optional<ValueId> id = kernel->results[index];
      status = id ? check.see(*id, values[*id]) : Status();
    }
  }
  if (const auto *start = std::get_if<CollectiveStart>(&action)) {
    for (const CollectiveMemberRef &member : start->members) {
      status = status.ok() ? check.see(member.output, values[member.output])
                           : status;
    }
  }
  if (const auto *freed = std::get_if<Free>(&action)) {
    check.forget(freed->storage);
  }
  TORCH_CHECK(status.ok(), status.message());
}

void Executor::State::runInstructions(int64_t step, LayoutCheck *check) {
  const std::vector<Step> &steps = routine->steps;
  if (!check && !isTiming) {
    for (now = 0; now < steps.size(); ++now) {
      runInstruction(step, steps[now]);
    }
    return;
  }
  times.assign(isTiming ? steps.size() : 0, {});
  for (now = 0; now < steps.size(); ++now) {
    if (isTiming) {
      memory->mark();
    }
    int64_t begin = nowNs();
    runInstruction(step, steps[now]);
    if (isTiming) {
      times[now].beginNs = begin;
      times[now].endNs = nowNs();
      MemoryCounts counts = memory->counts();
      times[now].workspaceBytes = counts.markBytes - counts.liveBytes;
    }
    if (check) {
      compare(*check);
    }
  }
}

Status Executor::State::run(Routine &next, const StepPoint &point,
                            bool isTimed) {
  c10::InferenceMode inference;
  MemoryScope scope(*memory);
  routine = &next;
  isTiming = isTimed;
  waited = 0;
  try {
    for (StorageId storage : routine->kept) {
      release(storage);
    }
    StepPoint counted = point;
    counted.step -= leftOut;
    evaluateScalars(plan, position, counted, scalars);
    RandomUse use{options.seed, point.step, point.microBatch, dataRank};
    for (CallSite &site : routine->sites) {
      site.setScalars(scalars);
      site.seedGenerator(use);
    }
    std::optional<LayoutCheck> check;
    if (!routine->checked) {
      compareArguments(check.emplace(plan));
    }
    runInstructions(point.step, check ? &*check : nullptr);
    routine->checked = true;
    if (guard && routine == &routines.back()) {
      applied = values[*guard].item<bool>();
      leftOut += applied ? 0 : 1;
    }
    return Status();
  } catch (const c10::Error &error) {
    return Status::error(error.what_without_backtrace())
        .within(where(point.step));
  } catch (const std::exception &error) {
    return Status::error(error.what()).within(where(point.step));
  }
}

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

int64_t TensorView::elements() const { return elementCount(sizes); }
int64_t TensorView::bytes() const { return elements() * byteSize(dtype); }

Executor::Executor(std::unique_ptr<State> state) : state(std::move(state)) {}

Executor::~Executor() = default;

Expected<std::unique_ptr<Executor>> Executor::make(const Plan &plan,
                                                   const MeshPosition &position,
                                                   const GroupFinder &groups,
                                                   ExecutorOptions options) {
  if (plan.header.device != "cpu") {
    return Status::error("the plan is for device '" + plan.header.device +
                         "', this build runs plans for cpu only");
  }
  useCountedMemory();
  c10::InferenceMode inference;
  auto state = std::make_unique<State>(plan, position, std::move(options));
  MemoryScope scope(*state->memory);
  try {
    if (Status status = state->prepare(groups); !status.ok()) {
      return status;
    }
  } catch (const std::exception &error) {
    return Status::error(error.what());
  }
  return std::unique_ptr<Executor>(new Executor(std::move(state)));
}

static TensorView viewOf(const Value &value, const at::Tensor &tensor) {
  return {tensor.defined() ? tensor.data_ptr() : nullptr, value.dtype,
          value.sizes, value.strides};
}

TensorView Executor::argument(size_t index) {
  ValueId id = state->plan.arguments[index].value;
  return ::viewOf(state->plan.values[id], state->values[id]);
}

void Executor::drawAs(int64_t rank) { state->dataRank = rank; }

Status Executor::runStep(int64_t step, double lr) {
  int64_t last = state->plan.header.microBatches - 1;
  return state->run(state->routines.back(), {step, last, lr}, state->timed);
}

Status Executor::runMicroStep(int64_t step, int64_t microBatch, double lr) {
  return state->run(state->routines.front(), {step, microBatch, lr},
                    /*isTimed=*/false);
}

bool Executor::applied() const { return state->applied; }

TensorView Executor::result(size_t index) {
  ValueId id = state->plan.results[index].value;
  return ::viewOf(state->plan.values[id], state->values[id]);
}

int64_t Executor::waitedNs() const { return state->waited; }

void Executor::recordTimes(bool on) {
  state->timed = on;
  if (!on) {
    state->times.clear();
  }
}

const std::vector<InstructionTime> &Executor::times() const {
  return state->times;
}

MemoryCounts Executor::memory() const { return state->memory->counts(); }

void sfsdp::runtime::prepareLane(int threads) { at::set_num_threads(threads); }

std::string sfsdp::runtime::torchVersion() { return TORCH_VERSION; }

std::string sfsdp::runtime::cpuCapability() { return at::get_cpu_capability(); }
