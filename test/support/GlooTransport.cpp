//===- GlooTransport.cpp - The Gloo transport for the tests ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks are threads of the test, but each has its own sockets.
//
//===----------------------------------------------------------------------===//

#include "runtime/GlooProcessGroup.h"
#include "test/support/Transports.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>

using namespace sfsdp;

static test::Groups makeGlooGroups(int size,
                                   std::chrono::milliseconds timeout) {
  std::unique_ptr<runtime::Store> store = runtime::makeMemoryStore();
  std::vector<int> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  test::Groups groups(size);
  std::vector<std::thread> threads;
  for (int rank : ranks) {
    threads.emplace_back([&, rank] {
      runtime::GlooOptions options;
      options.timeout = timeout;
      auto group = runtime::makeGlooGroup(*store, "test", ranks, rank, options);
      if (!group.ok()) {
        std::fprintf(stderr, "%s\n", group.message().c_str());
        std::abort();
      }
      groups[rank] = *std::move(group);
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  return groups;
}

std::vector<test::Transport> sfsdp::test::transports() {
  return {{"gloo", makeGlooGroups}};
}
