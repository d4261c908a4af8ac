//===- ZipDirectory.h - The table of contents of a zip file --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Used by Archive alone.
//
// Tested by test/unit/runtime/ArchiveTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_ZIPDIRECTORY_H
#define SFSDP_RUNTIME_ZIPDIRECTORY_H

#include "runtime/Archive.h"

namespace sfsdp::runtime {

/// The entries of the zip file, with full names, in the order of its central
/// directory; folders are left out. Entries that are encrypted, overlap or
/// contradict their local headers are refused.
Expected<std::vector<Record>> readZipDirectory(const InputFile &file);

/// The message for a file that was once a good archive.
Status damagedArchive(const InputFile &file, std::string_view detail);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_ZIPDIRECTORY_H
