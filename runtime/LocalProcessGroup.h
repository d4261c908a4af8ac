//===- LocalProcessGroup.h - Ranks as threads of one process -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference transport: ranks read each other's buffers directly. What it
// computes is the definition that every other transport is tested against.
//
// Tested by test/unit/runtime/ProcessGroupTest.cpp and
// test/unit/runtime/LocalProcessGroupTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_LOCALPROCESSGROUP_H
#define SFSDP_RUNTIME_LOCALPROCESSGROUP_H

#include "runtime/ProcessGroup.h"

#include <chrono>

namespace sfsdp::runtime {

/// Makes the `size` ends of one group; end r belongs to the thread that plays
/// rank r. A collective that some rank has not started `timeout` after another
/// one took it up fails on all ranks, naming those that are missing; so does
/// one that ranks disagree about. Aborting or destroying one end ends the
/// calls of the others that need it.
std::vector<std::unique_ptr<ProcessGroup>>
makeLocalGroups(int size, std::chrono::milliseconds timeout);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_LOCALPROCESSGROUP_H
