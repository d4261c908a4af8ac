//===- MeshPosition.cpp - Where a rank stands in the mesh -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mesh positions are numbered row-major, the last axis fastest.
//
// Tested by test/unit/runtime/MeshPositionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/MeshPosition.h"

#include <algorithm>
#include <ranges>

using namespace sfsdp::runtime;

MeshPosition::MeshPosition(const Mesh &mesh, int64_t rank)
    : mesh(mesh), ownRank(rank), coordinates(mesh.axes.size()) {
  int64_t index = rank;
  if (!mesh.ranks.empty()) {
    auto place = std::find(mesh.ranks.begin(), mesh.ranks.end(), rank);
    index = place - mesh.ranks.begin();
  }
  for (size_t axis = mesh.axes.size(); axis-- > 0;) {
    coordinates[axis] = index % mesh.axes[axis].size;
    index /= mesh.axes[axis].size;
  }
}

std::optional<size_t> MeshPosition::axisNamed(std::string_view name) const {
  auto axis = std::ranges::find(mesh.axes, name, &MeshAxis::name);
  return axis == mesh.axes.end()
             ? std::nullopt
             : std::optional<size_t>(axis - mesh.axes.begin());
}

int64_t MeshPosition::coordinate(std::string_view name) const {
  std::optional<size_t> axis = axisNamed(name);
  return axis ? coordinates[*axis] : 0;
}

int64_t MeshPosition::indexOn(const std::vector<std::string> &axes) const {
  int64_t index = 0;
  for (const std::string &axis : axes) {
    index = index * mesh.axisSize(axis) + coordinate(axis);
  }
  return index;
}

int64_t MeshPosition::sizeOn(const std::vector<std::string> &axes) const {
  int64_t size = 1;
  for (const std::string &axis : axes) {
    size *= mesh.axisSize(axis);
  }
  return size;
}

int64_t MeshPosition::rankAt(const std::vector<int64_t> &coordinates) const {
  int64_t index = 0;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    index = index * mesh.axes[axis].size + coordinates[axis];
  }
  return mesh.ranks.empty() ? index : mesh.ranks[index];
}

std::vector<int>
MeshPosition::groupOn(const std::vector<std::string> &axes) const {
  std::vector<int> group;
  int64_t size = sizeOn(axes);
  for (int64_t member = 0; member < size; ++member) {
    std::vector<int64_t> place = coordinates;
    int64_t rest = member;
    for (const std::string &name : std::views::reverse(axes)) {
      if (std::optional<size_t> axis = axisNamed(name)) {
        place[*axis] = rest % mesh.axes[*axis].size;
        rest /= mesh.axes[*axis].size;
      }
    }
    group.push_back(static_cast<int>(rankAt(place)));
  }
  return group;
}
