//===- Lifetimes.cpp - When memory is born and freed ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Lifetimes.h.
//
//===----------------------------------------------------------------------===//

#include "passes/analysis/Lifetimes.h"

#include <algorithm>

using namespace sfsdp;
using namespace sfsdp::analysis;
using namespace sfsdp::runtime;

namespace {

void appendValues(const KernelArgument &argument,
                  std::vector<ValueId> &values) {
  if (auto *value = std::get_if<ValueRef>(&argument)) {
    values.push_back(value->id);
  } else if (auto *list = std::get_if<ValueRefs>(&argument)) {
    for (const std::optional<ValueId> &id : list->ids) {
      if (id) {
        values.push_back(*id);
      }
    }
  }
}

/// First and last instruction that touches a storage; -1 if none does.
struct Interval {
  int64_t first = -1;
  int64_t last = -1;
};

std::vector<Interval> touchIntervals(const Plan &plan, const Program &program) {
  std::vector<Interval> intervals(plan.storages.size());
  auto touch = [&](ValueId value, int64_t at) {
    Interval &interval = intervals[plan.values[value].storage];
    interval.first = interval.first < 0 ? at : interval.first;
    interval.last = std::max(interval.last, at);
  };
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction &instruction = program.instructions[i];
    for (ValueId value : touchedValues(instruction)) {
      touch(value, i);
    }
    if (auto *wait = std::get_if<CollectiveWait>(&instruction.action)) {
      for (ValueId value : touchedValues(program.instructions[wait->start])) {
        touch(value, i);
      }
    }
  }
  return intervals;
}

/// Moves every reference to an instruction from its old to its new index.
void renumber(Program &program, const std::vector<int64_t> &newIndex) {
  int64_t end = program.instructions.size();
  auto move = [&](int64_t index) {
    if (index < 0) {
      return index;
    }
    return index < static_cast<int64_t>(newIndex.size()) ? newIndex[index]
                                                         : end;
  };
  for (Instruction &instruction : program.instructions) {
    if (auto *wait = std::get_if<CollectiveWait>(&instruction.action)) {
      wait->start = move(wait->start);
    } else if (auto *start =
                   std::get_if<CollectiveStart>(&instruction.action)) {
      start->ready = move(start->ready);
      start->needed = move(start->needed);
    }
  }
}

bool isPrivate(const Storage &storage) {
  return storage.region != Region::Argument;
}

} // namespace

std::vector<ValueId> analysis::touchedValues(const Instruction &instruction) {
  std::vector<ValueId> values;
  if (auto *call = std::get_if<KernelCall>(&instruction.action)) {
    for (const KernelArgument &argument : call->arguments) {
      appendValues(argument, values);
    }
    for (const std::optional<ValueId> &result : call->results) {
      if (result) {
        values.push_back(*result);
      }
    }
  } else if (auto *start = std::get_if<CollectiveStart>(&instruction.action)) {
    for (const CollectiveMemberRef &member : start->members) {
      values.push_back(member.input);
      values.push_back(member.output);
    }
  }
  return values;
}

/// Storages that hold results.
static std::vector<bool> heldStorages(const Plan &plan) {
  std::vector<bool> held(plan.storages.size());
  for (const Result &result : plan.results) {
    held[plan.values[result.value].storage] = true;
  }
  return held;
}

