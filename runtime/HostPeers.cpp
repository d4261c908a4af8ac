//===- HostPeers.cpp - The ranks of a job on one host ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A rank publishes the name of its socket, a nonce, and what tells hosts apart.
// It connects to all lower ranks and is connected to by all higher ones; the
// first message of each side carries the descriptor of its arena.
//
// Tested by test/unit/runtime/HostPeersTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/HostPeers.h"

#include "runtime/Nonce.h"
#include "runtime/RankList.h"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>
#include <sys/stat.h>

using namespace sfsdp::runtime;

namespace {

/// Differs between machines, boots of one, and network name spaces, across
/// which abstract sockets do not reach.
std::string hostMark() {
  std::string boot = "unknown";
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat about = {};
  bool known = ::stat("/proc/self/ns/net", &about) == 0;
  return boot + "/" + std::to_string(known ? about.st_ino : 0);
}

std::string rankText(int rank) { return "rank " + std::to_string(rank); }

std::string keyOf(int rank) { return "shm/" + std::to_string(rank); }

std::string helloOf(int rank, const std::string &nonce) {
  return "hello " + std::to_string(rank) + " " + nonce;
}

class Arena final : public PeerMemory {
public:
  explicit Arena(std::shared_ptr<HostPeers> peers) : peers(std::move(peers)) {}

  void *take(size_t bytes) override { return peers->takeFromArena(bytes); }
  int64_t takenBytes() const override { return peers->takenFromArena(); }

private:
  std::shared_ptr<HostPeers> peers;
};

} // namespace

//===----------------------------------------------------------------------===//
// Connecting
//===----------------------------------------------------------------------===//

Expected<std::shared_ptr<HostPeers>>
HostPeers::connect(Store &store, int rank, int size,
                   const HostPeersOptions &options) {
  std::shared_ptr<HostPeers> peers(new HostPeers(rank, size, options.timeout));
  auto arena =
      SharedSegment::create(2 * options.arenaBytes, options.arenaBytes);
  if (!arena.ok()) {
    return arena.status();
  }
  peers->arenas[rank] = *std::move(arena);
  for (Status (HostPeers::*step)(Store &) :
       {&HostPeers::publish, &HostPeers::findHosts}) {
    if (Status status = (peers.get()->*step)(store); !status.ok()) {
      return status;
    }
  }
  for (Status (HostPeers::*step)() :
       {&HostPeers::connectToLower, &HostPeers::acceptHigher}) {
    if (Status status = (peers.get()->*step)(); !status.ok()) {
      return status;
    }
  }
  return peers;
}

Status HostPeers::publish(Store &store) {
  auto opened = LocalListener::open(size());
  if (!opened.ok()) {
    return opened.status();
  }
  listener = *std::move(opened);
  nonce = makeNonce();
  return store.set(keyOf(ownRank),
                   hostMark() + ' ' + listener.name() + ' ' + nonce);
}

/// Every rank looks at all, so that all say the same of ranks elsewhere.
Status HostPeers::findHosts(Store &store) {
  std::vector<int> elsewhere;
  std::string firstHost;
  addresses.resize(arenas.size());
  for (int other = 0; other < size(); ++other) {
    Expected<std::string> published = store.get(keyOf(other), timeout);
    if (!published.ok()) {
      return published.status().within(rankText(other));
    }
    std::string host;
    std::istringstream(*published) >> host >> addresses[other].socket >>
        addresses[other].nonce;
    if (other == 0) {
      firstHost = host;
    } else if (host != firstHost) {
      elsewhere.push_back(other);
    }
  }
  if (elsewhere.empty()) {
    return {};
  }
  return Status::error("--backend shm needs all ranks on one host, but " +
                       nameRanks(elsewhere) +
                       (elsewhere.size() > 1 ? " run" : " runs") +
                       " elsewhere than rank 0; use --backend gloo");
}

