//===- LearningRate.cpp - The learning rate of each step ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rates are doubles, computed the same way on every rank.
//
// Tested by test/unit/runtime/LearningRateTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/LearningRate.h"
#include "runtime/Number.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

using namespace sfsdp::runtime;

double LearningRate::at(int64_t step) const {
  if (step <= warmup) {
    return base * static_cast<double>(step) / static_cast<double>(warmup);
  }
  if (kind == Kind::Constant) {
    return base;
  }
  double length = static_cast<double>(std::max<int64_t>(steps - warmup, 1));
  double done = std::min(static_cast<double>(step - warmup) / length, 1.0);
  double high = kind == Kind::Cosine
                    ? (1 + std::cos(std::numbers::pi * done)) / 2
                    : 1 - done;
  return base * (least + (1 - least) * high);
}

static Status setOption(const std::string &option, LearningRate &rate) {
  size_t equals = option.find('=');
  std::string key = option.substr(0, equals);
  std::string value =
      equals == std::string::npos ? "" : option.substr(equals + 1);
  bool read = false;
  if (key == "warmup") {
    read = parseNumber(value, rate.warmup) && rate.warmup >= 0;
  } else if (key == "steps") {
    read = parseNumber(value, rate.steps) && rate.steps > 0;
  } else if (key == "min") {
    read = parseNumber(value, rate.least) && rate.least >= 0 && rate.least <= 1;
  }
  return read ? Status()
              : Status::error("expected warmup=STEPS, steps=STEPS or "
                              "min=FRACTION, got '" +
                              option + "'");
}

Status sfsdp::runtime::parseSchedule(const std::string &text,
                                     LearningRate &rate) {
  size_t colon = text.find(':');
  std::string kind = text.substr(0, colon);
  if (kind == "cosine") {
    rate.kind = LearningRate::Kind::Cosine;
  } else if (kind == "linear") {
    rate.kind = LearningRate::Kind::Linear;
  } else if (kind == "constant") {
    rate.kind = LearningRate::Kind::Constant;
  } else {
    return Status::error("expected constant, cosine:… or linear:…, got '" +
                         text + "'");
  }
  std::istringstream options(
      colon == std::string::npos ? "" : text.substr(colon + 1));
  for (std::string option; std::getline(options, option, ',');) {
    if (Status status = setOption(option, rate); !status.ok()) {
      return status;
    }
  }
  if (rate.kind != LearningRate::Kind::Constant && rate.steps <= rate.warmup) {
    return Status::error("'" + text + "' needs steps=K, more than its warmup");
  }
  return Status();
}
