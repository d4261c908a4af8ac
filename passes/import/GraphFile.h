//===- GraphFile.h - A captured graph from disk -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph comes as a `.pt2` archive, or as the bare JSON of one program. Only
// the graph is read: weights and constants stay where they are, whatever their
// size.
//
// Tested by test/unit/passes/import/GraphFileTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_IMPORT_GRAPHFILE_H
#define SFSDP_PASSES_IMPORT_GRAPHFILE_H

#include "passes/import/ExportedProgram.h"
#include "passes/import/Manifest.h"

#include <set>

namespace sfsdp::exported {

/// A program, its manifest, and what is known of the file around them.
struct GraphFile {
  std::string name; ///< base name of the file
  /// The record of the archive that holds the program; empty for a bare one.
  std::string entry;
  /// SHA-256 of what was read: the program, followed by the manifest. Archives
  /// that differ in weights only are the same input.
  std::string sha256;
  Program program;
  std::optional<Manifest> manifest;
  /// Names of constants and buffers whose record has no bytes although their
  /// shape has elements.
  std::set<std::string> withoutBytes;
  /// Two names under which the archive has one and the same weight.
  std::optional<std::pair<std::string, std::string>> sharedWeights;
};

/// Reads the graph in the file at `path`. An error begins with the name of the
/// record that is wrong, or with `path` when the file as a whole is.
Expected<GraphFile> readGraphFile(const std::string &path);

/// True for the first bytes of an archive and of a bare program, as against IR.
bool looksLikeGraph(std::string_view bytes);

} // namespace sfsdp::exported

#endif // SFSDP_PASSES_IMPORT_GRAPHFILE_H
