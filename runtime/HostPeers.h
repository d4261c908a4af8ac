//===- HostPeers.h - The ranks of a job on one host -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rank is connected with every other one by a private socket. Through it
// they send each other the descriptors of their shared segments, and learn when
// one of them is gone. Each rank also has an arena: a segment that all peers
// map, for the tensors that collectives read.
//
// Tested by test/unit/runtime/HostPeersTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_HOSTPEERS_H
#define SFSDP_RUNTIME_HOSTPEERS_H

#include "runtime/LocalSocket.h"
#include "runtime/PeerMemory.h"
#include "runtime/Rendezvous.h"
#include "runtime/SharedSegment.h"

#include <map>
#include <mutex>

namespace sfsdp::runtime {

struct HostPeersOptions {
  /// What this rank's arena needs; taken from the system at once. As much again
  /// is there on demand.
  int64_t arenaBytes = 0;
  /// Limit of connecting and of each exchange.
  std::chrono::milliseconds timeout = std::chrono::seconds(120);
};

class HostPeers {
public:
  /// Connects rank `rank` with the `size` - 1 others, which it finds through
  /// `store`. An error names ranks that are on another host or did not come.
  static Expected<std::shared_ptr<HostPeers>>
  connect(Store &store, int rank, int size, const HostPeersOptions &options);

  int rank() const { return ownRank; }
  int size() const { return static_cast<int>(arenas.size()); }

  /// Sends `own` to the others of `ranks` and maps theirs, in the order of
  /// `ranks`; the place of this rank stays empty. All of them call it with the
  /// same `name` and in the same order. One thread at a time.
  Expected<std::vector<SharedSegment>> exchange(const std::string &name,
                                                const std::vector<int> &ranks,
                                                const SharedSegment &own);

  /// Whether the process of `other` has closed its connections or has died.
  bool hasLeft(int other) const { return links.at(other).hasEnded(); }

  /// The arena of a rank; read-only but for this rank's own.
  const SharedSegment &arena(int rank) const { return arenas[rank]; }

  /// Takes a block of this rank's arena; see PeerMemory.
  void *takeFromArena(size_t bytes);
  int64_t takenFromArena() const;

private:
  HostPeers(int rank, int size, std::chrono::milliseconds timeout)
      : ownRank(rank), arenas(size), timeout(timeout) {}

  Status publish(Store &store);
  Status findHosts(Store &store);
  Status connectToLower();
  Status admit(LocalSocket link);
  Status acceptHigher();
  Expected<SharedSegment> receiveSegment(int other, const std::string &what);

  int ownRank;
  std::vector<SharedSegment> arenas; ///< by rank
  std::chrono::milliseconds timeout;
  LocalListener listener;
  std::string nonce;
  struct Address {
    std::string socket;
    std::string nonce;
  };
  std::vector<Address> addresses;   ///< by rank
  std::map<int, LocalSocket> links; ///< by rank
  mutable std::mutex mutex;         ///< guards `taken`
  int64_t taken = 0;
};

/// The arena of this rank as memory to be born in. Keeps `peers` alive.
std::shared_ptr<PeerMemory> arenaOf(std::shared_ptr<HostPeers> peers);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_HOSTPEERS_H
