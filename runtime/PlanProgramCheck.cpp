//===- PlanProgramCheck.cpp - Order, lifetimes, aliasing, memory ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks a program once, as the executor will, and keeps for each value whether
// it may be read and for each storage whether it lives and who is using it. An
// instruction that the state does not allow is an error; so is what is left at
// the end.
//
// Tested by test/unit/runtime/PlanVerifierTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/PlanChecks.h"
#include "runtime/PlanNames.h"
#include "runtime/PlanVerifier.h"

#include <algorithm>

using namespace sfsdp::runtime;

namespace {

/// An instruction index; kNever where something has not happened.
using Position = int64_t;
constexpr Position kNever = -1;

struct ValueState {
  bool defined = false;
  Position definedAt = kNever;     ///< kNever for arguments
  Position overwrittenAt = kNever; ///< by an update of its storage
};

struct StorageState {
  bool alive = false;
  Position bornAt = kNever;
  Position freedAt = kNever;
  Position writtenBy = kNever;  ///< collective in flight that writes it
  Position readBy = kNever;     ///< latest collective in flight that reads it
  int readers = 0;              ///< collectives in flight that read it
  Position gatheredBy = kNever; ///< latest collective that wrote it
};

struct StartState {
  bool waited = false;
  Position lastInputAt = kNever;
  Position firstUseAt = kNever;
};

std::string storageText(StorageId id) {
  return "storage " + std::to_string(id);
}
std::string valueText(ValueId id) { return "%" + std::to_string(id); }
std::string at(Position position) {
  return "instruction " + std::to_string(position);
}

class ProgramChecker {
public:
  ProgramChecker(const Plan &plan, size_t number)
      : plan(plan), number(number), program(plan.programs[number]),
        values(plan.values.size()), storages(plan.storages.size()),
        starts(program.instructions.size()), updated(plan.arguments.size()) {}

  Expected<ProgramMemory> check() {
    beginWithArguments();
    for (now = 0; now < length(); ++now) {
      const Instruction &instruction = program.instructions[now];
      Status status =
          std::visit([this](const auto &action) { return step(action); },
                     instruction.action);
      if (!status.ok()) {
        return status.within(program.name + "[" + std::to_string(now) + "]" +
                             describe(instruction));
      }
    }
    if (Status status = checkEnd(); !status.ok()) {
      return status.within(program.name);
    }
    return memory();
  }

private:
  Position length() const {
    return static_cast<Position>(program.instructions.size());
  }

  static std::string describe(const Instruction &instruction) {
    if (const auto *kernel = std::get_if<KernelCall>(&instruction.action)) {
      return " (" + kernel->name + ")";
    }
    if (const auto *start = std::get_if<CollectiveStart>(&instruction.action)) {
      return " (" + std::string(spell(start->kind)) + ")";
    }
    return "";
  }

  void beginWithArguments();

  // One instruction of each kind.
  Status step(const KernelCall &kernel);
  Status step(const CollectiveStart &start);
  Status step(const CollectiveWait &wait);
  Status step(const Free &freed);

  // What instructions do to values and storages.
  Status read(ValueId id);
  Status overwrite(StorageId id);
  Status begin(StorageId id);
  Status define(ValueId id);
  Status defineResult(const KernelCall &kernel, ValueId id);
  Status defineOutput(const CollectiveStart &start,
                      const CollectiveMemberRef &member);
  void use(StorageId id);

  /// Whether some tensor argument of `kernel` lies on `storage`.
  bool touches(const KernelCall &kernel, StorageId storage) const;

  Status checkEnd() const;
  ProgramMemory memory() const;
  bool isOwnResult(const Result &result) const {
    return static_cast<size_t>(result.program) == number;
  }
  Status checkResult(size_t index) const;
  Status checkStorageEnd(StorageId id) const;
  Status checkSchedule(Position position) const;

  StorageId storageOf(ValueId id) const { return plan.values[id].storage; }