Expected<SharedSegment> HostPeers::receiveSegment(int other,
                                                  const std::string &what) {
  std::string from = rankText(other);
  auto message = links.at(other).receive(timeout);
  if (!message.ok()) {
    return message.status().within(from);
  }
  if (message->text != what || !message->descriptor.isOpen()) {
    return Status::error(from + " sent '" + message->text + "', expected '" +
                         what +
                         "' with a segment; all ranks must run the same "
                         "plan");
  }
  auto segment = SharedSegment::mapForReading(std::move(message->descriptor));
  return segment.ok() ? std::move(segment)
                      : Expected<SharedSegment>(segment.status().within(from));
}

/// Sends all hellos before it waits for an answer, so that ranks need not be
/// here in any order.
Status HostPeers::connectToLower() {
  for (int other = 0; other < ownRank; ++other) {
    auto link = connectLocally(addresses[other].socket);
    if (!link.ok()) {
      return link.status().within(rankText(other));
    }
    Status sent = link->send(helloOf(ownRank, addresses[other].nonce),
                             arenas[ownRank].descriptor());
    if (!sent.ok()) {
      return sent.within(rankText(other));
    }
    links[other] = *std::move(link);
  }
  return {};
}

/// Takes the connection of a higher rank; one that presents no hello of this
/// job is a stranger and is dropped.
Status HostPeers::admit(LocalSocket link) {
  auto hello = link.receive(timeout);
  bool complete = hello.ok() && hello->descriptor.isOpen();
  for (int other = ownRank + 1; complete && other < size(); ++other) {
    if (links.count(other) != 0 ||
        !equalInConstantTime(hello->text, helloOf(other, nonce))) {
      continue;
    }
    auto arena = SharedSegment::mapForReading(std::move(hello->descriptor));
    if (!arena.ok()) {
      return arena.status().within(rankText(other));
    }
    arenas[other] = *std::move(arena);
    Status sent = link.send(helloOf(ownRank, addresses[other].nonce),
                            arenas[ownRank].descriptor());
    links[other] = std::move(link);
    return sent.within(rankText(other));
  }
  return {};
}

Status HostPeers::acceptHigher() {
  while (static_cast<int>(links.size()) < size() - 1) {
    auto link = listener.accept(timeout);
    Status status = link.ok() ? admit(*std::move(link)) : link.status();
    if (!status.ok()) {
      return status;
    }
  }
  for (int other = 0; other < ownRank; ++other) {
    auto arena = receiveSegment(other, helloOf(other, nonce));
    if (!arena.ok()) {
      return arena.status();
    }
    arenas[other] = *std::move(arena);
  }
  listener = LocalListener();
  return {};
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

Expected<std::vector<SharedSegment>>
HostPeers::exchange(const std::string &name, const std::vector<int> &ranks,
                    const SharedSegment &own) {
  std::string what = "group " + name;
  for (int other : ranks) {
    if (other == ownRank) {
      continue;
    }
    Status sent = links.at(other).send(what, own.descriptor());
    if (!sent.ok()) {
      return sent.within(rankText(other));
    }
  }
  std::vector<SharedSegment> segments(ranks.size());
  for (size_t place = 0; place < ranks.size(); ++place) {
    if (ranks[place] == ownRank) {
      continue;
    }
    auto segment = receiveSegment(ranks[place], what);
    if (!segment.ok()) {
      return segment.status();
    }
    segments[place] = *std::move(segment);
  }
  return segments;
}

void *HostPeers::takeFromArena(size_t bytes) {
  constexpr int64_t kAlignment = 64;
  std::lock_guard<std::mutex> lock(mutex);
  const SharedSegment &own = arenas[ownRank];
  int64_t left = own.size() - taken;
  if (bytes > static_cast<size_t>(left)) {
    return nullptr;
  }
  void *block = own.data() + taken;
  auto rounded =
      static_cast<int64_t>((bytes + kAlignment - 1) / kAlignment * kAlignment);
  taken += std::min(left, rounded);
  return block;
}

int64_t HostPeers::takenFromArena() const {
  std::lock_guard<std::mutex> lock(mutex);
  return taken;
}

std::shared_ptr<PeerMemory>
sfsdp::runtime::arenaOf(std::shared_ptr<HostPeers> peers) {
  return std::make_shared<Arena>(std::move(peers));
}
