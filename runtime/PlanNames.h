//===- PlanNames.h - How a plan spells its enumerators ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One table per enumeration of Plan.h, indexed by its value (those of
// collectives are in Collectives.h); writer, reader and messages use the same
// ones.
//
// Tested by test/unit/runtime/PlanTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_PLANNAMES_H
#define SFSDP_RUNTIME_PLANNAMES_H

#include "runtime/Collectives.h"
#include "runtime/Plan.h"

#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sfsdp::runtime {

inline constexpr std::string_view kRegionNames[] = {"private", "arena",
                                                    "argument"};
inline constexpr std::string_view kRoleNames[] = {
    "parameter", "buffer",        "constant",    "input",
    "state",     "accumulator",   "loss",        "gradient",
    "output",    "gradient_norm", "chunk_norms", "applied"};
inline constexpr std::string_view kScalarOpNames[kScalarOpCount] = {
    "constant", "lr",  "step", "micro_batch",     "add",       "sub", "mul",
    "div",      "pow", "neg",  "mesh_coordinate", "valid_rows"};
inline constexpr std::string_view kMemoryFormatNames[] = {
    "contiguous", "preserve", "channels_last", "channels_last_3d"};
inline constexpr std::string_view kTensorLayoutNames[] = {"strided"};
inline constexpr std::string_view kCostClassNames[kCostClassCount] = {
    "view",      "pointwise",     "reduction", "gemm",
    "attention", "normalization", "gather",    "copy",
    "creation",  "optimizer",     "other"};
inline constexpr std::string_view kPhaseNames[] = {"none", "forward",
                                                   "backward", "optimizer"};

inline constexpr std::span<const std::string_view> namesOf(Region) {
  return kRegionNames;
}
inline constexpr std::span<const std::string_view> namesOf(Role) {
  return kRoleNames;
}
inline constexpr std::span<const std::string_view> namesOf(ScalarOp) {
  return kScalarOpNames;
}
inline constexpr std::span<const std::string_view> namesOf(MemoryFormat) {
  return kMemoryFormatNames;
}
inline constexpr std::span<const std::string_view> namesOf(TensorLayoutKind) {
  return kTensorLayoutNames;
}
inline constexpr std::span<const std::string_view> namesOf(CostClass) {
  return kCostClassNames;
}
inline constexpr std::span<const std::string_view> namesOf(CollectiveKind) {
  return kCollectiveKindNames;
}
inline constexpr std::span<const std::string_view> namesOf(ReductionOrder) {
  return kReductionOrderNames;
}
inline constexpr std::span<const std::string_view> namesOf(Phase) {
  return kPhaseNames;
}

/// An enumeration with a table above.
template <typename E>
concept Spelled = requires(E value) { namesOf(value); };

template <Spelled E>
constexpr std::string_view spell(E value) {
  return namesOf(value)[static_cast<size_t>(value)];
}

template <Spelled E>
std::optional<E> fromSpelling(std::string_view name) {
  std::span<const std::string_view> names = namesOf(E{});
  for (size_t index = 0; index < names.size(); ++index) {
    if (names[index] == name) {
      return static_cast<E>(index);
    }
  }
  return std::nullopt;
}

/// "contiguous, preserve, …": what a message offers instead of a wrong name.
template <Spelled E>
std::string spellings() {
  std::string text;
  for (std::string_view name : namesOf(E{})) {
    text += (text.empty() ? "" : ", ") + std::string(name);
  }
  return text;
}

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_PLANNAMES_H
