//===- ControlChannel.cpp - Who died first, where and why
//------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One thread per rank runs a loop over its connections: rank 0 has one to every
// other rank, the others have one to rank 0. Apart from accepting connections
// both ends do the same: they send heartbeats, watch for ends and silence, and
// send the first cause they learn of to all their peers, so rank 0 spreads it.
//
// Tested by test/unit/runtime/ControlChannelTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/ControlChannel.h"

#include "runtime/ControlWire.h"
#include "runtime/RankList.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <poll.h>
#include <sstream>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace sfsdp::runtime;

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char *kAddressKey = "control/address";
constexpr milliseconds kHandshakeLimit{5000};
constexpr size_t kMaxStrangers = 64; ///< connections before their hello
constexpr milliseconds kSendLimit{2000};
constexpr milliseconds kDrainLimit{300};

milliseconds until(Clock::time_point deadline) {
  auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
  return std::max(left, milliseconds(0));
}

/// 128 random bits as text.
std::string makeNonce() {
  unsigned char bytes[16] = {};
  size_t filled = 0;
  while (filled < sizeof bytes) {
    ssize_t count = ::getrandom(bytes + filled, sizeof bytes - filled, 0);
    filled += count > 0 ? count : 0;
  }
  std::string text;
  for (unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

/// Takes the same time wherever two texts of equal length differ.
bool equalInConstantTime(const std::string &a, const std::string &b) {
  if (a.size() != b.size()) {
    return false;
  }
  unsigned char differences = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    differences |= a[i] ^ b[i];
  }
  return differences == 0;
}

/// A place in the program; -1: not there yet.
struct Position {
  int64_t step = -1;
  int64_t op = -1;
};

struct Peer {
  FrameSocket socket;
  int rank = -1; ///< -1: a stranger that has not presented the nonce
  Clock::time_point lastHeard = Clock::now();
  Position position;
  bool saidGoodbye = false;

  explicit Peer(FileDescriptor fd) : socket(std::move(fd)) {}
  bool isStranger() const { return rank < 0; }
};

class Hub final : public ControlChannel {
public:
  Hub(int rank, int worldSize, ControlOptions options,
      std::function<void(const std::string &)> onFailure)
      : rank(rank), worldSize(worldSize), options(std::move(options)),
        onFailure(std::move(onFailure)),
        wakeUp(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  ~Hub() override;

  Status serve(Store &store);
  Status join(Store &store);

  void setPosition(int64_t step, int64_t op) override {
    currentStep.store(step, std::memory_order_relaxed);
    currentOp.store(op, std::memory_order_relaxed);
  }
  std::string reportFailure(const std::string &reason) override;
  std::string reportFailedCollective(const std::string &reason) override;
  void goodbye() override;

private:
  // The loop's thread only.
  void run();
  void waitForEvents();
  void acceptStrangers();
  void hear(Peer &peer);
  void handle(Peer &peer, const Frame &frame);
  void admit(Peer &peer, const Frame &hello);
  void noticeEnd(const Peer &peer);
  void noticeSilence();
  void beat();
  void takeRequests();
  void declare(const std::string &text, bool ownFailure);
  void sendToAll(FrameKind kind, const std::string &text);
  void drain();

  // Any thread.
  void start() {
    thread = std::thread([this] { run(); });
  }
  void wake();
  Status waitForJoined(size_t count, const std::string &whoIsMissing);
  std::string missingRanks();
  std::string place(Position position) const;
  Position ownPosition() const {
    return {currentStep.load(std::memory_order_relaxed),
            currentOp.load(std::memory_order_relaxed)};
  }
  Frame frameOf(FrameKind kind, const std::string &text = "") const {
    return {kind, rank, ownPosition().step, ownPosition().op, text};
  }

  const int rank;
  const int worldSize;
  const ControlOptions options;
  const std::function<void(const std::string &)> onFailure;
  std::atomic<int64_t> currentStep{-1};
  std::atomic<int64_t> currentOp{-1};
  FileDescriptor wakeUp; ///< an eventfd

  // The loop's.
  std::optional<Listener> listener;
  std::string nonce;
  std::deque<Peer> peers;
  Clock::time_point nextBeat = Clock::now();
  bool wantsEnd = false;
  std::thread thread;

  // Shared.
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<int> joined; ///< ranks that this one is connected to
  std::string cause;
  bool causeSent = false;
  std::optional<std::string> ownFailure; ///< to declare
  bool goodbyeWanted = false;
  bool goodbyeSent = false;
  bool stopWanted = false;
};

//===----------------------------------------------------------------------===//
// Starting and ending
//===----------------------------------------------------------------------===//

Hub::~Hub() {
  if (!thread.joinable()) {
    return;
  }
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopWanted = true;
  }
  wake();
  thread.join();
}

void Hub::wake() {
  uint64_t one = 1;
  (void)!::write(wakeUp.get(), &one, sizeof one);
}

Status Hub::serve(Store &store) {
  Expected<Listener> opened = listenOn(options.address, /*port=*/0);
  if (!opened.ok()) {
    return opened.status().within("control channel");
  }
  listener = *std::move(opened);
  nonce = makeNonce();
  Status published =
      store.set(kAddressKey, options.address + ' ' +
                                 std::to_string(listener->port) + ' ' + nonce);
  if (!published.ok()) {
    return published.within("control channel");
  }
  start();
  Status status = waitForJoined(worldSize - 1, "");
  return status.ok() ? status : Status::error(reportFailure(status.message()));
}

Status Hub::join(Store &store) {
  Expected<std::string> published =
      store.get(kAddressKey, options.startTimeout);
  if (!published.ok()) {
    return published.status().within("control channel: rank 0 did not open it");
  }
  std::istringstream fields(*published);
  std::string host;
  int port = 0;
  fields >> host >> port >> nonce;
  Expected<FileDescriptor> socket = connectTo(host, port, options.startTimeout);
  if (!socket.ok()) {
    return socket.status().within("control channel");
  }
  peers.emplace_back(*std::move(socket));
  peers.back().rank = 0;
  peers.back().socket.send(frameOf(FrameKind::Hello, nonce));
  start();
  return waitForJoined(1, "rank 0");
}

/// Waits for the handshakes of `count` ranks.
Status Hub::waitForJoined(size_t count, const std::string &whoIsMissing) {
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait_for(lock, options.startTimeout,
                   [&] { return joined.size() >= count || !cause.empty(); });
  if (joined.size() >= count) {
    return {};
  }
  if (!cause.empty()) {
    return Status::error(cause);
  }
  std::string who = whoIsMissing.empty() ? missingRanks() : whoIsMissing;
  return Status::error(who + " did not join the control channel within " +
                       std::to_string(options.startTimeout.count()) + " ms");
}

/// Requires the mutex.
std::string Hub::missingRanks() {
  std::vector<int> missing;
  for (int other = 1; other < worldSize; ++other) {
    if (std::find(joined.begin(), joined.end(), other) == joined.end()) {
      missing.push_back(other);
    }
  }
  return nameRanks(missing);
}

//===----------------------------------------------------------------------===//
// What the rank's own threads call
//===----------------------------------------------------------------------===//

/// " at step 3, op 17 (all_gather of layers.0)".
std::string Hub::place(Position position) const {
  if (position.step < 0) {
    return " before the first step";
  }
  std::string text = " at step " + std::to_string(position.step);
  if (position.op < 0) {
    return text;
  }
  text += ", op " + std::to_string(position.op);
  return options.describe ? text + " (" + options.describe(position.op) + ")"
                          : text;
}

std::string Hub::reportFailure(const std::string &reason) {
  std::string text = "rank " + std::to_string(rank) + " failed" +
                     place(ownPosition()) + ": " + reason;
  std::unique_lock<std::mutex> lock(mutex);
  if (!thread.joinable()) { // one rank, or not started
    cause = cause.empty() ? text : cause;
    return cause;
  }
  if (!ownFailure) {
    ownFailure = text;
  }
  wake();
  changed.wait_for(lock, kSendLimit, [&] { return causeSent; });
  return cause.empty() ? text : cause;
}

std::string Hub::reportFailedCollective(const std::string &reason) {
  std::unique_lock<std::mutex> lock(mutex);
  if (thread.joinable()) {
    changed.wait_for(lock, options.settle, [&] { return !cause.empty(); });
  }
  if (!cause.empty()) {
    return cause;
  }
  lock.unlock();
  return reportFailure(reason);
}

void Hub::goodbye() {
  std::unique_lock<std::mutex> lock(mutex);
  if (!thread.joinable()) {
    return;
  }
  goodbyeWanted = true;
  wake();
  changed.wait_for(lock, kSendLimit, [&] { return goodbyeSent; });
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

void Hub::run() {
  while (!wantsEnd) {
    waitForEvents();
    noticeSilence();
    beat();
    takeRequests();
    std::erase_if(peers, [](const Peer &p) { return !p.socket.isOpen(); });
  }
  drain();
}

void Hub::waitForEvents() {
  std::vector<pollfd> events = {{wakeUp.get(), POLLIN, 0}};
  events.push_back({listener ? listener->socket.get() : -1, POLLIN, 0});
  for (const Peer &peer : peers) {
    short interest = POLLIN | (peer.socket.hasUnsent() ? POLLOUT : 0);
    events.push_back({peer.socket.fd(), interest, 0});
  }
  ::poll(events.data(), events.size(),
         static_cast<int>(until(nextBeat).count()));
  uint64_t wakeUps = 0;
  (void)!::read(wakeUp.get(), &wakeUps, sizeof wakeUps);
  size_t known = peers.size();
  if (events[1].revents != 0) {
    acceptStrangers();
  }
  for (size_t i = 0; i < known; ++i) {
    if (events[i + 2].revents != 0) {
      peers[i].socket.flush();
      hear(peers[i]);
    }
  }
}

void Hub::acceptStrangers() {
  size_t strangers = std::count_if(
      peers.begin(), peers.end(), [](auto &peer) { return peer.isStranger(); });
  int fd = ::accept4(listener->socket.get(), nullptr, nullptr,
                     SOCK_CLOEXEC | SOCK_NONBLOCK);
  FileDescriptor socket(fd);
  if (socket.valid() && strangers < kMaxStrangers) {
    peers.emplace_back(std::move(socket));
  }
}

void Hub::hear(Peer &peer) {
  for (const Frame &frame : peer.socket.receive()) {
    if (peer.isStranger()) {
      admit(peer, frame);
    } else {
      handle(peer, frame);
    }
  }
  if (!peer.socket.isOpen()) {
    noticeEnd(peer);
  }
}

/// Makes a stranger with the right nonce a peer; drops any other.
void Hub::admit(Peer &peer, const Frame &hello) {
  std::lock_guard<std::mutex> lock(mutex);
  bool fresh =
      std::find(joined.begin(), joined.end(), hello.rank) == joined.end();
  if (hello.kind != FrameKind::Hello || hello.rank < 1 ||
      hello.rank >= worldSize || !fresh ||
      !equalInConstantTime(hello.text, nonce)) {
    peer.socket.close();
    return;
  }
  peer.rank = hello.rank;
  peer.lastHeard = Clock::now();
  peer.socket.send(frameOf(FrameKind::Welcome));
  if (!cause.empty()) {
    peer.socket.send(frameOf(FrameKind::Failure, cause));
  }
  joined.push_back(hello.rank);
  changed.notify_all();
}

void Hub::handle(Peer &peer, const Frame &frame) {
  peer.lastHeard = Clock::now();
  peer.position = {frame.step, frame.op};
  switch (frame.kind) {
  case FrameKind::Welcome: {
    std::lock_guard<std::mutex> lock(mutex);
    joined.push_back(peer.rank);
    changed.notify_all();
    break;
  }
  case FrameKind::Failure:
    declare(frame.text, /*ownFailure=*/false);
    break;
  case FrameKind::Goodbye:
    peer.saidGoodbye = true;
    break;
  case FrameKind::Hello:
  case FrameKind::Heartbeat:
    break;
  }
}

void Hub::noticeEnd(const Peer &peer) {
  if (!peer.isStranger() && !peer.saidGoodbye) {
    declare("rank " + std::to_string(peer.rank) + " died" +
                place(peer.position) +
                ": its control connection ended without goodbye",
            /*ownFailure=*/false);
  }
}

void Hub::noticeSilence() {
  for (Peer &peer : peers) {
    auto silence =
        std::chrono::duration_cast<milliseconds>(Clock::now() - peer.lastHeard);
    if (peer.isStranger() && silence > kHandshakeLimit) {
      peer.socket.close();
    }
    if (!peer.isStranger() && !peer.saidGoodbye &&
        silence > options.silenceLimit) {
      declare("rank " + std::to_string(peer.rank) +
                  " is stopped or unreachable" + place(peer.position) +
                  ": no sign of life for " + std::to_string(silence.count()) +
                  " ms",
              /*ownFailure=*/false);
    }
  }
}

void Hub::beat() {
  if (Clock::now() < nextBeat) {
    return;
  }
  nextBeat = Clock::now() + std::clamp(options.silenceLimit / 5,
                                       milliseconds(10), milliseconds(200));
  for (Peer &peer : peers) {
    // A peer that does not read gets no further heartbeats to queue.
    if (!peer.isStranger() && !peer.socket.hasUnsent()) {
      peer.socket.send(frameOf(FrameKind::Heartbeat));
    }
  }
}

void Hub::takeRequests() {
  std::unique_lock<std::mutex> lock(mutex);
  wantsEnd = stopWanted;
  if (ownFailure && cause.empty()) {
    std::string text = *ownFailure;
    lock.unlock();
    declare(text, /*ownFailure=*/true);
    lock.lock();
  }
  if (goodbyeWanted && !goodbyeSent) {
    sendToAll(FrameKind::Goodbye, "");
    for (Peer &peer : peers) {
      peer.saidGoodbye = true; // its end does not matter any more
    }
    goodbyeSent = true;
    changed.notify_all();
  }
}

/// The first cause goes to all peers, and to this rank unless it is its own.
void Hub::declare(const std::string &text, bool ownFailure) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!cause.empty() || goodbyeSent) {
      return;
    }
    cause = text;
  }
  sendToAll(FrameKind::Failure, text);
  {
    std::lock_guard<std::mutex> lock(mutex);
    causeSent = true;
    changed.notify_all();
  }
  if (!ownFailure && onFailure) {
    onFailure(text);
  }
}

