//===- ControlHub.cpp - The loop of the control channel -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything here runs on the hub's own thread. Nothing in it blocks but poll.
//
// Tested by test/unit/runtime/ControlChannelTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/ControlHub.h"

#include "runtime/Nonce.h"

#include <algorithm>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace sfsdp::runtime;

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kHandshakeLimit{5000};
constexpr size_t kMaxStrangers = 64; ///< connections before their hello
constexpr milliseconds kDrainLimit{300};

milliseconds until(Clock::time_point deadline) {
  auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
  return std::max(left, milliseconds(0));
}

} // namespace

void ControlHub::run() {
  while (!wantsEnd) {
    waitForEvents();
    noticeSilence();
    beat();
    takeRequests();
    std::erase_if(peers,
                  [](const ControlPeer &p) { return !p.socket.isOpen(); });
  }
  drain();
}

void ControlHub::waitForEvents() {
  std::vector<pollfd> events = {{wakeUp.get(), POLLIN, 0}};
  events.push_back({listener ? listener->socket.get() : -1, POLLIN, 0});
  for (const ControlPeer &peer : peers) {
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

void ControlHub::acceptStrangers() {
  size_t strangers = std::count_if(
      peers.begin(), peers.end(), [](auto &peer) { return peer.isStranger(); });
  int fd = ::accept4(listener->socket.get(), nullptr, nullptr,
                     SOCK_CLOEXEC | SOCK_NONBLOCK);
  FileDescriptor socket(fd);
  if (socket.isOpen() && strangers < kMaxStrangers) {
    peers.emplace_back(std::move(socket));
  }
}

void ControlHub::hear(ControlPeer &peer) {
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
void ControlHub::admit(ControlPeer &peer, const Frame &hello) {
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

void ControlHub::handle(ControlPeer &peer, const Frame &frame) {
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

void ControlHub::noticeEnd(const ControlPeer &peer) {
  if (!peer.isStranger() && !peer.saidGoodbye) {
    declare("rank " + std::to_string(peer.rank) + " died" +
                place(peer.position) +
                ": its control connection ended without goodbye",
            /*ownFailure=*/false);
  }
}

void ControlHub::noticeSilence() {
  for (ControlPeer &peer : peers) {
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

void ControlHub::beat() {
  if (Clock::now() < nextBeat) {
    return;
  }
  nextBeat = Clock::now() + std::clamp(options.silenceLimit / 5,
                                       milliseconds(10), milliseconds(200));
  for (ControlPeer &peer : peers) {
    // A peer that does not read gets no further heartbeats to queue.
    if (!peer.isStranger() && !peer.socket.hasUnsent()) {
      peer.socket.send(frameOf(FrameKind::Heartbeat));
    }
  }
}

void ControlHub::takeRequests() {
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
    for (ControlPeer &peer : peers) {
      peer.saidGoodbye = true; // its end does not matter any more
    }
    goodbyeSent = true;
    changed.notify_all();
  }
}

/// The first cause goes to all peers, and to this rank unless it is its own.
void ControlHub::declare(const std::string &text, bool ownFailure) {
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

void ControlHub::sendToAll(FrameKind kind, const std::string &text) {
  for (ControlPeer &peer : peers) {
    if (!peer.isStranger()) {
      peer.socket.send(frameOf(kind, text));
    }
  }
}

/// Lets the last frames arrive: closing a socket that holds unread bytes would
/// take back what was sent.
void ControlHub::drain() {
  auto deadline = Clock::now() + kDrainLimit;
  for (ControlPeer &peer : peers) {
    peer.socket.flush();
    peer.socket.finishSending();
  }
  for (ControlPeer &peer : peers) {
    while (peer.socket.isOpen() && !peer.isStranger() &&
           until(deadline).count() > 0) {
      pollfd event = {peer.socket.fd(), POLLIN, 0};
      ::poll(&event, 1, static_cast<int>(until(deadline).count()));
      peer.socket.receive();
    }
  }
}
