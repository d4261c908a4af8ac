//===- ProcessJob.cpp - Ranks as processes --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first cause of a failure reaches every rank through the control channel,
// so what a rank prints is that cause and not the broken collective that it saw
// itself.
//
// Tested by test/e2e/job-failures.py.
//
//===----------------------------------------------------------------------===//

#include "runtime/ProcessJob.h"
#include "runtime/ControlChannel.h"
#include "runtime/GlooProcessGroup.h"
#include "runtime/PeerStorages.h"
#include "runtime/PlanNames.h"
#include "runtime/RunLog.h"
#include "runtime/ShmProcessGroup.h"
#include "runtime/TcpStore.h"

#include <atomic>
#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

using namespace sfsdp::runtime;

//===----------------------------------------------------------------------===//
// One error per job
//===----------------------------------------------------------------------===//

struct JobError::Shared {
  std::atomic_flag printed = ATOMIC_FLAG_INIT;
};

JobError::JobError(std::function<void(const std::string &message)> print)
    : print(std::move(print)) {
  void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  shared = memory == MAP_FAILED ? nullptr : new (memory) Shared;
}

JobError::~JobError() {
  if (shared) {
    munmap(shared, sizeof(Shared));
  }
}

void JobError::report(const std::string &message) {
  if (!shared || !shared->printed.test_and_set()) {
    print(message);
  }
}

//===----------------------------------------------------------------------===//
// One rank
//===----------------------------------------------------------------------===//

namespace {

constexpr std::chrono::seconds kStartTimeout(120);

/// What collective instruction `op` of the plan is, counted over all programs.
std::string describe(const Plan &plan, int64_t op) {
  size_t program = 0;
  while (program + 1 < plan.programs.size() &&
         op >=
             static_cast<int64_t>(plan.programs[program].instructions.size())) {
    op -= static_cast<int64_t>(plan.programs[program++].instructions.size());
  }
  const auto &instructions = plan.programs[program].instructions;
  if (op < 0 || op >= static_cast<int64_t>(instructions.size())) {
    return "";
  }
  const auto *action = &instructions[op].action;
  if (const auto *wait = std::get_if<CollectiveWait>(action)) {
    action = &instructions[wait->start].action;
  }
  const auto *start = std::get_if<CollectiveStart>(action);
  if (!start) {
    return "";
  }
  const std::string &name = start->members.front().name;
  return std::string(spell(start->kind)) + (name.empty() ? "" : " of " + name);
}

/// The transport between processes: what was asked for, else the fastest that
/// reaches all ranks.
Backend backendFor(const RunOptions &options, const LaunchContext &context) {
  if (options.backend != Backend::Auto) {
    return options.backend;
  }
  return context.oneHost() ? Backend::Shm : Backend::Gloo;
}

class RankProcess {
public:
  RankProcess(const Job &job, const LaunchContext &context)
      : job(job), context(context),
        usesShm(backendFor(job.options, context) == Backend::Shm) {}

  Status run();

  /// The cause of the job's end, given this rank's own failure.
  std::string causeOf(const std::string &ownFailure) {
    return control ? control->reportFailedCollective(ownFailure) : ownFailure;
  }

private:
  Status connect();
  Status openControl(const std::string &address);
  std::string backendName() const { return usesShm ? "shm" : "gloo"; }
  Expected<GroupMaker> groupMaker(const std::string &address);
  Status makeGroups(const std::string &address);
  Status train();
  void abortGroups(const std::string &cause);

