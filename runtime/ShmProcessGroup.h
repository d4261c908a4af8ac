//===- ShmProcessGroup.h - Processes of one host over shared memory -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each rank reads its peers' buffers directly, as the local transport does, and
// computes the same bits. Buffers that were born in the ranks' arenas are read
// where they are (ProcessGroup::peerMemory); others are copied once more,
// through staging memory of a fixed size.
//
// Tested by test/unit/runtime/ProcessGroupTest.cpp and
// test/unit/runtime/ShmProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_SHMPROCESSGROUP_H
#define SFSDP_RUNTIME_SHMPROCESSGROUP_H

#include "runtime/HostPeers.h"
#include "runtime/ProcessGroup.h"

namespace sfsdp::runtime {

/// Makes this rank's end of the group `name`, unique in the job and made of
/// `ranks` (ranks of the job, in group order), which include that of `peers`.
/// All ranks of `ranks` call it with the same name and list, and make the
/// groups that they share in the same order. `timeout` limits each collective.
Expected<std::unique_ptr<ProcessGroup>>
makeShmGroup(std::shared_ptr<HostPeers> peers, const std::string &name,
             const std::vector<int> &ranks, std::chrono::milliseconds timeout);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_SHMPROCESSGROUP_H
