//===- PeerMemory.h - Memory that the ranks of a host can read --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transport may offer memory that its peers read directly. What a collective
// reads is best born there; elsewhere the transport copies it first.
//
// Tested by test/unit/runtime/PeerMemoryTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_PEERMEMORY_H
#define SFSDP_RUNTIME_PEERMEMORY_H

#include <cstddef>
#include <cstdint>

namespace sfsdp::runtime {

/// Blocks are taken and never given back: who takes them keeps them for reuse.
class PeerMemory {
public:
  virtual ~PeerMemory() = default;

  /// `bytes` of zeros, aligned to 64 bytes; null when too little is left. Valid
  /// as long as this object. Any thread.
  virtual void *take(size_t bytes) = 0;

  /// Bytes taken so far. Any thread.
  virtual int64_t takenBytes() const = 0;
};

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_PEERMEMORY_H
