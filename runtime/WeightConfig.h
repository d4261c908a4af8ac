//===- WeightConfig.h - The tensors of an export archive -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An export archive lists its parameters and buffers in
// `data/weights/MODEL_weights_config.json` and its constants in
// `data/constants/MODEL_constants_config.json`. A record holds a whole storage;
// several tensors may lie in one (tied parameters, views).
//
// Tested by test/unit/runtime/WeightConfigTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_WEIGHTCONFIG_H
#define SFSDP_RUNTIME_WEIGHTCONFIG_H

#include "runtime/Archive.h"
#include "runtime/DType.h"

namespace sfsdp::runtime {

/// One tensor of an archive, inside the record that holds its storage.
struct ArchivedTensor {
  std::string fqn;
  std::string record; ///< "data/weights/weight_0"
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides; ///< in elements
  int64_t storageOffset = 0;    ///< in elements, from the record's start
  bool isParameter = false;     ///< else a buffer or constant
  bool isFake = false;          ///< captured without values: record is empty
};

/// The parameters and buffers of `model` (see findExportedModel), in the
/// archive's order. Each lies within its record, or is fake. Pickled, symbolic
/// and non-strided tensors are refused by name.
Expected<std::vector<ArchivedTensor>> readWeightConfig(const Archive &archive,
                                                       std::string_view model);

/// The constants of `model`, likewise.
Expected<std::vector<ArchivedTensor>>
readConstantConfig(const Archive &archive, std::string_view model);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_WEIGHTCONFIG_H
