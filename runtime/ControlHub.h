//===- ControlHub.h - One rank's end of the control channel -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One thread per rank runs a loop over its connections: rank 0 has one to every
// other rank, the others have one to rank 0. Apart from accepting connections
// both ends do the same: they send heartbeats, watch for ends and silence, and
// send the first cause they learn of to all their peers, so rank 0 spreads it.
//
// The loop is in ControlHub.cpp; what the rank's own threads call is in
// ControlChannel.cpp.
//
// Tested by test/unit/runtime/ControlChannelTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_CONTROLHUB_H
#define SFSDP_RUNTIME_CONTROLHUB_H

#include "runtime/ControlChannel.h"
#include "runtime/ControlWire.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <sys/eventfd.h>
#include <thread>

namespace sfsdp::runtime {

/// A place in the program; -1: not there yet.
struct ProgramPosition {
  int64_t step = -1;
  int64_t op = -1;
};

struct ControlPeer {
  FrameSocket socket;
  int rank = -1; ///< -1: a stranger that has not presented the nonce
  std::chrono::steady_clock::time_point lastHeard =
      std::chrono::steady_clock::now();
  ProgramPosition position;
  bool saidGoodbye = false;

  explicit ControlPeer(FileDescriptor fd) : socket(std::move(fd)) {}
  bool isStranger() const { return rank < 0; }
};

class ControlHub final : public ControlChannel {
public:
  ControlHub(int rank, int worldSize, ControlOptions options,
             std::function<void(const std::string &)> onFailure)
      : rank(rank), worldSize(worldSize), options(std::move(options)),
        onFailure(std::move(onFailure)),
        wakeUp(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  ~ControlHub() override;

  Status serve(Store &store);
  Status join(Store &store);

  void setPosition(int64_t step, int64_t op) override {
    currentStep.store(step, std::memory_order_relaxed);
    currentOp.store(op, std::memory_order_relaxed);
  }
  std::string reportFailure(const std::string &reason) override;
  std::string reportFailedCollective(const std::string &reason) override;
  void goodbye() override;

private:
  // The loop's thread only.
  void run();
  void waitForEvents();
  void acceptStrangers();
  void hear(ControlPeer &peer);
  void handle(ControlPeer &peer, const Frame &frame);
  void admit(ControlPeer &peer, const Frame &hello);
  void noticeEnd(const ControlPeer &peer);
  void noticeSilence();
  void beat();
  void takeRequests();
  void declare(const std::string &text, bool ownFailure);
  void sendToAll(FrameKind kind, const std::string &text);
  void drain();

  // Any thread.
  void start() {
    thread = std::thread([this] { run(); });
  }
  void wake();
  Status waitForJoined(size_t count, const std::string &whoIsMissing);
  std::string missingRanks();
  std::string place(ProgramPosition position) const;
  ProgramPosition ownPosition() const {
    return {currentStep.load(std::memory_order_relaxed),
            currentOp.load(std::memory_order_relaxed)};
  }
  Frame frameOf(FrameKind kind, const std::string &text = "") const {
    return {kind, rank, ownPosition().step, ownPosition().op, text};
  }

  const int rank;
  const int worldSize;
  const ControlOptions options;
  const std::function<void(const std::string &)> onFailure;
  std::atomic<int64_t> currentStep{-1};
  std::atomic<int64_t> currentOp{-1};
  FileDescriptor wakeUp; ///< an eventfd

  // The loop's.
  std::optional<Listener> listener;
  std::string nonce;
  std::deque<ControlPeer> peers;
  std::chrono::steady_clock::time_point nextBeat =
      std::chrono::steady_clock::now();
  bool wantsEnd = false;
  std::thread thread;

  // Shared.
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<int> joined; ///< ranks that this one is connected to
  std::string cause;
  bool causeSent = false;
  std::optional<std::string> ownFailure; ///< to declare
  bool goodbyeWanted = false;
  bool goodbyeSent = false;
  bool stopWanted = false;
};

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_CONTROLHUB_H
