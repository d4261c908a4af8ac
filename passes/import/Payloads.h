//===- Payloads.h - Where an archive keeps tensors ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Beside the records of weights and of constants stands a table that says which
// tensor is where. Import reads the tables and never the records.
//
// Tested by test/unit/passes/import/GraphFileTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_IMPORT_PAYLOADS_H
#define SFSDP_PASSES_IMPORT_PAYLOADS_H

#include "runtime/Archive.h"

#include <map>
#include <set>

namespace sfsdp::exported {

/// A tensor in a record, which may hold several.
struct Payload {
  std::string record; ///< "data/weights/weight_0"
  uint64_t recordBytes = 0;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides; ///< elements
  int64_t offset = 0;           ///< elements from the start of the record

  bool hasElements() const;
  /// Equal ones are one tensor: same place, same shape.
  auto operator<=>(const Payload &) const = default;
};

/// By name of the tensor.
using Payloads = std::map<std::string, Payload>;

/// The table of `kind` ("weights", "constants") for `model`; empty when the
/// archive has none. A record that is missing has 0 bytes.
runtime::Expected<Payloads> readPayloads(const runtime::Archive &archive,
                                         const std::string &kind,
                                         const std::string &model);

/// Names of tensors with elements whose record has no bytes.
std::set<std::string> namesWithoutBytes(const Payloads &payloads);

/// Two names of one tensor, if there are such. Records without bytes say
/// nothing: all fake weights share one.
std::optional<std::pair<std::string, std::string>>
findShared(const Payloads &payloads);

} // namespace sfsdp::exported

#endif // SFSDP_PASSES_IMPORT_PAYLOADS_H
