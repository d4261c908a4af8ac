//===- PeerStorages.h - What of a plan other ranks read ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On a transport whose ranks read each other's memory, the inputs of
// collectives are read by peers, and so are the outputs of all_reduce, whose
// second half gathers what each rank has summed. Other outputs are written and
// read by their own rank only.
//
// Tested by test/unit/runtime/PeerStoragesTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_PEERSTORAGES_H
#define SFSDP_RUNTIME_PEERSTORAGES_H

#include "runtime/Plan.h"

namespace sfsdp::runtime {

/// By storage of `plan`: whether peers read it.
std::vector<bool> storagesReadByPeers(const Plan &plan);

/// Bytes of peer memory that a RankMemory takes for these storages in the
/// course of a run of `plan`: of each size class, the blocks that live at once.
/// Workspaces of kernels come on top, if they are taken there.
int64_t peerMemoryBytes(const Plan &plan);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_PEERSTORAGES_H
