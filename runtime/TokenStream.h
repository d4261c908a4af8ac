//===- TokenStream.h - Token ids one after the other ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The .bin files of llm.c (a header of 1,024 bytes whose magic says u16 or u32)
// and of nanoGPT (no header).
//
// Tested by test/unit/runtime/BatchesTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_TOKENSTREAM_H
#define SFSDP_RUNTIME_TOKENSTREAM_H

#include "runtime/Batches.h"

namespace sfsdp::runtime {

/// Opens the stream at `path`; see Batches::open. A batch of n tokens takes n
/// tokens off the stream and, when there are two inputs, looks at one more.
Expected<std::unique_ptr<Batches>>
openTokenStream(const std::string &path, const std::vector<InputSpec> &inputs,
                TokenType headerless, std::string fingerprint);

/// The error for an id that an embedding has no row for.
Status outsideVocabulary(int64_t id, int64_t vocabulary,
                         const std::string &where);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_TOKENSTREAM_H
