//===- TcpStore.cpp - The store of a job of several processes -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// c10d's TCPStore would listen on all interfaces, and report a port in use by a
// text of its own; so the listening socket is opened here and handed over.
//
// Tested by test/unit/runtime/TcpStoreTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/TcpStore.h"

#include "runtime/Socket.h"

#include <algorithm>
#include <thread>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

using namespace sfsdp::runtime;

namespace {

/// The first line of what c10d threw; a stack trace follows it.
std::string firstLine(const std::exception &error) {
  std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

class TcpStore final : public sfsdp::runtime::Store {
public:
  TcpStore(c10::intrusive_ptr<c10d::TCPStore> store, std::string prefix)
      : store(std::move(store)), prefix(std::move(prefix)) {}

  Status set(const std::string &key, const std::string &value) override {
    try {
      store->set(prefix + key,
                 std::vector<uint8_t>(value.begin(), value.end()));
      return {};
    } catch (const std::exception &error) {
      return failure(error);
    }
  }

  Expected<std::string> get(const std::string &key,
                            std::chrono::milliseconds timeout) override {
    if (Status status = wait({key}, timeout); !status.ok()) {
      return status;
    }
    try {
      std::vector<uint8_t> value = store->get(prefix + key);
      return std::string(value.begin(), value.end());
    } catch (const std::exception &error) {
      return failure(error);
    }
  }

  Status wait(const std::vector<std::string> &keys,
              std::chrono::milliseconds timeout) override {
    std::vector<std::string> prefixed;
    for (const std::string &key : keys) {
      prefixed.push_back(prefix + key);
    }
    // Asking again and again, since TCPStore::wait holds a lock that every
    // other thread of this rank needs, and complains on standard error.
    auto deadline = std::chrono::steady_clock::now() + timeout;
    auto pause = std::chrono::milliseconds(1);
    try {
      while (!store->check(prefixed)) {
        if (std::chrono::steady_clock::now() >= deadline) {
          return Status::error("no rank set '" + keys.front() +
                               "' in the store within " +
                               std::to_string(timeout.count()) + " ms");
        }
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, std::chrono::milliseconds(50));
      }
      return {};
    } catch (const std::exception &error) {
      return failure(error);
    }
  }

private:
  static Status failure(const std::exception &error) {
    return Status::error("lost the store that rank 0 or the launcher serves: " +
                         firstLine(error));
  }

  c10::intrusive_ptr<c10d::TCPStore> store;
  std::string prefix;
};

bool servesStore(const LaunchContext &context) {
  return context.rank == 0 && !context.useAgentStore;
}

/// The socket on which rank 0 serves the store: the one that a local launch
/// opened, or a new one on the master's interface.
Expected<Listener> storeListener(const LaunchContext &context) {
  if (context.listenFd >= 0) {
    return Listener{FileDescriptor(context.listenFd), context.masterPort};
  }
  Expected<Listener> listener =
      listenOn(context.masterAddress, context.masterPort);
  if (!listener.ok()) {
    return Status::error(
        listener.message() +
        "; set MASTER_ADDR to an address of the host of rank 0 and MASTER_PORT "
        "to a free port of it, or start local ranks with -n, which picks one");
  }
  return listener;
}

} // namespace

Expected<std::unique_ptr<sfsdp::runtime::Store>>
sfsdp::runtime::connectStore(const LaunchContext &context,
                             std::chrono::milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(context.masterPort);
  options.timeout = timeout;
  options.waitWorkers = false;
  std::string where = "cannot join the job's store at " +
                      endpointText(context.masterAddress, context.masterPort);
  if (servesStore(context)) {
    Expected<Listener> listener = storeListener(context);
    if (!listener.ok()) {
      return listener.status();
    }
    options.isServer = true;
    options.masterListenFd = listener->socket.release();
  } else {
    // c10d would retry with a stack trace per attempt.
    Expected<FileDescriptor> probe =
        connectTo(context.masterAddress, context.masterPort, timeout);
    if (!probe.ok()) {
      return Status::error(
          "rank " + std::to_string(context.rank) + " found no store within " +
          std::to_string(timeout.count()) + " ms: " + probe.message() +
          "; is rank 0 running, and are MASTER_ADDR and "
          "MASTER_PORT the same on all ranks?");
    }
  }
  try {
    auto store =
        c10::make_intrusive<c10d::TCPStore>(context.masterAddress, options);
    return std::unique_ptr<Store>(
        std::make_unique<TcpStore>(std::move(store), context.storePrefix));
  } catch (const std::exception &error) {
    return Status::error(where + " as rank " + std::to_string(context.rank) +
                         ": " + firstLine(error));
  }
}
