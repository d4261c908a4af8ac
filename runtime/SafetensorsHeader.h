//===- SafetensorsHeader.h - What a safetensors file says of itself ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Used by Safetensors alone.
//
// Tested by test/unit/runtime/SafetensorsTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_SAFETENSORSHEADER_H
#define SFSDP_RUNTIME_SAFETENSORSHEADER_H

#include "runtime/Safetensors.h"

namespace sfsdp::runtime {

struct SafetensorsHeader {
  std::vector<SafetensorsTensor> tensors; ///< in the order of the buffer
  SafetensorsMetadata metadata;
};

/// The header of `file`, whose tensors fill the rest of the file exactly.
Expected<SafetensorsHeader> readSafetensorsHeader(const InputFile &file);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_SAFETENSORSHEADER_H
