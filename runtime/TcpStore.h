//===- TcpStore.h - The store of a job of several processes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch's TCPStore behind the Store interface, so that a job started by
// torchrun uses the store that torchrun already serves.
//
// Tested by test/unit/runtime/TcpStoreTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_TCPSTORE_H
#define SFSDP_RUNTIME_TCPSTORE_H

#include "runtime/Launch.h"
#include "runtime/Rendezvous.h"

namespace sfsdp::runtime {

/// Connects this rank to the job's store; rank 0 also serves it, on the
/// rendezvous interface only, unless an agent does (context.useAgentStore).
/// Takes over context.listenFd. Errors name host:port and what to change.
Expected<std::unique_ptr<Store>>
connectStore(const LaunchContext &context, std::chrono::milliseconds timeout);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_TCPSTORE_H
