//===- DeclaredReduction.cpp - How a plan says it reduces gradients -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/runtime/DeclaredReductionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/DeclaredReduction.h"

#include <charconv>
#include <numeric>
#include <sstream>

using namespace sfsdp::runtime;

namespace {

/// The value of option `name` in `options`, or `otherwise`.
std::string optionIn(const std::string &options, const std::string &name,
                     const std::string &otherwise) {
  std::istringstream words(options);
  std::string prefix = name + "=";
  for (std::string word; words >> word;) {
    if (word.starts_with(prefix)) {
      return word.substr(prefix.size());
    }
  }
  return otherwise;
}

/// The number that `text` is after `prefix`.
template <typename Number>
bool readAfter(std::string_view text, std::string_view prefix, Number &number) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// For each place within a replica the replicas in order.
std::vector<int64_t> replicasFirst(int64_t replicas, int64_t shards) {
  std::vector<int64_t> ranks;
  for (int64_t shard = 0; shard < shards; ++shard) {
    for (int64_t replica = 0; replica < replicas; ++replica) {
      ranks.push_back(replica * shards + shard);
    }
  }
  return ranks;
}

} // namespace

Expected<DeclaredReduction>
sfsdp::runtime::declaredReduction(const PlanHeader &header) {
  DeclaredReduction declared;
  int64_t ranks = 1;
  for (const std::string &axis : header.dataAxes) {
    ranks *= header.mesh.axisSize(axis);
  }
  declared.ranks.resize(ranks);
  std::iota(declared.ranks.begin(), declared.ranks.end(), 0);

  std::string order = optionIn(header.options, "reduction", "auto");
  bool isHybrid = optionIn(header.options, "mode", "") == "hybrid_shard";
  int64_t shards = header.mesh.axisSize("dp_shard");
  if (isHybrid && (order == "auto" || order == "ordered")) {
    declared.grouped = shards;
  } else if (isHybrid && order == "allreduce_first") {
    declared.ranks = replicasFirst(ranks / shards, shards);
    declared.grouped = ranks / shards;
  } else if (order != "auto" && order != "ordered" && order != "flat" &&
             order != "allreduce_first" &&
             !readAfter(order, "grouped:", declared.grouped)) {
    return Status::error("the plan's options say reduction=" + order +
                         ", which has no order to compare with");
  }

  std::string scale = optionIn(header.options, "gradient-scale", "mean");
  if (scale == "mean") {
    declared.divisor = static_cast<double>(ranks);
  } else if (scale != "sum" && !readAfter(scale, "1/", declared.divisor)) {
    return Status::error("the plan's options say gradient-scale=" + scale +
                         ", which has no factor to compare with");
  }
  return declared;
}
