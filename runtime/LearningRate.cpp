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

namespace {

/// A key of a schedule, as in `steps=K`.
struct Key {
  std::string_view name;
  std::string_view form;
  std::string_view expected;
  /// False when the value is not as expected.
  bool (*set)(LearningRate &rate, const std::string &value);
};

constexpr Key kKeys[] = {
    {"warmup", "warmup=W", "a whole number of steps, at least 0",
     [](LearningRate &rate, const std::string &value) {
       return parseNumber(value, rate.warmup) && rate.warmup >= 0;
     }},
    {"steps", "steps=K", "a whole number of steps, at least 1",
     [](LearningRate &rate, const std::string &value) {
       return parseNumber(value, rate.steps) && rate.steps > 0;
     }},
    {"min", "min=R", "a fraction of the base rate, from 0 to 1",
     [](LearningRate &rate, const std::string &value) {
       return parseNumber(value, rate.least) && rate.least >= 0 &&
              rate.least <= 1;
     }},
};

Status readKey(const std::string &text, LearningRate &rate) {
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  const Key *key = std::ranges::find(kKeys, name, &Key::name);
  if (key == std::end(kKeys)) {
    return Status::error("unknown key '" + name +
                         "', expected warmup=W, steps=K or min=R");
  }
  if (rate.kind == LearningRate::Kind::Constant && name != "warmup") {
    return Status::error("key '" + name +
                         "': constant has none, expected constant or "
                         "constant:warmup=W");
  }
  std::string value =
      equals == std::string::npos ? "" : text.substr(equals + 1);
  if (key->set(rate, value)) {
    return Status();
  }
  return Status::error("key '" + name + "': expected " +
                       std::string(key->form) + " with " +
                       std::string(key->expected) + ", got '" + text + "'");
}

/// What falls needs to know until when.
Status checkEnd(const std::string &text, const LearningRate &rate) {
  if (rate.kind == LearningRate::Kind::Constant) {
    return Status();
  }
  if (rate.steps == 0) {
    return Status::error("key 'steps' is missing: expected steps=K, the step "
                         "at which the rate stops falling, got '" +
                         text + "'");
  }
  if (rate.steps <= rate.warmup) {
    return Status::error("key 'steps': expected more than the warmup of " +
                         std::to_string(rate.warmup) + " steps, got " +
                         std::to_string(rate.steps));
  }
  return Status();
}

} // namespace

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
    return Status::error("expected constant, cosine:steps=K or linear:steps=K, "
                         "got '" +
                         text + "'");
  }
  std::istringstream keys(colon == std::string::npos ? ""
                                                     : text.substr(colon + 1));
  for (std::string key; std::getline(keys, key, ',');) {
    if (Status status = readKey(key, rate); !status.ok()) {
      return status;
    }
  }
  return checkEnd(text, rate);
}