static void assignLifetimes(Plan &plan, Program &program) {
  std::vector<Interval> intervals = touchIntervals(plan, program);
  std::vector<bool> held = heldStorages(plan);
  std::vector<std::vector<StorageId>> dying(program.instructions.size());
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    if (isPrivate(plan.storages[i]) && !held[i] && intervals[i].last >= 0) {
      dying[intervals[i].last].push_back(i);
    }
  }

  std::vector<Instruction> instructions;
  std::vector<int64_t> newIndex(program.instructions.size());
  std::vector<int64_t> freedAt(plan.storages.size(), -1);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    newIndex[i] = instructions.size();
    ProvenanceId provenance = program.instructions[i].provenance;
    instructions.push_back(std::move(program.instructions[i]));
    for (StorageId storage : dying[i]) {
      freedAt[storage] = instructions.size();
      instructions.push_back({Free{storage}, provenance});
    }
  }
  program.instructions = std::move(instructions);
  renumber(program, newIndex);

  int64_t lastIndex = std::max<int64_t>(program.instructions.size(), 1) - 1;
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    Storage &storage = plan.storages[i];
    if (!isPrivate(storage)) {
      storage.first = 0;
      storage.last = lastIndex;
    } else if (intervals[i].first >= 0) {
      storage.first = newIndex[intervals[i].first];
      storage.last = freedAt[i] >= 0 ? freedAt[i] : lastIndex;
    }
  }
}

void analysis::assignLifetimes(Plan &plan) {
  for (Program &program : plan.programs) {
    ::assignLifetimes(plan, program);
  }
  plan.predictedPeakBytes = peakBytes(plan);
}

/// Bytes beside `live` ones that `program` needs at once, and in `keeps` those
/// of its results.
static int64_t peakOf(const Plan &plan, const Program &program,
                      const std::vector<bool> &held, int64_t &keeps) {
  int64_t live = 0, peak = 0;
  std::vector<bool> born(plan.storages.size());
  keeps = 0;
  for (const Instruction &instruction : program.instructions) {
    for (ValueId value : touchedValues(instruction)) {
      StorageId id = plan.values[value].storage;
      if (isPrivate(plan.storages[id]) && !born[id]) {
        born[id] = true;
        live += plan.storages[id].bytes;
        keeps += held[id] ? plan.storages[id].bytes : 0;
      }
    }
    auto *call = std::get_if<KernelCall>(&instruction.action);
    peak = std::max(peak, live + (call ? call->cost.workspaceBytes : 0));
    if (auto *free = std::get_if<Free>(&instruction.action)) {
      live -= plan.storages[free->storage].bytes;
    }
  }
  return peak;
}

int64_t analysis::peakBytes(const Plan &plan) {
  int64_t arguments = 0, kept = 0, peak = 0;
  for (const Storage &storage : plan.storages) {
    arguments += isPrivate(storage) ? 0 : storage.bytes;
  }
  std::vector<bool> held = heldStorages(plan);
  std::vector<std::pair<int64_t, int64_t>> programs;
  for (const Program &program : plan.programs) {
    int64_t keeps = 0;
    int64_t needs = peakOf(plan, program, held, keeps);
    programs.emplace_back(needs, keeps);
    kept += keeps;
  }
  for (auto [needs, keeps] : programs) {
    peak = std::max(peak, kept - keeps + needs);
  }
  return arguments + peak;
}

namespace {

/// Walks each program once and keeps the state of every storage and value.
class LifetimeProof {
public:
  explicit LifetimeProof(const Plan &plan)
      : plan(plan), states(plan.storages.size(), State::Unborn),
        inFlight(plan.storages.size(), 0), written(plan.values.size()) {}

  Status run() {
    for (number = 0; number < plan.programs.size(); ++number) {
      if (Status status = runProgram(plan.programs[number]); !status.ok()) {
        return status;
      }
    }
    if (peakBytes(plan) != plan.predictedPeakBytes) {
      return Status::error("the peak is " + std::to_string(peakBytes(plan)) +
                           " bytes, expected the predicted " +
                           std::to_string(plan.predictedPeakBytes));
    }
    return Status();
  }

private:
  enum class State { Unborn, Alive, Freed };

  /// Storages of earlier programs stay as these left them: a storage that two
  /// programs use is either an argument's or an error.
  Status runProgram(const Program &next) {
    program = &next;
    for (const Argument &argument : plan.arguments) {
      states[plan.values[argument.value].storage] = State::Alive;
      written[argument.value] = true;
    }
    for (index = 0; index < program->instructions.size(); ++index) {
      Status status =
          std::visit([&](const auto &action) { return step(action); },
                     program->instructions[index].action);
      if (!status.ok()) {
        return status;
      }
    }
    return checkEnd();
  }

