//===- ThreadedProcessGroup.cpp - A lane thread for a CPU transport ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lane and everything it uses live in one shared object, so that a thread
// which is stuck inside a library after a failure can be left behind.
//
// A buffer belongs to its caller again when wait() returns, also after an
// abort. Carrier::settle makes that true: it is called before any call is
// reported as failed.
//
// Tested by test/unit/runtime/ThreadedProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/ThreadedProcessGroup.h"

#include "runtime/Collectives.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

using namespace sfsdp::runtime;

namespace {

int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Item {
  CollectiveCall call;
  bool done = false;
  Status result;
  LaneSpan span;
};

/// The queue of one lane. Every member below `mutex` is guarded by it.
struct Lane {
  std::unique_ptr<Carrier> carrier;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Item>> queue;
  std::string failure; ///< first reason why the group is unusable
  bool busy = false;   ///< a call is being carried out
  bool stopping = false;
  bool ended = false;

  void run();
  Status carryOut(Item &item);
  void finish(Item &item, Status result);
  void fail(const std::string &reason);
};

void Lane::run() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return stopping || !queue.empty(); });
    if (queue.empty() || !failure.empty()) {
      break;
    }
    std::shared_ptr<Item> item = queue.front();
    queue.pop_front();
    busy = true;
    lock.unlock();
    Status result = carryOut(*item);
    lock.lock();
    finish(*item, std::move(result));
  }
  ended = true;
  changed.notify_all();
}

Status Lane::carryOut(Item &item) {
  item.span.beginNs = nowNs();
  Status result = carrier->carryOut(item.call).within(item.call.label);
  item.span.endNs = nowNs();
  if (!result.ok()) {
    carrier->settle();
  }
  return result;
}

/// Requires the mutex.
void Lane::finish(Item &item, Status result) {
  if (!result.ok() && failure.empty()) {
    failure = "an earlier collective failed: " + result.message();
  }
  item.result = std::move(result);
  item.done = true;
  busy = false;
  changed.notify_all();
}

/// Ends every wait; the first reason stays.
void Lane::fail(const std::string &reason) {
  std::lock_guard<std::mutex> lock(mutex);
  if (failure.empty()) {
    failure = reason;
  }
  changed.notify_all();
}

class LaneWork final : public Work {
public:
  LaneWork(std::shared_ptr<Lane> lane, std::shared_ptr<Item> item)
      : lane(std::move(lane)), item(std::move(item)) {}

  /// The caller's buffers must outlive the call, so a work that nobody waited
  /// for is waited for here.
  ~LaneWork() override {
    if (!waited) {
      (void)wait();
    }
  }

  Status wait() override {
    waited = true;
    if (!lane) { // a group of one rank: done by start
      return {};
    }
    std::unique_lock<std::mutex> lock(lane->mutex);
    lane->changed.wait(lock,
                       [&] { return item->done || !lane->failure.empty(); });
    if (item->done) {
      return item->result;
    }
    std::string reason = lane->failure;
    lock.unlock();
    lane->carrier->settle();
    return Status::error(item->call.label + ": " + reason);
  }

  LaneSpan span() const override { return item->span; }

private:
  std::shared_ptr<Lane> lane; ///< null: nothing to wait for
  std::shared_ptr<Item> item;
  bool waited = false;
};

class ThreadedProcessGroup final : public ProcessGroup {
public:
  ThreadedProcessGroup(std::unique_ptr<Carrier> carrier, int rank, int size)
      : lane(std::make_shared<Lane>()), groupRank(rank), groupSize(size) {
    lane->carrier = std::move(carrier);
    if (groupSize > 1) {
      thread = std::thread([lane = lane] { lane->run(); });
    }
  }

  ~ThreadedProcessGroup() override { stop(); }

  int rank() const override { return groupRank; }
  int size() const override { return groupSize; }
  std::string_view transport() const override {
    return lane->carrier->transport();
  }

  std::shared_ptr<PeerMemory> peerMemory() const override {
    return lane->carrier->peerMemory();
  }

  Expected<std::unique_ptr<Work>> start(CollectiveCall call) override;

  /// Interrupts first: a wait that sees the failure relies on settle().
  void abort(const std::string &reason) override {
    lane->carrier->interrupt(reason);
    lane->fail(reason);
  }

  Traffic traffic() const override {
    Traffic traffic = moved;
    traffic.stagedBytes = lane->carrier->stagedBytes();
    return traffic;
  }

private:
  Status check(const CollectiveCall &call) const;
  void count(const CollectiveCall &call);
  void stop();

  std::shared_ptr<Lane> lane;
  int groupRank;
  int groupSize;
  std::thread thread;
  Traffic moved;
};

Status ThreadedProcessGroup::check(const CollectiveCall &call) const {
  if (Status status = checkCall(call, groupSize); !status.ok()) {
    return status;
  }
  if (isReduction(call.kind) && call.order == ReductionOrder::Backend) {
    return Status::error(call.label + ": transport " +
                         std::string(transport()) +
                         " has no reduction order of its own, expected "
                         "reduction=ordered");
  }
  if (call.kind == CollectiveKind::Broadcast && call.root == groupRank) {
    for (const CollectiveMember &member : call.members) {
      if (member.inputCount > 0 && !member.input) {
        return Status::error(call.label + ": the root of a broadcast has no "
                                          "input buffer");
      }
    }
  }
  return {};
}

void ThreadedProcessGroup::count(const CollectiveCall &call) {
  int kind = static_cast<int>(call.kind);
  ++moved.calls[kind];
  moved.bytesReceived[kind] += bytesReceived(call, groupSize, groupRank);
}

Expected<std::unique_ptr<Work>>
ThreadedProcessGroup::start(CollectiveCall call) {
  if (call.label.empty()) {
    call.label = nameOf(call.kind);
  }
  if (Status status = check(call); !status.ok()) {
    return status;
  }
  auto item = std::make_shared<Item>();
  item->call = std::move(call);
  {
    std::lock_guard<std::mutex> lock(lane->mutex);
    if (!lane->failure.empty()) {
      return Status::error(item->call.label + ": " + lane->failure);
    }
    if (groupSize > 1) {
      lane->queue.push_back(item);
      lane->changed.notify_all();
    }
  }
  count(item->call);
  if (groupSize > 1) {
    return std::unique_ptr<Work>(std::make_unique<LaneWork>(lane, item));
  }
  item->span.beginNs = nowNs();
  carryOutAlone(item->call);
  item->span.endNs = nowNs();
  return std::unique_ptr<Work>(std::make_unique<LaneWork>(nullptr, item));
}

/// Ends the lane. One that is stuck in a library after a failure is left to
/// itself: it holds its own reference to everything it uses.
void ThreadedProcessGroup::stop() {
  if (!thread.joinable()) {
    return;
  }
  constexpr auto kPatience = std::chrono::seconds(1);
  std::unique_lock<std::mutex> lock(lane->mutex);
  lane->stopping = true;
  lane->changed.notify_all();
  bool idle = lane->queue.empty() && !lane->busy;
  lock.unlock();
  if (!idle) {
    abort("its process group was destroyed");
  }
  lock.lock();
  bool ended =
      lane->changed.wait_for(lock, kPatience, [&] { return lane->ended; });
  lock.unlock();
  if (ended) {
    thread.join();
  } else {
    thread.detach();
  }
}

} // namespace

std::unique_ptr<ProcessGroup>
sfsdp::runtime::makeThreadedGroup(std::unique_ptr<Carrier> carrier, int rank,
                                  int size) {
  return std::make_unique<ThreadedProcessGroup>(std::move(carrier), rank, size);
}
