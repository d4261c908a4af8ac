//===- LocalRanks.h - Ranks of a plan as threads ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a function once per rank of a plan's mesh, each on a thread of its own
// with local process groups, and joins them.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_TEST_SUPPORT_LOCALRANKS_H
#define SFSDP_TEST_SUPPORT_LOCALRANKS_H

#include "runtime/Executor.h"
#include "runtime/LocalProcessGroup.h"

#include <cstring>
#include <thread>

namespace sfsdp::test {

/// One rank, as the function of onEachRank sees it.
struct LocalRank {
  int rank;
  runtime::Executor *executor;
};

using RankGroupEnds = std::vector<std::unique_ptr<runtime::ProcessGroup>>;

/// Requires a mesh of one axis, whose groups are `groups`, by rank. Returns
/// what failed first, by rank.
template <typename Function>
runtime::Status onEachRankOf(RankGroupEnds &groups, const runtime::Plan &plan,
                             Function function,
                             const runtime::ExecutorOptions &options = {}) {
  auto size = static_cast<int>(groups.size());
  std::vector<runtime::Status> outcomes(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      runtime::prepareLane(1);
      runtime::ExecutorOptions own = options;
      own.peerMemory = groups[rank]->peerMemory();
      auto executor = runtime::Executor::make(
          plan, runtime::MeshPosition(plan.header.mesh, rank),
          [&](const std::vector<std::string> &) { return groups[rank].get(); },
          own);
      outcomes[rank] = executor ? function(LocalRank{rank, executor->get()})
                                : executor.status();
      if (!outcomes[rank].ok()) {
        groups[rank]->abort(outcomes[rank].message());
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  for (const runtime::Status &outcome : outcomes) {
    if (!outcome.ok()) {
      return outcome;
    }
  }
  return runtime::Status();
}

/// The same over local groups.
template <typename Function>
runtime::Status onEachRank(const runtime::Plan &plan, Function function,
                           const runtime::ExecutorOptions &options = {}) {
  RankGroupEnds groups = runtime::makeLocalGroups(
      static_cast<int>(plan.header.mesh.size()), std::chrono::seconds(20));
  return onEachRankOf(groups, plan, function, options);
}

/// The elements of a contiguous f32 tensor.
inline std::vector<float> floatsOf(const runtime::TensorView &view) {
  std::vector<float> values(static_cast<size_t>(view.elements()));
  std::memcpy(values.data(), view.data, values.size() * sizeof(float));
  return values;
}

inline void setFloats(const runtime::TensorView &view,
                      const std::vector<float> &values) {
  std::memcpy(view.data, values.data(),
              std::min(values.size(), static_cast<size_t>(view.elements())) *
                  sizeof(float));
}

} // namespace sfsdp::test

#endif // SFSDP_TEST_SUPPORT_LOCALRANKS_H
