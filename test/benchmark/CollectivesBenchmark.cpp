//===- CollectivesBenchmark.cpp - What collectives between processes cost -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures all_gather and reduce_scatter of f32 between processes of this
// machine, in one run and in turns: over shared memory with buffers in the
// arena and elsewhere, over Gloo with several numbers of threads, and, as what
// the memory can do, a memcpy of the whole size by each rank at the same time.
//
//   collectives-benchmark [RANKS [MIB]]
//
// without arguments for 2 and 4 ranks and 16, 32 and 64 MiB. MIB is the size of
// the whole tensor: what a rank has after an all_gather, and before a
// reduce_scatter. A round's time is that of its slowest rank; of several rounds
// the fastest counts, since only other processes make one slower. Nothing here
// asserts a speed.
//
//===----------------------------------------------------------------------===//

#include "runtime/GlooProcessGroup.h"
#include "runtime/Launch.h"
#include "runtime/ShmProcessGroup.h"
#include "runtime/TcpStore.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>

using namespace sfsdp::runtime;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kMiB = int64_t(1) << 20;
constexpr int kRounds = 15;
constexpr int kGlooRounds = 5; ///< of each number of threads
constexpr int kGlooThreads[] = {1, 2, 4};
constexpr auto kTimeout = std::chrono::seconds(120);

template <typename T>
T orFail(Expected<T> value) {
  if (!value.ok()) {
    std::fprintf(stderr, "error: %s\n", value.message().c_str());
    std::exit(1);
  }
  return *std::move(value);
}

using Group = std::unique_ptr<ProcessGroup>;

/// Where the tensors of one kind of memory lie: a whole one, and a chunk.
struct Buffers {
  float *whole = nullptr;
  float *chunk = nullptr;
};

void runCall(ProcessGroup &group, CollectiveKind kind, const Buffers &from,
             const Buffers &to, int64_t elements) {
  bool gathers = kind == CollectiveKind::AllGather;
  int64_t chunk = elements / group.size();
  CollectiveCall call;
  call.kind = kind;
  call.divisor = gathers ? 1 : group.size();
  call.members = {{gathers ? from.chunk : from.whole,
                   gathers ? to.whole : to.chunk, gathers ? chunk : elements,
                   gathers ? elements : chunk, DType::Float32}};
  auto work = orFail(group.start(std::move(call)));
  if (Status status = work->wait(); !status.ok()) {
    orFail<int>(status);
  }
}

/// One rank of the measurement.
class Rank {
public:
  Rank(const LaunchContext &context, int64_t bytes);

  /// Measures one kind; rank 0 prints.
  void measure(CollectiveKind kind);

private:
  /// Milliseconds of the slowest rank.
  double timeOf(const std::function<void()> &act);

  const int rank;
  const int size;
  const int64_t elements;
  Group shm;
  std::map<int, Group> gloo; ///< by threads
  std::vector<float> memory;
  Buffers own, other, arena;
};

Rank::Rank(const LaunchContext &context, int64_t bytes)
    : rank(context.rank), size(context.worldSize), elements(bytes / 4) {
  auto store = orFail(connectStore(context, kTimeout));
  HostPeersOptions options;
  options.arenaBytes = bytes + bytes / size + 4096;
  auto peers = orFail(HostPeers::connect(*store, rank, size, options));
  std::vector<int> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  shm = orFail(makeShmGroup(peers, "all", ranks, kTimeout));
  for (int threads : kGlooThreads) {
    GlooOptions glooOptions;
    glooOptions.threads = threads;
    gloo[threads] = orFail(makeGlooGroup(
        *store, "gloo" + std::to_string(threads), ranks, rank, glooOptions));
  }
  int64_t chunk = elements / size;
  memory.assign(2 * (elements + chunk), 1.0f);
  own = {memory.data(), memory.data() + elements};
  other = {own.chunk + chunk, own.chunk + chunk + elements};
  arena = {static_cast<float *>(shm->peerMemory()->take(bytes)),
           static_cast<float *>(shm->peerMemory()->take(bytes / size))};
  std::copy_n(own.whole, elements, arena.whole);
  std::copy_n(own.chunk, chunk, arena.chunk);
}

