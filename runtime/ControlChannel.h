//===- ControlChannel.h - Who died first, where and why ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A star of TCP connections beside the data: rank 0 serves, every other rank
// connects. Each end sends heartbeats with its last position in the program,
// and its cause of death when it has one. An end of file without goodbye is a
// death, silence longer than the limit a stopped process. The first cause
// reaches every rank.
//
// A rank that dies breaks its peers' collectives too, often before anybody
// reads the end of its control connection. So a failed collective is only
// blamed on the rank that saw it when no better cause comes within a moment
// (ControlOptions::settle).
//
// The address and a random nonce are published through the store; a connection
// that does not present the nonce first is dropped.
//
// Tested by test/unit/runtime/ControlChannelTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_CONTROLCHANNEL_H
#define SFSDP_RUNTIME_CONTROLCHANNEL_H

#include "runtime/Rendezvous.h"

#include <cstdint>
#include <functional>

namespace sfsdp::runtime {

struct ControlOptions {
  /// Interface that rank 0 serves on: dataAddress() of Launch.h.
  std::string address = "127.0.0.1";
  /// For all ranks to connect.
  std::chrono::milliseconds startTimeout = std::chrono::seconds(120);
  /// A rank that was silent for so long counts as stopped. Less than the
  /// timeout of collectives, so that the stopped rank is named first.
  std::chrono::milliseconds silenceLimit = std::chrono::seconds(450);
  /// How long a failed collective waits for a better cause.
  std::chrono::milliseconds settle = std::chrono::seconds(1);
  /// What instruction `op` is, for messages: "all_gather of layers.0". All
  /// ranks run the same program, so one rank can describe another's position.
  /// Called by any thread.
  std::function<std::string(int64_t op)> describe;
};

/// One rank's end of the channel. Its destruction without goodbye() tells the
/// other ranks that this one died; a rank that gives up destroys it before it
/// leaves the process, so that its last words arrive.
class ControlChannel {
public:
  virtual ~ControlChannel() = default;

  /// Opens the channel; all ranks of the job call it. Rank 0 returns when all
  /// have connected. `onFailure` is called once at most, on a thread of the
  /// channel, with the first cause: "rank 2 died at step 3, op 17
  /// (all_gather of layers.0): …"; not for a cause that this rank reported
  /// itself. It may come before open() returns and must not destroy the
  /// channel.
  static Expected<std::unique_ptr<ControlChannel>>
  open(Store &store, int rank, int worldSize, ControlOptions options,
       std::function<void(const std::string &cause)> onFailure);

  /// Says where this rank is. Two atomic stores; any thread.
  virtual void setPosition(int64_t step, int64_t op) = 0;

  /// Tells all ranks that this one fails by itself, because of `reason`.
  /// Returns the first cause of the job, which may be another one.
  virtual std::string reportFailure(const std::string &reason) = 0;

  /// The same for a collective that failed, perhaps since another rank died:
  /// waits ControlOptions::settle for that cause.
  virtual std::string reportFailedCollective(const std::string &reason) = 0;

  /// This rank has finished in good order; its end is no death any more. Every
  /// rank calls it after the last collective.
  virtual void goodbye() = 0;
};

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_CONTROLCHANNEL_H
