//===- RunOptions.h - The command line of simplefsdp-run --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/runtime/RunOptionsTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_RUNOPTIONS_H
#define SFSDP_RUNTIME_RUNOPTIONS_H

#include "runtime/Batches.h"
#include "runtime/LearningRate.h"
#include "runtime/Operators.h"
#include "runtime/Weights.h"

#include <chrono>

namespace sfsdp::runtime {

/// How ranks are connected.
enum class Backend : uint8_t {
  Auto,  ///< local for one rank, shm on one host, else gloo
  Local, ///< ranks as threads of one process
  Shm,   ///< ranks as processes of one host
  Gloo,  ///< ranks as processes
};

struct RunOptions {
  std::string plan;
  int localRanks = 0; ///< -n; 0: not given
  Backend backend = Backend::Auto;
  std::vector<std::string> weights;
  Initialization init;
  std::string data;
  TokenType dataType = TokenType::U16;
  int64_t steps = 0; ///< 0: one pass over the data
  LearningRate lr;
  uint64_t seed = 0;
  int threads = 1;
  std::chrono::seconds timeout{600};
  std::string dump;
  std::string saveWeights;
  std::string metrics;
  std::string trace;
  std::string profile;
  std::string report;
  std::string checkAgainst;
  bool unproved = false;
  OperatorList operators;
  DebugFill fill = DebugFill::None;
  bool help = false;
};

/// Reads the arguments after the program's name. An error names the option and
/// what it takes.
Expected<RunOptions> parseRunOptions(const std::vector<std::string> &arguments);

/// What --help prints.
std::string runHelp();

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_RUNOPTIONS_H