void Hub::sendToAll(FrameKind kind, const std::string &text) {
  for (Peer &peer : peers) {
    if (!peer.isStranger()) {
      peer.socket.send(frameOf(kind, text));
    }
  }
}

/// Lets the last frames arrive: closing a socket that holds unread bytes would
/// take back what was sent.
void Hub::drain() {
  auto deadline = Clock::now() + kDrainLimit;
  for (Peer &peer : peers) {
    peer.socket.flush();
    peer.socket.finishSending();
  }
  for (Peer &peer : peers) {
    while (peer.socket.isOpen() && !peer.isStranger() &&
           until(deadline).count() > 0) {
      pollfd event = {peer.socket.fd(), POLLIN, 0};
      ::poll(&event, 1, static_cast<int>(until(deadline).count()));
      peer.socket.receive();
    }
  }
}

} // namespace

Expected<std::unique_ptr<ControlChannel>>
ControlChannel::open(Store &store, int rank, int worldSize,
                     ControlOptions options,
                     std::function<void(const std::string &cause)> onFailure) {
  auto hub = std::make_unique<Hub>(rank, worldSize, std::move(options),
                                   std::move(onFailure));
  Status status;
  if (worldSize > 1) {
    status = rank == 0 ? hub->serve(store) : hub->join(store);
  }
  if (!status.ok()) {
    return status;
  }
  return std::unique_ptr<ControlChannel>(std::move(hub));
}
