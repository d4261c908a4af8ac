//===- ControlWire.cpp - Frames of the control channel --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A frame is a header of fixed size and a text.
//
// Tested by test/unit/runtime/ControlWireTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/ControlWire.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

using namespace sfsdp::runtime;

namespace {

constexpr uint32_t kMagic = 0x53465043; // "SFPC"

struct Header {
  uint32_t magic;
  uint32_t textBytes;
  int32_t rank;
  uint32_t kind;
  int64_t step;
  int64_t op;
};
static_assert(sizeof(Header) == 32, "no hidden padding on the wire");

bool isRetry(int code) {
  return code == EAGAIN || code == EWOULDBLOCK || code == EINTR;
}

} // namespace

void FrameSocket::send(const Frame &frame) {
  std::string_view text(frame.text);
  text = text.substr(0, kMaxFrameText);
  Header header = {kMagic,     static_cast<uint32_t>(text.size()),
                   frame.rank, static_cast<uint32_t>(frame.kind),
                   frame.step, frame.op};
  unsent.append(reinterpret_cast<const char *>(&header), sizeof header);
  unsent.append(text);
  flush();
}

void FrameSocket::flush() {
  while (isOpen() && !unsent.empty()) {
    ssize_t sent =
        ::send(fd(), unsent.data(), unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      unsent.erase(0, sent);
    } else if (isRetry(errno)) {
      return;
    } else {
      // The peer is gone; receive() finds that out after reading its last
      // words.
      unsent.clear();
    }
  }
}

std::vector<Frame> FrameSocket::receive() {
  std::vector<Frame> frames;
  char buffer[4096];
  while (isOpen()) {
    ssize_t count = ::recv(fd(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (count > 0) {
      received.append(buffer, count);
      while (takeFrame(frames)) {
      }
    } else if (count < 0 && isRetry(errno)) {
      break;
    } else {
      close();
    }
  }
  return frames;
}

/// Takes one frame off the front of `received`. Closes on garbage.
bool FrameSocket::takeFrame(std::vector<Frame> &frames) {
  Header header;
  if (received.size() < sizeof header) {
    return false;
  }
  std::memcpy(&header, received.data(), sizeof header);
  if (header.magic != kMagic || header.textBytes > kMaxFrameText ||
      header.kind >= kFrameKindCount) {
    received.clear();
    close();
    return false;
  }
  if (received.size() < sizeof header + header.textBytes) {
    return false;
  }
  frames.push_back({static_cast<FrameKind>(header.kind), header.rank,
                    header.step, header.op,
                    received.substr(sizeof header, header.textBytes)});
  received.erase(0, sizeof header + header.textBytes);
  return true;
}

void FrameSocket::finishSending() {
  if (isOpen()) {
    ::shutdown(fd(), SHUT_WR);
  }
}
