//===- ShmTransport.h - Shared memory for the tests -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks are threads of the test, but each has its own sockets, segments and
// mappings.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_TEST_SUPPORT_SHMTRANSPORT_H
#define SFSDP_TEST_SUPPORT_SHMTRANSPORT_H

#include "runtime/ShmProcessGroup.h"
#include "test/support/Transports.h"

namespace sfsdp::test {

/// Connects `size` ranks with each other; ends the test program on failure.
std::vector<std::shared_ptr<runtime::HostPeers>>
connectPeers(int size, int64_t arenaBytes = 1 << 20);

/// Groups over `peers`, by rank.
Groups
shmGroupsOf(const std::vector<std::shared_ptr<runtime::HostPeers>> &peers,
            std::chrono::milliseconds timeout);

/// Buffers lie where the caller has them, so all are staged.
Groups makeStagedShmGroups(int size, std::chrono::milliseconds timeout);

/// Buffers are moved to the ranks' arenas and back.
Groups makeBornShmGroups(int size, std::chrono::milliseconds timeout);

/// Every second buffer is, other ones on odd ranks than on even ones.
Groups makeMixedShmGroups(int size, std::chrono::milliseconds timeout);

/// All ranks use one mapping of each segment, so that the thread sanitizer
/// sees who writes what others read. Buffers are staged.
Groups makeShmGroupsMappedOnce(int size, std::chrono::milliseconds timeout);

} // namespace sfsdp::test

#endif // SFSDP_TEST_SUPPORT_SHMTRANSPORT_H