double Rank::timeOf(const std::function<void()> &act) {
  std::vector<double> times(size);
  CollectiveCall meeting;
  meeting.kind = CollectiveKind::AllGather;
  double time = 0;
  meeting.members = {{&time, times.data(), 1, size, DType::Float64}};
  (void)orFail(shm->start(meeting))->wait();
  Clock::time_point begin = Clock::now();
  act();
  time =
      std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  (void)orFail(shm->start(meeting))->wait();
  return *std::max_element(times.begin(), times.end());
}

double fastestOf(const std::vector<double> &times) {
  return *std::min_element(times.begin(), times.end());
}

void Rank::measure(CollectiveKind kind) {
  std::vector<double> copy, born, staged;
  std::map<int, std::vector<double>> throughGloo;
  for (int round = 0; round <= kRounds; ++round) {
    double copyMs = timeOf(
        [&] { std::memcpy(other.whole, own.whole, elements * sizeof(float)); });
    double bornMs =
        timeOf([&] { runCall(*shm, kind, arena, other, elements); });
    double stagedMs =
        timeOf([&] { runCall(*shm, kind, own, other, elements); });
    if (round == 0) {
      continue; // touches pages
    }
    copy.push_back(copyMs);
    born.push_back(bornMs);
    staged.push_back(stagedMs);
    for (auto &[threads, group] : gloo) {
      if (round <= kGlooRounds) {
        throughGloo[threads].push_back(
            timeOf([&] { runCall(*group, kind, own, other, elements); }));
      }
    }
  }
  double best = fastestOf(throughGloo.begin()->second);
  int bestThreads = throughGloo.begin()->first;
  for (const auto &[threads, times] : throughGloo) {
    if (fastestOf(times) < best) {
      best = fastestOf(times);
      bestThreads = threads;
    }
  }
  if (rank == 0) {
    double reference = fastestOf(copy);
    std::printf("%d ranks %3lld MiB %-14s memcpy %7.2f ms | shm %7.2f ms "
                "%5.2fx | staged %7.2f ms %5.2fx | gloo (%d threads) %8.2f ms, "
                "%.1f times shm\n",
                size, static_cast<long long>(elements * 4 / kMiB),
                std::string(nameOf(kind)).c_str(), reference, fastestOf(born),
                fastestOf(born) / reference, fastestOf(staged),
                fastestOf(staged) / reference, bestThreads, best,
                best / fastestOf(born));
    std::fflush(stdout);
  }
}

int measureWith(int ranks, int64_t mebibytes) {
  auto result =
      orFail(launchLocalRanks(ranks, [&](const LaunchContext &context) {
        Rank rank(context, mebibytes * kMiB);
        rank.measure(CollectiveKind::AllGather);
        rank.measure(CollectiveKind::ReduceScatter);
        return 0;
      }));
  if (!result.message.empty()) {
    std::fprintf(stderr, "error: %s\n", result.message.c_str());
  }
  return result.exitCode;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<int> ranks = {2, 4};
  std::vector<int64_t> sizes = {16, 32, 64};
  if (argc > 1) {
    ranks = {std::atoi(argv[1])};
  }
  if (argc > 2) {
    sizes = {std::atoi(argv[2])};
  }
  if (argc > 3 || ranks[0] < 2 || sizes[0] < 1) {
    std::fprintf(stderr, "usage: collectives-benchmark [RANKS [MIB]]\n");
    return 2;
  }
  for (int count : ranks) {
    for (int64_t size : sizes) {
      if (int code = measureWith(count, size); code != 0) {
        return code;
      }
    }
  }
  return 0;
}
