//===- GlooProcessGroup.h - Collectives over Gloo ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processes of any number of hosts, over TCP. Gloo only moves bytes here:
// members of a bucket are packed into one staging buffer, exchanged by one
// all-to-all, all-gather or broadcast, and reduced locally in rank order. So
// every element type travels, and the bits are those of the local transport.
//
// Tested by test/unit/runtime/ProcessGroupTest.cpp and
// test/unit/runtime/GlooProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_GLOOPROCESSGROUP_H
#define SFSDP_RUNTIME_GLOOPROCESSGROUP_H

#include "runtime/ProcessGroup.h"
#include "runtime/Rendezvous.h"

#include <chrono>

namespace sfsdp::runtime {

struct GlooOptions {
  /// Address or host name of the interface to bind to; dataAddress() of
  /// Launch.h chooses one for a job.
  std::string address = "127.0.0.1";
  /// Limit of connecting and of each collective.
  std::chrono::milliseconds timeout = std::chrono::seconds(600);
  /// Of Gloo, for one group. The lane issues one collective at a time.
  int threads = 1;
};

/// Connects this rank to the group `name`, unique in the job and made of
/// `ranks` (ranks of the job, in group order) of which `rank` is this one. All
/// ranks of `ranks` call it with the same name and list. `store` is used only
/// until it returns. A group of one rank connects to nothing.
///
/// After a failure or an abort Gloo may hold on to a background thread until
/// its timeout; a process that gives up leaves with _exit.
Expected<std::unique_ptr<ProcessGroup>>
makeGlooGroup(Store &store, const std::string &name,
              const std::vector<int> &ranks, int rank,
              const GlooOptions &options);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_GLOOPROCESSGROUP_H
