//===- LocalJob.cpp - All ranks as threads of this process ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks run in lockstep: each step is a thread per rank that is joined. The
// first rank to fail aborts the groups of all, and its message is the job's.
//
// Tested by test/unit/runtime/LocalJobTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/LocalJob.h"
#include "runtime/ReferenceCheck.h"

#include <mutex>
#include <thread>

using namespace sfsdp::runtime;

namespace {

struct LocalRank {
  RankGroups groups;
  std::unique_ptr<RankRun> run;
  std::unique_ptr<RunLog> log;
};

class LocalJob {
public:
  explicit LocalJob(const Job &job) : job(job), ranks(job.rankCount()) {}

  Status run();

private:
  /// Calls `act` with the number of each rank, on a thread of its own.
  template <typename Act>
  Status onEachRank(Act act);

  Status prepare(size_t rank, const GroupMaker &makeGroup);
  Status train(size_t rank, int64_t step);
  Status trainAll();
  Status finish(size_t rank);

  const Job &job;
  std::vector<LocalRank> ranks;
};

template <typename Act>
Status LocalJob::onEachRank(Act act) {
  std::mutex mutex;
  Status first;
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    threads.emplace_back([&, rank] {
      prepareLane(job.options.threads);
      Status status = act(rank);
      if (status.ok()) {
        return;
      }
      std::lock_guard lock(mutex);
      if (first.ok()) {
        first = ranks.size() > 1 ? status.within("rank " + std::to_string(rank))
                                 : status;
      }
      ranks[rank].groups.abort(first.message());
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  return first;
}

Status LocalJob::prepare(size_t rank, const GroupMaker &makeGroup) {
  MeshPosition position(job.plan.header.mesh, static_cast<int64_t>(rank));
  auto groups = RankGroups::make(job.plan, position, makeGroup);
  if (!groups) {
    return groups.status();
  }
  ranks[rank].groups = std::move(*groups);
  auto run = RankRun::make(job, position, ranks[rank].groups, nullptr);
  if (!run) {
    return run.status();
  }
  ranks[rank].run = std::move(*run);
  auto log = RunLog::make(job, static_cast<int64_t>(rank), "local");
  if (!log) {
    return log.status();
  }
  ranks[rank].log = std::move(*log);
  return Status();
}

Status LocalJob::train(size_t rank, int64_t step) {
  auto record = ranks[rank].run->trainStep(step);
  return record ? ranks[rank].log->add(*record, *ranks[rank].run)
                : record.status();
}

Status LocalJob::trainAll() {
  std::unique_ptr<ReferenceCheck> check;
  if (job.reference) {
    std::vector<RankRun *> runs;
    for (LocalRank &rank : ranks) {
      runs.push_back(rank.run.get());
    }
    auto made = ReferenceCheck::make(job, std::move(runs));
    if (!made) {
      return made.status();
    }
    check = std::move(*made);
  }
  for (int64_t step = 1; step <= job.steps; ++step) {
    if (check) {
      check->before(step);
    }
    Status status = onEachRank([&](size_t rank) { return train(rank, step); });
    if (!status.ok()) {
      return status;
    }
    if (check) {
      status = check->after(step, ranks[0].log->lastLoss());
      if (!status.ok()) {
        return status;
      }
    }
  }
  if (check && job.show) {
    job.show(std::to_string(job.steps) +
             " steps equal the reference bit for bit");
  }
  return Status();
}

Status LocalJob::finish(size_t rank) {
  RunLog &log = *ranks[rank].log;
  if (Status status = ranks[rank].run->writeTensors(log.lastLoss());
      !status.ok()) {
    return status;
  }
  return log.finish(*ranks[rank].run);
}

Status LocalJob::run() {
  std::vector<GroupMaker> makers =
      localGroupMakers(static_cast<int>(ranks.size()), job.options.timeout);
  Status status =
      onEachRank([&](size_t rank) { return prepare(rank, makers[rank]); });
  if (!status.ok()) {
    return status;
  }
  status = trainAll();
  if (!status.ok()) {
    return status;
  }
  return onEachRank([&](size_t rank) { return finish(rank); });
}

} // namespace

Status sfsdp::runtime::runLocalJob(const Job &job) {
  return LocalJob(job).run();
}
