//===- MeshPosition.h - Where a rank stands in the mesh ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The only place where a rank's number becomes coordinates and groups: plans
// know axes, transports know lists of ranks.
//
// Tested by test/unit/runtime/MeshPositionTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_MESHPOSITION_H
#define SFSDP_RUNTIME_MESHPOSITION_H

#include "runtime/Plan.h"

#include <optional>

namespace sfsdp::runtime {

class MeshPosition {
public:
  /// The position of `rank`. Requires 0 <= rank < mesh.size().
  MeshPosition(const Mesh &mesh, int64_t rank);

  int64_t rank() const { return ownRank; }

  /// This rank's index on axis `name`; 0 if the mesh does not have it.
  int64_t coordinate(std::string_view name) const;

  /// This rank's row-major index among the positions of `axes`, outermost
  /// first, and how many positions those have.
  int64_t indexOn(const std::vector<std::string> &axes) const;
  int64_t sizeOn(const std::vector<std::string> &axes) const;

  /// The ranks that differ from this one on `axes` only, ordered row-major over
  /// them; this rank stands at indexOn(axes).
  std::vector<int> groupOn(const std::vector<std::string> &axes) const;

private:
  std::optional<size_t> axisNamed(std::string_view name) const;
  int64_t rankAt(const std::vector<int64_t> &coordinates) const;

  Mesh mesh;
  int64_t ownRank;
  std::vector<int64_t> coordinates; ///< one per axis
};

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_MESHPOSITION_H
