//===- LocalProcessGroup.cpp - Ranks as threads of one process -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All ends of a group share a meeting place. The lanes meet there before a
// call, to show each other its buffers; after reading them, since only then may
// their owner touch them again; and, in an all_reduce, between its
// reduce_scatter and its all_gather. Each rank copies or sums what it needs
// straight from its peers' buffers into its own.
//
// An all_reduce may be in place: rank r alone reads chunk r of every input, and
// writes it before anybody reads it as a result.
//
// Tested by test/unit/runtime/LocalProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/LocalProcessGroup.h"

#include "runtime/Collectives.h"
#include "runtime/RankList.h"
#include "runtime/Reduce.h"
#include "runtime/ThreadedProcessGroup.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>

using namespace sfsdp::runtime;

namespace {

/// Where the ranks of a group wait for each other.
class MeetingPlace {
public:
  MeetingPlace(int size, std::chrono::milliseconds timeout)
      : timeout(timeout), calls(size), arrivals(size) {}

  int size() const { return static_cast<int>(calls.size()); }

  /// The call that `rank` shows; valid between two meetings of the same call.
  const CollectiveCall &callOf(int rank) const { return *calls[rank]; }

  /// Shows `call` and waits until all ranks show theirs.
  Status show(int rank, const CollectiveCall &call) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      calls[rank] = &call;
    }
    return meet(rank);
  }

  /// Waits until all ranks have come as often as `rank` now has.
  Status meet(int rank);

  /// Fails every meeting that is not complete, now and from now on.
  /// Returns the first reason.
  Status fail(const std::string &reason) {
    std::lock_guard<std::mutex> lock(mutex);
    return failLocked(reason);
  }

  /// Runs `touch`, which reads calls or their buffers, unless the group has
  /// failed.
  template <typename Touch>
  Status guarded(Touch touch) {
    if (Status status = enter(); !status.ok()) {
      return status;
    }
    Status status = touch();
    leave();
    return status;
  }

  /// Waits until nobody runs a guarded function.
  void settle() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return touching == 0; });
  }

private:
  Status enter() {
    std::lock_guard<std::mutex> lock(mutex);
    if (!failure.empty()) {
      return Status::error(failure);
    }
    ++touching;
    return {};
  }

  void leave() {
    std::lock_guard<std::mutex> lock(mutex);
    if (--touching == 0) {
      changed.notify_all();
    }
  }

  Status failLocked(const std::string &reason) {
    if (failure.empty()) {
      failure = reason;
    }
    changed.notify_all();
    return Status::error(failure);
  }

  bool complete(uint64_t arrival) const {
    return std::all_of(arrivals.begin(), arrivals.end(),
                       [&](uint64_t count) { return count >= arrival; });
  }

  std::string missing(uint64_t arrival) const;

  const std::chrono::milliseconds timeout;
  std::mutex mutex; ///< guards everything below
  std::condition_variable changed;
  std::vector<const CollectiveCall *> calls;
  std::vector<uint64_t> arrivals; ///< meetings that each rank came to
  int touching = 0;
  std::string failure;
};

std::string MeetingPlace::missing(uint64_t arrival) const {
  std::vector<int> ranks;
  for (int rank = 0; rank < size(); ++rank) {
    if (arrivals[rank] < arrival) {
      ranks.push_back(rank);
    }
  }
  return nameRanks(ranks);
}

Status MeetingPlace::meet(int rank) {
  std::unique_lock<std::mutex> lock(mutex);
  uint64_t arrival = ++arrivals[rank];
  if (complete(arrival)) {
    changed.notify_all();
    return {};
  }
  changed.wait_for(lock, timeout,
                   [&] { return complete(arrival) || !failure.empty(); });
  if (complete(arrival)) {
    return {};
  }
  return failLocked(missing(arrival) + " did not arrive within " +
                    std::to_string(timeout.count()) +
                    " ms; raise --timeout if it is only slow");
}

//===----------------------------------------------------------------------===//
// Moving data
//===----------------------------------------------------------------------===//

/// One rank's part of one collective: reads peers, writes its own outputs.
class Exchange {
public:
  Exchange(const MeetingPlace &place, int rank, const CollectiveCall &call)
      : place(place), rank(rank), call(call) {}

  /// Everything but the second half of an all_reduce.
  Status firstHalf() const;

  /// The all_gather of an all_reduce's chunks.
  Status gatherChunks() const;

private:
  /// The part of an input that `owner` reduces, in elements.
  struct Chunk {
    int64_t first;
    int64_t count;
  };
  static Chunk chunkOf(int owner, int64_t inputCount, int64_t chunk) {
    int64_t first = std::min(inputCount, owner * chunk);
    return {first, std::min(chunk, inputCount - first)};
  }

  const CollectiveMember &peer(int other, size_t i) const {
    return place.callOf(other).members[i];
  }

  void gather(size_t i) const;
  void reduce(size_t i) const;
  void transpose(size_t i) const;
  void copyFromRoot(size_t i) const;

  const MeetingPlace &place;
  int rank;
  const CollectiveCall &call;
};

