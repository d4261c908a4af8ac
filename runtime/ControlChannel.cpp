//===- ControlChannel.cpp - Who died first, where and why -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the rank's own threads call: opening, reporting, leaving. They leave
// requests for the hub's thread and wait for its answers.
//
// Tested by test/unit/runtime/ControlChannelTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/ControlChannel.h"

#include "runtime/ControlHub.h"
#include "runtime/Nonce.h"
#include "runtime/RankList.h"

#include <algorithm>
#include <sstream>
#include <unistd.h>

using namespace sfsdp::runtime;

namespace {

constexpr const char *kAddressKey = "control/address";
constexpr std::chrono::milliseconds kSendLimit{2000};

} // namespace

//===----------------------------------------------------------------------===//
// Starting and ending
//===----------------------------------------------------------------------===//

ControlHub::~ControlHub() {
  if (!thread.joinable()) {
    return;
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopWanted = true;
  }
  wake();
  thread.join();
}

void ControlHub::wake() {
  uint64_t one = 1;
  (void)!::write(wakeUp.get(), &one, sizeof one);
}

Status ControlHub::serve(Store &store) {
  Expected<Listener> opened = listenOn(options.address, /*port=*/0);
  if (!opened.ok()) {
    return opened.status().within("control channel");
  }
  listener = *std::move(opened);
  nonce = makeNonce();
  Status published =
      store.set(kAddressKey, options.address + ' ' +
                                 std::to_string(listener->port) + ' ' + nonce);
  if (!published.ok()) {
    return published.within("control channel");
  }
  start();
  Status status = waitForJoined(worldSize - 1, "");
  return status.ok() ? status : Status::error(reportFailure(status.message()));
}

Status ControlHub::join(Store &store) {
  Expected<std::string> published =
      store.get(kAddressKey, options.startTimeout);
  if (!published.ok()) {
    return published.status().within("control channel: rank 0 did not open it");
  }
  std::istringstream fields(*published);
  std::string host;
  int port = 0;
  fields >> host >> port >> nonce;
  Expected<FileDescriptor> socket = connectTo(host, port, options.startTimeout);
  if (!socket.ok()) {
    return socket.status().within("control channel");
  }
  peers.emplace_back(*std::move(socket));
  peers.back().rank = 0;
  peers.back().socket.send(frameOf(FrameKind::Hello, nonce));
  start();
  return waitForJoined(1, "rank 0");
}

/// Waits for the handshakes of `count` ranks.
Status ControlHub::waitForJoined(size_t count,
                                 const std::string &whoIsMissing) {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait_for(lock, options.startTimeout,
                   [&] { return joined.size() >= count || !cause.empty(); });
  if (joined.size() >= count) {
    return {};
  }
  if (!cause.empty()) {
    return Status::error(cause);
  }
  std::string who = whoIsMissing.empty() ? missingRanks() : whoIsMissing;
  return Status::error(who + " did not join the control channel within " +
                       std::to_string(options.startTimeout.count()) + " ms");
}

/// Requires the mutex.
std::string ControlHub::missingRanks() {
  std::vector<int> missing;
  for (int other = 1; other < worldSize; ++other) {
    if (std::find(joined.begin(), joined.end(), other) == joined.end()) {
      missing.push_back(other);
    }
  }
  return nameRanks(missing);
}

//===----------------------------------------------------------------------===//
// What the rank's own threads call
//===----------------------------------------------------------------------===//

/// " at step 3, op 17 (all_gather of layers.0)".
std::string ControlHub::place(ProgramPosition position) const {
  if (position.step < 0) {
    return " before the first step";
  }
  std::string text = " at step " + std::to_string(position.step);
  if (position.op < 0) {
    return text;
  }
  text += ", op " + std::to_string(position.op);
  return options.describe ? text + " (" + options.describe(position.op) + ")"
                          : text;
}

std::string ControlHub::reportFailure(const std::string &reason) {
  std::string text = "rank " + std::to_string(rank) + " failed" +
                     place(ownPosition()) + ": " + reason;
  std::unique_lock<std::mutex> lock(mutex);
  if (!thread.joinable()) { // one rank, or not started
    cause = cause.empty() ? text : cause;
    return cause;
  }
  if (!ownFailure) {
    ownFailure = text;
  }
  wake();
  changed.wait_for(lock, kSendLimit, [&] { return causeSent; });
  return cause.empty() ? text : cause;
}

std::string ControlHub::reportFailedCollective(const std::string &reason) {
  std::unique_lock<std::mutex> lock(mutex);
  if (thread.joinable()) {
    changed.wait_for(lock, options.settle, [&] { return !cause.empty(); });
  }
  if (!cause.empty()) {
    return cause;
  }
  lock.unlock();
  return reportFailure(reason);
}

void ControlHub::goodbye() {
  std::unique_lock<std::mutex> lock(mutex);
  if (!thread.joinable()) {
    return;
  }
  goodbyeWanted = true;
  wake();
  changed.wait_for(lock, kSendLimit, [&] { return goodbyeSent; });
}

Expected<std::unique_ptr<ControlChannel>>
ControlChannel::open(Store &store, int rank, int worldSize,
                     ControlOptions options,
                     std::function<void(const std::string &cause)> onFailure) {
  auto hub = std::make_unique<ControlHub>(rank, worldSize, std::move(options),
                                          std::move(onFailure));
  Status status;
  if (worldSize > 1) {
    status = rank == 0 ? hub->serve(store) : hub->join(store);
  }
  if (!status.ok()) {
    return status;
  }
  return std::unique_ptr<ControlChannel>(std::move(hub));
}