  const Job &job;
  const LaunchContext &context;
  const bool usesShm; ///< else Gloo
  std::unique_ptr<Store> store;
  std::unique_ptr<ControlChannel> control;
  std::mutex mutex; ///< the channel's thread aborts, this one makes groups
  RankGroups groups;
  std::string abortCause;
};

Status RankProcess::connect() {
  auto connected = connectStore(context, kStartTimeout);
  if (!connected) {
    return connected.status();
  }
  store = std::move(*connected);
  return agree(*store, context.rank, context.worldSize,
               agreementOf(job, backendName()), kStartTimeout);
}

void RankProcess::abortGroups(const std::string &cause) {
  std::lock_guard lock(mutex);
  abortCause = cause;
  groups.abort(cause);
}

Status RankProcess::openControl(const std::string &address) {
  ControlOptions options;
  options.address = address;
  options.startTimeout = kStartTimeout;
  options.silenceLimit = job.options.timeout * 3 / 4;
  options.describe = [this](int64_t op) { return describe(job.plan, op); };
  auto opened = ControlChannel::open(
      *store, context.rank, context.worldSize, std::move(options),
      [this](const std::string &cause) { abortGroups(cause); });
  if (!opened) {
    return opened.status();
  }
  control = std::move(*opened);
  return Status();
}

Expected<GroupMaker> RankProcess::groupMaker(const std::string &address) {
  if (!usesShm) {
    GlooOptions options;
    options.address = address;
    options.timeout = job.options.timeout;
    return GroupMaker([this, options](const std::string &name,
                                      const std::vector<int> &ranks) {
      return makeGlooGroup(*store, name, ranks, context.rank, options);
    });
  }
  HostPeersOptions options;
  options.arenaBytes = peerMemoryBytes(job.plan);
  options.timeout = kStartTimeout;
  auto peers =
      HostPeers::connect(*store, context.rank, context.worldSize, options);
  if (!peers) {
    return peers.status();
  }
  return GroupMaker([this, peers = *peers](const std::string &name,
                                           const std::vector<int> &ranks) {
    return makeShmGroup(peers, name, ranks, job.options.timeout);
  });
}

Status RankProcess::makeGroups(const std::string &address) {
  auto maker = groupMaker(address);
  if (!maker) {
    return maker.status();
  }
  auto made = RankGroups::make(
      job.plan, MeshPosition(job.plan.header.mesh, context.rank), *maker);
  if (!made) {
    return made.status();
  }
  std::lock_guard lock(mutex);
  groups = std::move(*made);
  return abortCause.empty() ? Status() : Status::error(abortCause);
}

Status RankProcess::train() {
  MeshPosition position(job.plan.header.mesh, context.rank);
  auto onCollective = [this](int64_t step, int64_t instruction) {
    control->setPosition(step, instruction);
  };
  auto run = RankRun::make(job, position, groups, onCollective);
  if (!run) {
    return run.status();
  }
  auto log = RunLog::make(job, context.rank, backendName());
  if (!log) {
    return log.status();
  }
  for (int64_t step = 1; step <= job.steps; ++step) {
    auto record = (*run)->trainStep(step);
    if (!record) {
      return record.status();
    }
    if (Status status = (*log)->add(*record, **run); !status.ok()) {
      return status;
    }
  }
  if (Status status = (*run)->writeTensors((*log)->lastLoss()); !status.ok()) {
    return status;
  }
  return (*log)->finish(**run);
}

Status RankProcess::run() {
  if (Status status = connect(); !status.ok()) {
    return status;
  }
  auto address = dataAddress(context, "");
  if (!address) {
    return address.status();
  }
  if (Status status = openControl(*address); !status.ok()) {
    return status;
  }
  if (Status status = makeGroups(*address); !status.ok()) {
    return status;
  }
  if (Status status = train(); !status.ok()) {
    return status;
  }
  control->goodbye();
  return Status();
}

} // namespace

int sfsdp::runtime::runRankProcess(const Job &job, const LaunchContext &context,
                                   JobError &error) {
  RankProcess rank(job, context);
  Status status = rank.run();
  if (status.ok()) {
    return 0;
  }
  error.report(rank.causeOf(status.message()));
  std::fflush(nullptr);
  _exit(1);
}

int sfsdp::runtime::runLocalProcesses(const Job &job, JobError &error) {
  auto result = launchLocalRanks(static_cast<int>(job.rankCount()),
                                 [&](const LaunchContext &context) {
                                   return runRankProcess(job, context, error);
                                 });
  if (!result) {
    error.report(result.message());
    return 1;
  }
  if (!result->message.empty()) {
    error.report(result->message);
  }
  return result->exitCode;
}