Status Exchange::firstHalf() const {
  for (size_t i = 0; i < call.members.size(); ++i) {
    switch (call.kind) {
    case CollectiveKind::AllGather:
      gather(i);
      break;
    case CollectiveKind::ReduceScatter:
    case CollectiveKind::AllReduce:
      reduce(i);
      break;
    case CollectiveKind::AllToAll:
      transpose(i);
      break;
    case CollectiveKind::Broadcast:
      copyFromRoot(i);
      break;
    }
  }
  return {};
}

void Exchange::gather(size_t i) const {
  const CollectiveMember &own = call.members[i];
  int64_t bytes = own.inputCount * byteSize(own.dtype);
  for (int other = 0; other < place.size(); ++other) {
    copyBytes(at(own.output, other * bytes), peer(other, i).input, bytes);
  }
}

/// Sums this rank's chunk: to the start of a reduce_scatter's output, to its
/// place in an all_reduce's.
void Exchange::reduce(size_t i) const {
  const CollectiveMember &own = call.members[i];
  int64_t size = byteSize(own.dtype);
  int64_t chunk = chunkCount(call.kind, own, place.size());
  Chunk mine = chunkOf(rank, own.inputCount, chunk);
  bool scatters = call.kind == CollectiveKind::ReduceScatter;
  if (mine.count > 0) {
    std::vector<const void *> inputs;
    for (int other = 0; other < place.size(); ++other) {
      inputs.push_back(at(peer(other, i).input, mine.first * size));
    }
    void *output = scatters ? own.output : at(own.output, mine.first * size);
    sumInRankOrder(inputs, output, mine.count, own.dtype, call.divisor,
                   call.grouped);
  }
  if (scatters && mine.count < chunk) {
    std::memset(at(own.output, mine.count * size), 0,
                (chunk - mine.count) * size);
  }
}

void Exchange::transpose(size_t i) const {
  const CollectiveMember &own = call.members[i];
  int64_t bytes =
      chunkCount(call.kind, own, place.size()) * byteSize(own.dtype);
  for (int other = 0; other < place.size(); ++other) {
    copyBytes(at(own.output, other * bytes),
              at(peer(other, i).input, rank * bytes), bytes);
  }
}

void Exchange::copyFromRoot(size_t i) const {
  const CollectiveMember &own = call.members[i];
  copyBytes(own.output, peer(call.root, i).input,
            own.outputCount * byteSize(own.dtype));
}

Status Exchange::gatherChunks() const {
  for (size_t i = 0; i < call.members.size(); ++i) {
    const CollectiveMember &own = call.members[i];
    int64_t size = byteSize(own.dtype);
    int64_t chunk = chunkCount(call.kind, own, place.size());
    for (int other = 0; other < place.size(); ++other) {
      Chunk part = chunkOf(other, own.inputCount, chunk);
      copyBytes(at(own.output, part.first * size),
                at(peer(other, i).output, part.first * size),
                part.count * size);
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// The carrier
//===----------------------------------------------------------------------===//

class LocalCarrier final : public Carrier {
public:
  LocalCarrier(std::shared_ptr<MeetingPlace> place, int rank)
      : place(std::move(place)), rank(rank) {}

  /// Ranks that wait for this one need not wait for their timeout.
  ~LocalCarrier() override {
    (void)place->fail("rank " + std::to_string(rank) + " has left the group");
  }

  std::string_view transport() const override { return "local"; }

  Status carryOut(const CollectiveCall &call) override;

  void interrupt(const std::string &reason) override {
    (void)place->fail("rank " + std::to_string(rank) + " aborted: " + reason);
  }

  void settle() override { place->settle(); }

private:
  Status compare() const;

  std::shared_ptr<MeetingPlace> place;
  int rank;
};

Status LocalCarrier::carryOut(const CollectiveCall &call) {
  Exchange exchange(*place, rank, call);
  Status status = place->show(rank, call);
  if (status.ok()) {
    status = compare();
  }
  if (status.ok()) {
    status = place->guarded([&] { return exchange.firstHalf(); });
  }
  if (status.ok() && call.kind == CollectiveKind::AllReduce) {
    status = place->meet(rank);
    if (status.ok()) {
      status = place->guarded([&] { return exchange.gatherChunks(); });
    }
  }
  return status.ok() ? place->meet(rank) : status;
}

/// Compares all calls with rank 0's. What one rank finds fails the group, so
/// that all say the same, and no rank's call ends while another reads it.
Status LocalCarrier::compare() const {
  return place->guarded([&]() -> Status {
    for (int other = 1; other < place->size(); ++other) {
      CallDifference found = difference(place->callOf(0), place->callOf(other));
      if (found.any()) {
        return place->fail("ranks disagree on " + found.what + ": rank 0 has " +
                           found.first + ", rank " + std::to_string(other) +
                           " has " + found.second +
                           "; all ranks must run the same plan");
      }
    }
    return {};
  });
}

} // namespace

std::vector<std::unique_ptr<ProcessGroup>>
sfsdp::runtime::makeLocalGroups(int size, std::chrono::milliseconds timeout) {
  auto place = std::make_shared<MeetingPlace>(size, timeout);
  std::vector<std::unique_ptr<ProcessGroup>> groups;
  for (int rank = 0; rank < size; ++rank) {
    groups.push_back(makeThreadedGroup(
        std::make_unique<LocalCarrier>(place, rank), rank, size));
  }
  return groups;
}
