//===- GlooExchange.cpp - Blocks of bytes over Gloo -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one translation unit that includes c10d's Gloo backend. Everything
// travels as unsigned bytes, so Gloo's limits on element types never matter.
//
// Tested by test/unit/runtime/GlooProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/GlooExchange.h"

#define USE_C10D_GLOO
#include <ATen/ops/from_blob.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

using namespace sfsdp::runtime;

namespace {

/// Our store as c10d sees it: what Gloo uses to exchange addresses. Gloo keeps
/// it, so it is cut off once the connections stand. `clone` is not marked as an
/// override because older versions of c10d lack it.
class StoreAdapter final : public c10d::Store {
public:
  StoreAdapter(sfsdp::runtime::Store &store, std::chrono::milliseconds timeout)
      : c10d::Store(timeout), store(&store) {}

  /// Every later use is an error.
  void disconnect() { store = nullptr; }

  using c10d::Store::get;
  using c10d::Store::set;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsuggest-override"
  // NOLINTNEXTLINE(*-override): not in every c10d
  virtual c10::intrusive_ptr<c10d::Store> clone() {
    return c10::make_intrusive<StoreAdapter>(connected(), timeout_);
  }
#pragma GCC diagnostic pop

  void set(const std::string &key, const std::vector<uint8_t> &value) override {
    check(connected().set(key, std::string(value.begin(), value.end())));
  }

  std::vector<uint8_t> get(const std::string &key) override {
    Expected<std::string> value = connected().get(key, timeout_);
    check(value.status());
    return std::vector<uint8_t>(value->begin(), value->end());
  }

  void wait(const std::vector<std::string> &keys) override {
    check(connected().wait(keys, timeout_));
  }

  void wait(const std::vector<std::string> &keys,
            const std::chrono::milliseconds &timeout) override {
    check(connected().wait(keys, timeout));
  }

  int64_t add(const std::string &, int64_t) override { refuse("add"); }
  bool deleteKey(const std::string &) override { refuse("deleteKey"); }
  bool check(const std::vector<std::string> &) override { refuse("check"); }
  int64_t getNumKeys() override { refuse("getNumKeys"); }

private:
  static void check(const Status &status) {
    if (!status.ok()) {
      throw std::runtime_error(status.message());
    }
  }

  [[noreturn]] static void refuse(const char *function) {
    throw std::logic_error(std::string("gloo called Store::") + function +
                           ", which connecting did not need so far");
  }

  sfsdp::runtime::Store &connected() {
    if (!store) {
      throw std::logic_error("gloo used the store after it had connected");
    }
    return *store;
  }

  sfsdp::runtime::Store *store;
};

/// The first line of what a library threw: c10 appends a stack trace.
std::string firstLine(const std::exception &error) {
  std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

class GlooExchange final : public ByteExchange {
public:
  GlooExchange(c10::intrusive_ptr<c10d::Backend> backend, int size)
      : backend(std::move(backend)), size(size) {}

  std::string_view transport() const override { return "gloo"; }

  Status allToAll(char *input, char *output, int64_t blockBytes) override {
    return guarded([&] {
      at::Tensor source = bytes(input, size * blockBytes);
      at::Tensor target = bytes(output, size * blockBytes);
      std::vector<int64_t> equalBlocks;
      return backend->alltoall_base(target, source, equalBlocks, equalBlocks);
    });
  }

  Status allGather(char *input, char *output, int64_t blockBytes) override {
    return guarded([&] {
      at::Tensor source = bytes(input, blockBytes);
      at::Tensor target = bytes(output, size * blockBytes);
      return backend->_allgather_base(target, source);
    });
  }

  Status broadcast(char *buffer, int64_t length, int root) override {
    return guarded([&] {
      std::vector<at::Tensor> tensors = {bytes(buffer, length)};
      c10d::BroadcastOptions options;
      options.rootRank = root;
      return backend->broadcast(tensors, options);
    });
  }

private:
  static at::Tensor bytes(char *data, int64_t length) {
    return at::from_blob(data, {length}, at::kByte);
  }

  /// Waits for the work that `issue` returns. Gloo ends it at the timeout of
  /// the group.
  template <typename Issue>
  static Status guarded(Issue issue) {
    try {
      issue()->wait();
      return {};
    } catch (const std::exception &error) {
      return Status::error("gloo failed, so a rank is dead, stopped or late: " +
                           firstLine(error));
    }
  }

  c10::intrusive_ptr<c10d::Backend> backend;
  int size;
};

} // namespace

Expected<std::unique_ptr<ByteExchange>>
sfsdp::runtime::connectGloo(Store &store, int rank, int size,
                            const GlooOptions &options) {
  try {
    auto gloo = c10d::ProcessGroupGloo::Options::create(options.timeout);
    gloo->devices.push_back(
        c10d::ProcessGroupGloo::createDeviceForHostname(options.address));
    gloo->threads = options.threads;
    auto adapter = c10::make_intrusive<StoreAdapter>(store, options.timeout);
    auto backend =
        c10::make_intrusive<c10d::ProcessGroupGloo>(adapter, rank, size, gloo);
    adapter->disconnect();
    return std::unique_ptr<ByteExchange>(
        std::make_unique<GlooExchange>(std::move(backend), size));
  } catch (const std::exception &error) {
    return Status::error("gloo cannot connect over '" + options.address +
                         "': " + firstLine(error));
  }
}
