//===- Manifest.h - What the capture package adds to an archive ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `extra/simplefsdp.json`, written by simplefsdp_capture: Python's names of
// inputs and outputs, ties, and whether this is a training step. An archive
// without one imports with what its signature tells.
//
// Tested by test/unit/passes/import/ManifestTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_IMPORT_MANIFEST_H
#define SFSDP_PASSES_IMPORT_MANIFEST_H

#include "runtime/Json.h"

#include <string>
#include <vector>

namespace sfsdp::exported {

inline constexpr std::string_view kManifestRecord = "extra/simplefsdp.json";

/// A name of the Python model for a value of the graph.
struct ManifestName {
  std::string name;  ///< dotted path
  std::string graph; ///< name of a graph input or node
};

struct ManifestParameter {
  std::string fqn;
  std::string graph;
  std::vector<std::string> aliases; ///< further names when it is tied
};

struct Manifest {
  std::vector<ManifestName> inputs;
  std::vector<ManifestName> outputs; ///< without the loss
  std::vector<ManifestParameter> parameters;
  std::string loss; ///< graph name
  bool train = true;

  /// Python's name of the graph input or output; `graph` itself without one.
  std::string inputName(const std::string &graph) const;
  std::string outputName(const std::string &graph) const;
};

runtime::Expected<Manifest> readManifest(runtime::JsonPlace place);

} // namespace sfsdp::exported

#endif // SFSDP_PASSES_IMPORT_MANIFEST_H
