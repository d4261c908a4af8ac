//===- ControlWire.h - Frames of the control channel ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small messages over a TCP connection that nobody may block on. All ranks run
// the same build on the same kind of host, so numbers travel as they lie in
// memory.
//
// Tested by test/unit/runtime/ControlWireTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_CONTROLWIRE_H
#define SFSDP_RUNTIME_CONTROLWIRE_H

#include "runtime/Socket.h"

#include <cstdint>
#include <vector>

namespace sfsdp::runtime {

enum class FrameKind : uint8_t {
  Hello,     ///< client to server: rank, nonce as text
  Welcome,   ///< server to client
  Heartbeat, ///< step and op of the sender
  Failure,   ///< the first cause, as text
  Goodbye,   ///< the end that follows is no death
};
inline constexpr int kFrameKindCount = 5;

struct Frame {
  FrameKind kind = FrameKind::Heartbeat;
  int32_t rank = 0; ///< of the sender
  int64_t step = 0;
  int64_t op = 0;
  std::string text; ///< cut to kMaxFrameText bytes when sent
};

inline constexpr size_t kMaxFrameText = 1 << 16;

/// One end of a connection. Never blocks; used by one thread.
class FrameSocket {
public:
  explicit FrameSocket(FileDescriptor socket) : socket(std::move(socket)) {}

  int fd() const { return socket.get(); }

  /// False once the peer has ended, broken the protocol, or close() was called.
  bool isOpen() const { return socket.isOpen(); }

  /// Queues `frame` and sends what the kernel takes now.
  void send(const Frame &frame);

  /// Bytes are queued that flush() should send when the socket is writable.
  bool hasUnsent() const { return !unsent.empty(); }
  void flush();

  /// The frames that have arrived in full.
  std::vector<Frame> receive();

  /// No more frames will be sent; the peer sees the end of file behind the
  /// last one.
  void finishSending();

  void close() { socket = FileDescriptor(); }

private:
  bool takeFrame(std::vector<Frame> &frames);

  FileDescriptor socket;
  std::string unsent;
  std::string received; ///< the start of a frame
};

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_CONTROLWIRE_H