  Status fail(const std::string &what) const {
    return Status::error(program->name + " instruction " +
                         std::to_string(index) + ": " + what);
  }

  std::string nameOfValue(ValueId value) const {
    return "value " + std::to_string(value) + " on storage " +
           std::to_string(plan.values[value].storage);
  }

  Status read(ValueId value) const {
    StorageId storage = plan.values[value].storage;
    if (states[storage] == State::Freed) {
      return fail("reads " + nameOfValue(value) + " after its free");
    }
    if (!written[value]) {
      return fail("reads " + nameOfValue(value) + " before it is written");
    }
    return Status();
  }

  Status write(ValueId value) {
    StorageId storage = plan.values[value].storage;
    if (states[storage] == State::Freed) {
      return fail("writes " + nameOfValue(value) + " after its free");
    }
    states[storage] = State::Alive;
    written[value] = true;
    return Status();
  }

  Status step(const KernelCall &call) {
    std::vector<ValueId> operands;
    for (const KernelArgument &argument : call.arguments) {
      appendValues(argument, operands);
    }
    for (ValueId operand : operands) {
      if (Status status = read(operand); !status.ok()) {
        return status;
      }
    }
    for (const std::optional<ValueId> &result : call.results) {
      if (!result) {
        continue;
      }
      if (Status status = write(*result); !status.ok()) {
        return status;
      }
    }
    return Status();
  }

  Status step(const CollectiveStart &start) {
    for (const CollectiveMemberRef &member : start.members) {
      if (Status status = read(member.input); !status.ok()) {
        return status;
      }
      StorageId output = plan.values[member.output].storage;
      if (states[output] == State::Freed) {
        return fail("writes " + nameOfValue(member.output) + " after its free");
      }
      states[output] = State::Alive;
      ++inFlight[output];
      ++inFlight[plan.values[member.input].storage];
    }
    return Status();
  }

  Status step(const CollectiveWait &wait) {
    const auto *start =
        std::get_if<CollectiveStart>(&program->instructions[wait.start].action);
    if (!start || wait.start >= static_cast<int64_t>(index)) {
      return fail("waits for instruction " + std::to_string(wait.start) +
                  ", expected an earlier collective");
    }
    for (const CollectiveMemberRef &member : start->members) {
      --inFlight[plan.values[member.input].storage];
      --inFlight[plan.values[member.output].storage];
      written[member.output] = true;
    }
    return Status();
  }

  Status step(const Free &free) {
    const std::string name = "storage " + std::to_string(free.storage);
    if (!isPrivate(plan.storages[free.storage])) {
      return fail("frees " + name + " of an argument");
    }
    if (states[free.storage] != State::Alive) {
      return fail("frees " + name + ", expected it alive once");
    }
    if (inFlight[free.storage] > 0) {
      return fail("frees " + name + " while a collective holds it");
    }
    states[free.storage] = State::Freed;
    return Status();
  }

  Status checkEnd() {
    std::vector<bool> held(plan.storages.size());
    for (const Result &result : plan.results) {
      held[plan.values[result.value].storage] = true;
      if (static_cast<size_t>(result.program) != number) {
        continue;
      }
      if (Status status = read(result.value); !status.ok()) {
        return status;
      }
    }
    for (size_t i = 0; i < plan.storages.size(); ++i) {
      if (inFlight[i] > 0) {
        return fail("storage " + std::to_string(i) +
                    " is held by a collective without wait");
      }
      if (states[i] == State::Alive && isPrivate(plan.storages[i]) &&
          !held[i]) {
        return fail("storage " + std::to_string(i) + " is never freed");
      }
    }
    return Status();
  }

  const Plan &plan;
  const Program *program = nullptr;
  size_t number = 0;
  std::vector<State> states;
  std::vector<int> inFlight;
  std::vector<bool> written;
  size_t index = 0;
};

} // namespace

Status analysis::proveLifetimes(const Plan &plan) {
  return LifetimeProof(plan).run();
}
