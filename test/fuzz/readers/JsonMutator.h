//===- JsonMutator.h - Changes of a JSON text that keep it JSON -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most changes of single bytes break a JSON text in its first lines, and what
// lies behind the parser is never reached. This changes the tree instead.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_TEST_FUZZ_READERS_JSONMUTATOR_H
#define SFSDP_TEST_FUZZ_READERS_JSONMUTATOR_H

#include <cstddef>
#include <cstdint>

namespace sfsdp::test {

/// Changes the text in `data` in place and returns its new size, as
/// LLVMFuzzerCustomMutator should. One call in eight, and every call on a text
/// that is not JSON, changes bytes. Equal arguments give equal changes.
size_t mutateJson(uint8_t *data, size_t size, size_t maxSize, unsigned seed);

} // namespace sfsdp::test

#endif // SFSDP_TEST_FUZZ_READERS_JSONMUTATOR_H
