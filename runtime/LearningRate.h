//===- LearningRate.h - The learning rate of each step ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/runtime/LearningRateTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_LEARNINGRATE_H
#define SFSDP_RUNTIME_LEARNINGRATE_H

#include "runtime/Status.h"

#include <cstdint>

namespace sfsdp::runtime {

/// Rises linearly over the first `warmup` steps, then follows `kind` down to
/// `least` of the base rate at step `steps`, and stays there.
struct LearningRate {
  enum class Kind : uint8_t { Constant, Cosine, Linear };
  double base = 1e-3;
  Kind kind = Kind::Constant;
  int64_t warmup = 0;
  int64_t steps = 0;
  double least = 0; ///< a fraction of `base`

  /// The rate of `step`, from 1.
  double at(int64_t step) const;
};

/// Reads "constant", "cosine:warmup=W,steps=K,min=R" or "linear:…" into all but
/// `base`. W and R may be left out; "constant" takes warmup alone. An error
/// names the key.
Status parseSchedule(const std::string &text, LearningRate &rate);

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_LEARNINGRATE_H