  const Plan &plan;
  size_t number;
  const Program &program;
  std::vector<ValueState> values;
  std::vector<StorageState> storages;
  std::vector<StartState> starts; ///< by instruction; others stay unused
  std::vector<bool> updated;      ///< arguments that were written
  Position now = 0;
  int64_t liveBytes = 0;
  int64_t peakBytes = 0;
};

/// Calls `visit` with each tensor that `kernel` reads until one fails.
template <typename Visit>
Status forEachOperand(const KernelCall &kernel, Visit visit) {
  for (const KernelArgument &argument : kernel.arguments) {
    std::vector<std::optional<ValueId>> ids;
    if (const auto *value = std::get_if<ValueRef>(&argument)) {
      ids = {value->id};
    } else if (const auto *list = std::get_if<ValueRefs>(&argument)) {
      ids = list->ids;
    }
    for (std::optional<ValueId> id : ids) {
      if (Status status = id ? visit(*id) : Status(); !status.ok()) {
        return status;
      }
    }
  }
  return Status();
}

//===----------------------------------------------------------------------===//
// Values and storages
//===----------------------------------------------------------------------===//

void ProgramChecker::beginWithArguments() {
  for (const Argument &argument : plan.arguments) {
    values[argument.value].defined = true;
    StorageState &storage = storages[storageOf(argument.value)];
    storage.alive = true;
    liveBytes += plan.storages[storageOf(argument.value)].bytes;
  }
  peakBytes = liveBytes;
}

void ProgramChecker::use(StorageId id) {
  Position start = storages[id].gatheredBy;
  if (start != kNever && starts[start].firstUseAt == kNever) {
    starts[start].firstUseAt = now;
  }
}

Status ProgramChecker::read(ValueId id) {
  const ValueState &value = values[id];
  const StorageState &storage = storages[storageOf(id)];
  if (!value.defined) {
    return Status::error("reads " + valueText(id) + " before it is defined");
  }
  if (storage.writtenBy != kNever) {
    return Status::error("reads " + valueText(id) +
                         " while the collective of " + at(storage.writtenBy) +
                         " writes it, expected its wait before");
  }
  if (!storage.alive) {
    return Status::error("reads " + valueText(id) + " after " +
                         at(storage.freedAt) + " freed " +
                         storageText(storageOf(id)));
  }
  if (value.overwrittenAt != kNever) {
    return Status::error("reads " + valueText(id) + " after " +
                         at(value.overwrittenAt) + " overwrote " +
                         storageText(storageOf(id)));
  }
  use(storageOf(id));
  return Status();
}

/// An update of a storage that lives: earlier values on it become unreadable.
Status ProgramChecker::overwrite(StorageId id) {
  const StorageState &storage = storages[id];
  if (storage.readers > 0 || storage.writtenBy != kNever) {
    Position start =
        storage.writtenBy != kNever ? storage.writtenBy : storage.readBy;
    return Status::error("writes " + storageText(id) +
                         " while the collective of " + at(start) +
                         " is in flight on it, expected its wait before");
  }
  use(id);
  for (size_t value = 0; value < values.size(); ++value) {
    if (plan.values[value].storage == id && values[value].defined) {
      values[value].overwrittenAt = now;
    }
  }
  for (size_t index = 0; index < plan.arguments.size(); ++index) {
    if (storageOf(plan.arguments[index].value) == id) {
      updated[index] = true;
    }
  }
  return Status();
}

Status ProgramChecker::begin(StorageId id) {
  StorageState &storage = storages[id];
  if (storage.freedAt != kNever) {
    return Status::error("writes " + storageText(id) + " after " +
                         at(storage.freedAt) + " freed it");
  }
  if (plan.storages[id].first != now) {
    return Status::error(storageText(id) + " begins here, its table row says " +
                         at(plan.storages[id].first));
  }
  storage.alive = true;
  storage.bornAt = now;
  liveBytes += plan.storages[id].bytes;
  return Status();
}

Status ProgramChecker::define(ValueId id) {
  ValueState &value = values[id];
  if (value.defined) {
    return Status::error("defines " + valueText(id) + " a second time");
  }
  value.defined = true;
  value.definedAt = now;
  return Status();
}

bool ProgramChecker::touches(const KernelCall &kernel,
                             StorageId storage) const {
  Status found = forEachOperand(kernel, [&](ValueId id) {
    return storageOf(id) == storage ? Status::error("found") : Status();
  });
  return !found.ok();
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

Status ProgramChecker::defineResult(const KernelCall &kernel, ValueId id) {
  StorageId storage = storageOf(id);
  if (storages[storage].alive) {
    if (storages[storage].bornAt != now && !touches(kernel, storage)) {
      return Status::error("result " + valueText(id) + " lies on " +
                           storageText(storage) +
                           ", where no argument of the kernel lies");
    }
    return define(id);
  }
  if (plan.values[id].offset != 0) {
    return Status::error("result " + valueText(id) + " begins " +
                         storageText(storage) + " at element " +
                         std::to_string(plan.values[id].offset) +
                         ", expected 0");
  }
  if (Status status = begin(storage); !status.ok()) {
    return status;
  }
  return define(id);
}

Status ProgramChecker::step(const KernelCall &kernel) {
  if (Status status =
          forEachOperand(kernel, [this](ValueId id) { return read(id); });
      !status.ok()) {
    return status;
  }
  for (size_t position : writtenArguments(kernel)) {
    if (position >= kernel.arguments.size()) {
      return Status::error("has no argument " + std::to_string(position) +
                           ", which the kernel writes");
    }
    const auto *value = std::get_if<ValueRef>(&kernel.arguments[position]);
    if (!value) {
      continue; // an absent optional tensor
    }
    if (Status status = overwrite(storageOf(value->id)); !status.ok()) {
      return status;
    }
  }
  for (std::optional<ValueId> id : kernel.results) {
    Status status = id ? defineResult(kernel, *id) : Status();
    if (!status.ok()) {
      return status;
    }
  }
  peakBytes = std::max(peakBytes, liveBytes + kernel.cost.workspaceBytes);
  return Status();
}

/// Outputs begin their storage, or replace the input of the same member.
Status ProgramChecker::defineOutput(const CollectiveStart &start,
                                    const CollectiveMemberRef &member) {
  StorageId storage = storageOf(member.output);
  if (!storages[storage].alive) {
    if (Status status = begin(storage); !status.ok()) {
      return status;
    }
    return define(member.output);
  }
  bool inPlaceKind = start.kind == CollectiveKind::AllReduce ||
                     start.kind == CollectiveKind::Broadcast;
  bool inPlace =
      inPlaceKind && storage == storageOf(member.input) &&
      plan.values[member.output].offset == plan.values[member.input].offset;
  if (!inPlace) {
    return Status::error("output " + valueText(member.output) + " lies on " +
                         storageText(storage) +
                         ", which lives already, expected a storage that "
                         "begins here");
  }
  if (Status status = overwrite(storage); !status.ok()) {
    return status;
  }
  return define(member.output);
}

Status ProgramChecker::step(const CollectiveStart &start) {
  if (Status status = checkCollective(plan, start); !status.ok()) {
    return status;
  }
  for (const CollectiveMemberRef &member : start.members) {
    if (Status status = read(member.input); !status.ok()) {
      return status;
    }
    starts[now].lastInputAt =
        std::max(starts[now].lastInputAt, values[member.input].definedAt);
  }
  for (const CollectiveMemberRef &member : start.members) {
    if (Status status = defineOutput(start, member); !status.ok()) {
      return status;
    }
  }
  for (const CollectiveMemberRef &member : start.members) {
    StorageState &output = storages[storageOf(member.output)];
    output.writtenBy = now;
    output.gatheredBy = now;
    StorageState &input = storages[storageOf(member.input)];
    input.readBy = now;
    ++input.readers;
  }
  peakBytes = std::max(peakBytes, liveBytes);
  return Status();
}

Status ProgramChecker::step(const CollectiveWait &wait) {
  const Instruction &target = program.instructions[wait.start];
  const auto *start = std::get_if<CollectiveStart>(&target.action);
  if (!start || wait.start >= now) {
    return Status::error("waits for " + at(wait.start) +
                         ", which starts no collective before");
  }
  if (starts[wait.start].waited) {
    return Status::error("waits for " + at(wait.start) + " a second time");
  }
  starts[wait.start].waited = true;
  for (const CollectiveMemberRef &member : start->members) {
    storages[storageOf(member.output)].writtenBy = kNever;
    --storages[storageOf(member.input)].readers;
  }
  return Status();
}

Status ProgramChecker::step(const Free &freed) {
  StorageState &storage = storages[freed.storage];
  const Storage &row = plan.storages[freed.storage];
  if (row.region == Region::Argument) {
    return Status::error("frees " + storageText(freed.storage) +
                         ", which holds an argument");
  }
  if (!storage.alive) {
    return Status::error("frees " + storageText(freed.storage) +
                         (storage.freedAt == kNever
                              ? ", which does not live yet"
                              : " a second time"));
  }
  if (storage.readers > 0 || storage.writtenBy != kNever) {
    Position start =
        storage.writtenBy != kNever ? storage.writtenBy : storage.readBy;
    return Status::error("frees " + storageText(freed.storage) +
                         " while the collective of " + at(start) +
                         " is in flight on it, expected its wait before");
  }
  if (row.last != now) {
    return Status::error(storageText(freed.storage) +
                         " ends here, its table row says " + at(row.last));
  }
  storage.alive = false;
  storage.freedAt = now;
  liveBytes -= row.bytes;
  return Status();
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

Status ProgramChecker::checkResult(size_t index) const {
  const Result &result = plan.results[index];
  std::string where = "result " + std::to_string(index) + " ('" + result.name +
                      "', " + valueText(result.value) + ")";
  const ValueState &value = values[result.value];
  if (!value.defined) {
    return Status::error(where + " is never defined");
  }
  if (!storages[storageOf(result.value)].alive) {
    return Status::error(where + " was freed by " +
                         at(storages[storageOf(result.value)].freedAt));
  }
  if (value.overwrittenAt != kNever) {
    return Status::error(where + " was overwritten by " +
                         at(value.overwrittenAt));
  }
  return Status();
}

Status ProgramChecker::checkStorageEnd(StorageId id) const {
  const StorageState &storage = storages[id];
  const Storage &row = plan.storages[id];
  if (row.region == Region::Argument) {
    bool isLast = number + 1 == plan.programs.size();
    bool spans =
        row.first == 0 && row.last == std::max<Position>(length() - 1, 0);
    return !isLast || spans
               ? Status()
               : Status::error(storageText(id) +
                               " holds an argument, its table row must span "
                               "the whole program");
  }
  if (!storage.alive) {
    return Status();
  }
  bool isResult = std::any_of(
      plan.results.begin(), plan.results.end(), [&](const Result &result) {
        return isOwnResult(result) && storageOf(result.value) == id;
      });
  if (!isResult) {
    return Status::error(storageText(id) + ", which begins at " +
                         at(storage.bornAt) +
                         ", is never freed and holds no result");
  }
  return row.last == length() - 1
             ? Status()
             : Status::error(storageText(id) +
                             " lives to the end, its table row says " +
                             at(row.last));
}

/// What the plan says of a collective's freedom to move.
Status ProgramChecker::checkSchedule(Position position) const {
  const auto &start =
      std::get<CollectiveStart>(program.instructions[position].action);
  const StartState &state = starts[position];
  if (!state.waited) {
    return Status::error("the collective of " + at(position) +
                         " is never waited for");
  }
  Position needed = state.firstUseAt == kNever ? length() : state.firstUseAt;
  if (start.ready != state.lastInputAt || start.needed != needed) {
    return Status::error("the collective of " + at(position) + " says ready " +
                         std::to_string(start.ready) + " and needed " +
                         std::to_string(start.needed) + ", expected " +
                         std::to_string(state.lastInputAt) + " and " +
                         std::to_string(needed));
  }
  return Status();
}

Status ProgramChecker::checkEnd() const {
  for (Position position = 0; position < length(); ++position) {
    const Instruction &instruction = program.instructions[position];
    if (!std::holds_alternative<CollectiveStart>(instruction.action)) {
      continue;
    }
    if (Status status = checkSchedule(position); !status.ok()) {
      return status;
    }
  }
  for (size_t index = 0; index < plan.results.size(); ++index) {
    if (!isOwnResult(plan.results[index])) {
      continue;
    }
    if (Status status = checkResult(index); !status.ok()) {
      return status;
    }
  }
  for (size_t id = 0; id < plan.storages.size(); ++id) {
    if (Status status = checkStorageEnd(static_cast<StorageId>(id));
        !status.ok()) {
      return status;
    }
  }
  for (size_t index = 0; index < updated.size(); ++index) {
    auto isUpdate = [&](const Result &result) {
      return isOwnResult(result) &&
             result.updates == static_cast<int64_t>(index);
    };
    if (updated[index] &&
        std::none_of(plan.results.begin(), plan.results.end(), isUpdate)) {
      return Status::error("argument '" + plan.arguments[index].name +
                           "' is written, but no result updates it");
    }
  }
  return Status();
}

ProgramMemory ProgramChecker::memory() const {
  ProgramMemory found;
  found.peakBytes = peakBytes;
  found.uses.resize(storages.size());
  for (size_t id = 0; id < storages.size(); ++id) {
    found.uses[id] = storages[id].bornAt != kNever;
    bool isKept = found.uses[id] && storages[id].alive;
    found.keptBytes += isKept ? plan.storages[id].bytes : 0;
  }
  return found;
}

} // namespace

Expected<ProgramMemory> sfsdp::runtime::checkProgram(const Plan &plan,
                                                     size_t number) {
  return ProgramChecker(plan, number).check();
}
