//===- PackedCarrier.h - Collectives on top of byte exchanges ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A carrier for libraries that move bytes between processes: it packs the
// members of a bucket into one staging buffer, exchanges blocks, and reduces
// what arrived in rank order.
//
//   all_gather      one all-gather of blocks
//   reduce_scatter  one all-to-all of chunks, then the ordered sum
//   all_reduce      the same, then one all-gather of the reduced chunks
//   all_to_all      one all-to-all
//   broadcast       one broadcast
//
// Ranks that are at different calls must not go on with wrong values. Each
// block starts with a stamp of its call, which the receiver compares. Blocks of
// different sizes are worse: Gloo ends the process. So the first calls of a
// group exchange their stamps before their data; that is at least the first
// step of most programs, which the later ones repeat. Stamps do not count as
// traffic.
//
// The staging buffers grow to the largest bucket and stay; the library never
// sees the buffers of a call, so a thread of it that outlives a failure does no
// harm.
//
// Tested by test/unit/runtime/PackedCarrierTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_PACKEDCARRIER_H
#define SFSDP_RUNTIME_PACKEDCARRIER_H

#include "runtime/ThreadedProcessGroup.h"

namespace sfsdp::runtime {

/// Moves equal blocks of bytes between the ranks of a group. Every function
/// blocks until the data is there or the group's timeout has passed, and is
/// called by all ranks in the same order.
class ByteExchange {
public:
  virtual ~ByteExchange() = default;

  /// "gloo", ….
  virtual std::string_view transport() const = 0;

  /// Sends block p of `input` to rank p; block p of `output` is rank p's.
  /// input, output: groupSize * blockBytes.
  virtual Status allToAll(char *input, char *output, int64_t blockBytes) = 0;

  /// Block p of `output` is the `input` of rank p.
  /// input: blockBytes; output: groupSize * blockBytes.
  virtual Status allGather(char *input, char *output, int64_t blockBytes) = 0;

  /// Overwrites `buffer` with that of rank `root`. buffer: bytes.
  virtual Status broadcast(char *buffer, int64_t bytes, int root) = 0;
};

std::unique_ptr<Carrier>
makePackedCarrier(std::unique_ptr<ByteExchange> exchange, int rank, int size);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_PACKEDCARRIER_H
