//===- GradientNorm.cpp - What a step says of its gradients ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/runtime/GradientNormTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/GradientNorm.h"
#include "runtime/Collect.h"

#include <cmath>

using namespace sfsdp::runtime;

namespace {

/// Position of the first chunk whose norm is not finite; absent if all are.
std::optional<int64_t> firstLost(const TensorView &norms) {
  int64_t width = norms.bytes() / std::max<int64_t>(norms.elements(), 1);
  for (int64_t chunk = 0; chunk < norms.elements(); ++chunk) {
    auto *data = static_cast<std::byte *>(norms.data) + chunk * width;
    if (!std::isfinite(numberIn({data, norms.dtype, {}, {}}))) {
      return chunk;
    }
  }
  return std::nullopt;
}

/// " on rank 1": who holds `chunk` of the parameter called `name`; empty when
/// there is one rank, or all hold the whole.
std::string holderOf(const Plan &plan, const MeshPosition &position,
                     const std::string &name, int64_t chunk) {
  for (const Argument &argument : plan.arguments) {
    if (argument.role != Role::Parameter || argument.name != name) {
      continue;
    }
    std::vector<std::string> axes;
    for (const AxisShard &shard : argument.placement) {
      axes.push_back(shard.axis);
    }
    std::vector<int> ranks = position.groupOn(axes);
    return ranks.size() > 1 && chunk < static_cast<int64_t>(ranks.size())
               ? " on rank " + std::to_string(ranks[chunk])
               : "";
  }
  return "";
}

std::string originOf(const Plan &plan, const MeshPosition &position,
                     Executor &executor) {
  for (size_t index = 0; index < plan.results.size(); ++index) {
    const Result &result = plan.results[index];
    if (result.role != Role::ChunkNorms) {
      continue;
    }
    if (auto chunk = firstLost(executor.result(index))) {
      return "'" + result.name + "'" +
             holderOf(plan, position, result.name, *chunk);
    }
  }
  return "";
}

} // namespace

std::optional<GradientNorm>
sfsdp::runtime::gradientNormOf(const Plan &plan, const MeshPosition &position,
                               Executor &executor) {
  for (size_t index = 0; index < plan.results.size(); ++index) {
    if (plan.results[index].role != Role::GradientNorm) {
      continue;
    }
    GradientNorm norm;
    norm.value = numberIn(executor.result(index));
    norm.applied = executor.applied();
    if (!std::isfinite(norm.value)) {
      norm.origin = originOf(plan, position, executor);
    }
    return norm;
  }
  return std::nullopt;
}
