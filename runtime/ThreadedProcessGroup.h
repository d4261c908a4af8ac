//===- ThreadedProcessGroup.h - A lane thread for a CPU transport --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CPU transports move data by calls that block. This group gives each rank's
// end a lane: a thread that carries the calls out one after the other, in
// issue order, while the issuing thread computes. A transport only says how one
// call is carried out: a Carrier.
//
// Tested by test/unit/runtime/ProcessGroupTest.cpp and
// test/unit/runtime/ThreadedProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_THREADEDPROCESSGROUP_H
#define SFSDP_RUNTIME_THREADEDPROCESSGROUP_H

#include "runtime/ProcessGroup.h"

namespace sfsdp::runtime {

/// How a transport moves the data of one rank's end of a group.
class Carrier {
public:
  virtual ~Carrier() = default;

  /// "local", "gloo", ….
  virtual std::string_view transport() const = 0;

  /// See ProcessGroup.
  virtual std::shared_ptr<PeerMemory> peerMemory() const { return nullptr; }

  /// See Traffic. Any thread.
  virtual int64_t stagedBytes() const { return 0; }

  /// Completes `call`, which passed checkCall, or fails within the group's
  /// timeout. Called by the lane, one call after the other; never for a group
  /// of one rank. After a failure it is not called again.
  virtual Status carryOut(const CollectiveCall &call) = 0;

  /// Makes carryOut fail soon, now and from now on, because of `reason`, and
  /// touch no buffer of a call any more. Any thread.
  virtual void interrupt(const std::string &reason) = 0;

  /// Blocks, after interrupt or a failure, until no thread of this transport
  /// touches the buffers of this rank's calls. Any thread; never for long.
  virtual void settle() = 0;
};

/// A group of `size` ranks whose calls `carrier` carries out. Refuses
/// ReductionOrder::Backend: CPU transports have no order but the defined one.
std::unique_ptr<ProcessGroup>
makeThreadedGroup(std::unique_ptr<Carrier> carrier, int rank, int size);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_THREADEDPROCESSGROUP_H
