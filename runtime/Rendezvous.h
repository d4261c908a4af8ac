//===- Rendezvous.h - The store that all ranks of a job share ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks find each other and agree on options through a small store of keys and
// values. It is used at start-up only; data never passes through it.
//
// Tested by test/unit/runtime/RendezvousTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_RENDEZVOUS_H
#define SFSDP_RUNTIME_RENDEZVOUS_H

#include "runtime/Status.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace sfsdp::runtime {

/// Keys and values shared by all ranks. Every function may be called by any
/// thread.
class Store {
public:
  virtual ~Store() = default;

  /// Sets `key`, replacing what it held. A value may hold any bytes.
  virtual Status set(const std::string &key, const std::string &value) = 0;

  /// The value of `key`; waits until some rank has set it, `timeout` at most.
  virtual Expected<std::string> get(const std::string &key,
                                    std::chrono::milliseconds timeout) = 0;

  /// Waits until every one of `keys` is set, `timeout` at most.
  virtual Status wait(const std::vector<std::string> &keys,
                      std::chrono::milliseconds timeout) = 0;
};

/// A view of `store`, which must outlive it, whose keys start with `prefix`.
std::unique_ptr<Store> withPrefix(Store &store, std::string prefix);

/// A store inside one process: for ranks that are threads, and for tests.
std::unique_ptr<Store> makeMemoryStore();

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_RENDEZVOUS_H
