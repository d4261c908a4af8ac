//===- Manifest.cpp - What the capture package adds to an archive -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Manifest.h.
//
// Tested by test/unit/passes/import/ManifestTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/import/Manifest.h"

namespace sfsdp::exported {

using runtime::Expected;
using runtime::JsonFields;
using runtime::JsonPlace;
using runtime::Status;

static constexpr int64_t kManifestSchema = 1;

static Status readJson(JsonPlace place, ManifestName &name) {
  JsonFields fields(place);
  fields.required("name", name.name);
  fields.required("graph", name.graph);
  return fields.finish();
}

static Status readJson(JsonPlace place, ManifestParameter &parameter) {
  JsonFields fields(place);
  fields.required("fqn", parameter.fqn);
  fields.required("graph", parameter.graph);
  fields.optional("aliases", parameter.aliases);
  return fields.finish();
}

static std::string findName(const std::vector<ManifestName> &names,
                            const std::string &graph) {
  for (const ManifestName &name : names) {
    if (name.graph == graph) {
      return name.name;
    }
  }
  return graph;
}

std::string Manifest::inputName(const std::string &graph) const {
  return findName(inputs, graph);
}

std::string Manifest::outputName(const std::string &graph) const {
  return findName(outputs, graph);
}

Expected<Manifest> readManifest(JsonPlace place) {
  int64_t schema = 0;
  Manifest manifest;
  JsonFields fields(place);
  fields.required("schema", schema);
  if (fields.finish().ok() && schema != kManifestSchema) {
    return place.error("expected manifest version " +
                       std::to_string(kManifestSchema) + ", got " +
                       std::to_string(schema) +
                       "; capture again with the simplefsdp_capture of this "
                       "build");
  }
  fields.required("inputs", manifest.inputs);
  fields.required("parameters", manifest.parameters);
  fields.required("loss", manifest.loss);
  fields.required("train", manifest.train);
  fields.optional("outputs", manifest.outputs);
  if (Status status = fields.finish(); !status.ok()) {
    return status;
  }
  return manifest;
}

} // namespace sfsdp::exported
