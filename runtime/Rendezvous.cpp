//===- Rendezvous.cpp - The store that all ranks of a job share -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The store inside one process, and the view with a prefix.
//
// Tested by test/unit/runtime/RendezvousTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Rendezvous.h"

#include <condition_variable>
#include <map>
#include <mutex>

using namespace sfsdp::runtime;

namespace {

class MemoryStore final : public Store {
public:
  Status set(const std::string &key, const std::string &value) override {
    std::lock_guard<std::mutex> lock(mutex);
    values[key] = value;
    changed.notify_all();
    return {};
  }

  Expected<std::string> get(const std::string &key,
                            std::chrono::milliseconds timeout) override {
    std::unique_lock<std::mutex> lock(mutex);
    if (!changed.wait_for(lock, timeout, [&] { return values.count(key); })) {
      return unset(key, timeout);
    }
    return values[key];
  }

  Status wait(const std::vector<std::string> &keys,
              std::chrono::milliseconds timeout) override {
    std::unique_lock<std::mutex> lock(mutex);
    auto deadline = std::chrono::steady_clock::now() + timeout;
    for (const std::string &key : keys) {
      if (!changed.wait_until(lock, deadline,
                              [&] { return values.count(key); })) {
        return unset(key, timeout);
      }
    }
    return {};
  }

private:
  static Status unset(const std::string &key,
                      std::chrono::milliseconds timeout) {
    return Status::error("no rank set '" + key + "' in the store within " +
                         std::to_string(timeout.count()) + " ms");
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::string> values;
};

class PrefixedStore final : public Store {
public:
  PrefixedStore(Store &store, std::string prefix)
      : store(store), prefix(std::move(prefix)) {}

  Status set(const std::string &key, const std::string &value) override {
    return store.set(prefix + key, value);
  }

  Expected<std::string> get(const std::string &key,
                            std::chrono::milliseconds timeout) override {
    return store.get(prefix + key, timeout);
  }

  Status wait(const std::vector<std::string> &keys,
              std::chrono::milliseconds timeout) override {
    std::vector<std::string> prefixed;
    for (const std::string &key : keys) {
      prefixed.push_back(prefix + key);
    }
    return store.wait(prefixed, timeout);
  }

private:
  Store &store;
  std::string prefix;
};

} // namespace

std::unique_ptr<Store> sfsdp::runtime::withPrefix(Store &store,
                                                  std::string prefix) {
  return std::make_unique<PrefixedStore>(store, std::move(prefix));
}

std::unique_ptr<Store> sfsdp::runtime::makeMemoryStore() {
  return std::make_unique<MemoryStore>();
}
