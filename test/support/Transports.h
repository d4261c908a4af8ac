//===- Transports.h - Groups for the tests of every transport ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same collective tests run against every transport: each test binary
// links one definition of transports().
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_TEST_SUPPORT_TRANSPORTS_H
#define SFSDP_TEST_SUPPORT_TRANSPORTS_H

#include "runtime/ProcessGroup.h"

#include <chrono>
#include <functional>
#include <thread>

namespace sfsdp::test {

using Groups = std::vector<std::unique_ptr<runtime::ProcessGroup>>;

struct Transport {
  /// What its groups say, then perhaps '_' and a variant.
  std::string name;
  /// All ends of one group, in rank order.
  std::function<Groups(int size, std::chrono::milliseconds timeout)> make;
};

/// The transports that this test binary covers.
std::vector<Transport> transports();

/// Runs `body` for every end on a thread of its own.
inline void
onEveryRank(Groups &groups,
            const std::function<void(runtime::ProcessGroup &group)> &body) {
  std::vector<std::thread> threads;
  for (auto &group : groups) {
    threads.emplace_back([&] { body(*group); });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
}

} // namespace sfsdp::test

#endif // SFSDP_TEST_SUPPORT_TRANSPORTS_H
