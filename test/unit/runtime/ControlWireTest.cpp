//===- ControlWireTest.cpp - Frames of the control channel ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/ControlWire.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace sfsdp::runtime;

namespace {

struct Pair {
  FrameSocket near;
  FrameSocket far;
};

Pair makePair(int *rawFar = nullptr) {
  int fds[2] = {-1, -1};
  ::socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
  if (rawFar) {
    *rawFar = fds[1];
  }
  return {FrameSocket(FileDescriptor(fds[0])),
          FrameSocket(FileDescriptor(fds[1]))};
}

} // namespace

TEST(ControlWire, FramesArriveInOrder) {
  Pair pair = makePair();
  pair.near.send({FrameKind::Heartbeat, 2, 3, 17, ""});
  pair.near.send({FrameKind::Failure, 2, 3, 18, "out of memory"});
  std::vector<Frame> frames = pair.far.receive();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].kind, FrameKind::Heartbeat);
  EXPECT_EQ(frames[0].op, 17);
  EXPECT_EQ(frames[1].rank, 2);
  EXPECT_EQ(frames[1].text, "out of memory");
  EXPECT_TRUE(pair.far.isOpen());
}

TEST(ControlWire, LastWordsAreReadBeforeTheEnd) {
  Pair pair = makePair();
  pair.near.send({FrameKind::Goodbye, 1, 0, 0, ""});
  pair.near.close();
  EXPECT_EQ(pair.far.receive().size(), 1u);
  EXPECT_FALSE(pair.far.isOpen());
}

TEST(ControlWire, APartOfAFrameWaitsForTheRest) {
  int raw = -1;
  Pair pair = makePair(&raw);
  Pair other = makePair();
  other.near.send({FrameKind::Failure, 1, 2, 3, "abc"});
  char bytes[64];
  ssize_t count = ::read(other.far.fd(), bytes, sizeof bytes);
  ASSERT_EQ(count, 35);
  ASSERT_EQ(::write(raw, bytes, 34), 34);
  EXPECT_TRUE(pair.near.receive().empty());
  ASSERT_EQ(::write(raw, bytes + 34, 1), 1);
  EXPECT_EQ(pair.near.receive().size(), 1u);
}

TEST(ControlWire, GarbageClosesTheConnection) {
  int raw = -1;
  Pair pair = makePair(&raw);
  std::string request = "GET / HTTP/1.1\r\nHost: rank0.example\r\n\r\n";
  ASSERT_EQ(::write(raw, request.data(), request.size()),
            ssize_t(request.size()));
  EXPECT_TRUE(pair.near.receive().empty());
  EXPECT_FALSE(pair.near.isOpen());
}

TEST(ControlWire, LongTextsAreCut) {
  Pair pair = makePair();
  pair.near.send(
      {FrameKind::Failure, 0, 0, 0, std::string(2 * kMaxFrameText, 'x')});
  std::vector<Frame> frames;
  for (int i = 0; frames.empty() && i < 100; ++i) {
    pair.near.flush();
    frames = pair.far.receive();
  }
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].text.size(), kMaxFrameText);
}

TEST(ControlWire, AReaderThatSleepsBlocksNobody) {
  Pair pair = makePair();
  for (int i = 0; i < 100000 && !pair.near.hasUnsent(); ++i) {
    pair.near.send({FrameKind::Heartbeat, 0, i, 0, ""});
  }
  EXPECT_TRUE(pair.near.hasUnsent());
}
