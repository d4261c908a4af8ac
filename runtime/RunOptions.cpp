//===- RunOptions.cpp - The command line of simplefsdp-run ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One table row per option. Options of parts that are not built yet are known,
// so that they are refused by name.
//
// Tested by test/unit/runtime/RunOptionsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/RunOptions.h"
#include "runtime/Number.h"

#include <algorithm>
#include <cmath>

using namespace sfsdp::runtime;

namespace {

/// Sets what the option's value says; else says what it expected and got.
using Set = Status (*)(RunOptions &options, const std::string &value);

struct Option {
  std::string_view name;
  std::string_view value; ///< what it takes; empty: a flag
  std::string_view meaning;
  Set set;
};

/// Ok if the value was read.
Status readAs(const char *expected, const std::string &value, bool read) {
  return read ? Status()
              : Status::error("expected " + std::string(expected) + ", got '" +
                              value + "'");
}

template <auto Member>
Status setText(RunOptions &options, const std::string &value) {
  options.*Member = value;
  return readAs("a file", value, !value.empty());
}

template <auto Member>
Status setPositive(RunOptions &options, const std::string &value) {
  return readAs("a whole number of at least 1", value,
                parseNumber(value, options.*Member) && options.*Member > 0);
}

Status setBackend(RunOptions &options, const std::string &value) {
  if (value == "nccl") {
    return Status::error("nccl is not part of this build; use shm or gloo");
  }
  options.backend = value == "local"  ? Backend::Local
                    : value == "shm"  ? Backend::Shm
                    : value == "gloo" ? Backend::Gloo
                                      : Backend::Auto;
  return readAs("auto, local, shm or gloo", value,
                value == "auto" || options.backend != Backend::Auto);
}

Status setDataType(RunOptions &options, const std::string &value) {
  options.dataType = value == "u32" ? TokenType::U32 : TokenType::U16;
  return readAs("u16 or u32", value, value == "u16" || value == "u32");
}

Status setInit(RunOptions &options, const std::string &value) {
  Expected<Initialization> how = parseInitialization(value);
  if (how) {
    options.init = *how;
  }
  return how.status();
}

/// Eleven days: in milliseconds it still fits the 32 bits that poll takes.
constexpr int64_t kLongestTimeout = 1'000'000;

Status setTimeout(RunOptions &options, const std::string &value) {
  int64_t seconds = 0;
  bool read =
      parseNumber(value, seconds) && seconds > 0 && seconds <= kLongestTimeout;
  options.timeout = std::chrono::seconds(seconds);
  return readAs("1 to 1000000 seconds", value, read);
}

/// More than a machine has; OpenMP does not survive a number it can't start.
constexpr int kMostThreads = 1024;

Status setThreads(RunOptions &options, const std::string &value) {
  return readAs("a whole number from 1 to 1024", value,
                parseNumber(value, options.threads) && options.threads > 0 &&
                    options.threads <= kMostThreads);
}

Status setBaseRate(RunOptions &options, const std::string &value) {
  return readAs("a number of at least 0", value,
                parseNumber(value, options.lr.base) && options.lr.base >= 0 &&
                    std::isfinite(options.lr.base));
}

Status setSchedule(RunOptions &options, const std::string &value) {
  return parseSchedule(value, options.lr);
}

Status setSeed(RunOptions &options, const std::string &value) {
  return readAs("a whole number from 0 to 18446744073709551615", value,
                parseNumber(value, options.seed));
}

Status addWeights(RunOptions &options, const std::string &value) {
  options.weights.push_back(value);
  return readAs("a file or a folder", value, !value.empty());
}

Status setData(RunOptions &options, const std::string &value) {
  if (!options.data.empty()) {
    return Status::error("expected one file, got '" + options.data + "' and '" +
                         value + "'");
  }
  return setText<&RunOptions::data>(options, value);
}

Status setDevice(RunOptions &, const std::string &value) {
  return readAs("cpu", value, value == "cpu");
}

Status setFill(RunOptions &options, const std::string &value) {
  options.fill = DebugFill::Nan;
  return readAs("nan", value, value == "nan");
}

Status allowOperator(RunOptions &options, const std::string &value) {
  return options.operators.allow(value);
}

Status setUnproved(RunOptions &options, const std::string &) {
  options.unproved = true;
  return Status();
}

Status setHelp(RunOptions &options, const std::string &) {
  options.help = true;
  return Status();
}

constexpr Option kOptions[] = {
    {"-n", "RANKS", "start that many ranks on this machine",
     setPositive<&RunOptions::localRanks>},
    {"--weights", "FILE|DIR",
     ".pt2, .safetensors or a folder of them; the first of several that has a "
     "tensor counts",
     addWeights},
    {"--init", "zeros|normal:STD", "value of parameters that no file gives",
     setInit},
    {"--data", "FILE", "tokens (.bin) or tensors (.safetensors)", setData},
    {"--data-dtype", "u16|u32", "of a token file without header (u16)",
     setDataType},
    {"--steps", "K", "number of the last step (one pass over the data)",
     setPositive<&RunOptions::steps>},
    {"--lr", "RATE", "base learning rate (1e-3)", setBaseRate},
    {"--lr-schedule", "constant|cosine:warmup=W,steps=K,min=R|linear:…",
     "W steps up, then down to the fraction R at step K (constant)",
     setSchedule},
    {"--seed", "S", "of drawn values (0)", setSeed},
    {"--backend", "auto|local|shm|gloo",
     "ranks as threads, processes of this host, or of any (auto: local for "
     "one rank, shm on one host, else gloo)",
     setBackend},
    {"--device", "cpu", "where kernels run", setDevice},
    {"--threads", "1…1024", "per rank; changes bits (1)", setThreads},
    {"--timeout", "SECONDS", "of each collective, at most 1000000 (600)",
     setTimeout},
    {"--dump", "FILE", "whole tensors after the last step (.safetensors)",
     setText<&RunOptions::dump>},
    {"--save-weights", "FILE", "trained weights (.safetensors)",
     setText<&RunOptions::saveWeights>},
    {"--metrics", "FILE", "one JSON record per step",
     setText<&RunOptions::metrics>},
    {"--trace", "FILE", "the last steps for a trace viewer",
     setText<&RunOptions::trace>},
    {"--profile", "FILE", "time and workspace of each kernel of rank 0 (JSON)",
     setText<&RunOptions::profile>},
    {"--report", "FILE", "a page with loss, timeline and memory",
     setText<&RunOptions::report>},
    {"--check-against", "REF.plan.json",
     "compare each step with this unsharded plan of the same graph",
     setText<&RunOptions::checkAgainst>},
    {"--unproved", "", "run a plan whose proofs are missing or old",
     setUnproved},
    {"--allow-op", "SCHEMA", "an operator of your own that the plan may call",
     allowOperator},
    {"--debug-fill", "nan", "fill fresh and freed memory", setFill},
    {"--help", "", "print this", setHelp},
};

constexpr std::string_view kNotBuilt[] = {
    "--resume",    "--save",      "--save-every", "--keep",
    "--eval-plan", "--eval-data", "--eval-every"};

const Option *find(std::string_view name) {
  const auto *option =
      std::find_if(std::begin(kOptions), std::end(kOptions),
                   [&](const Option &each) { return each.name == name; });
  return option == std::end(kOptions) ? nullptr : option;
}

Status unknown(const std::string &name) {
  bool isPlanned = std::find(std::begin(kNotBuilt), std::end(kNotBuilt),
                             name) != std::end(kNotBuilt);
  return Status::error(isPlanned ? name + " is not part of this build yet"
                                 : "unknown option " + name +
                                       "; simplefsdp-run --help lists all");
}

Status checkComplete(const RunOptions &options) {
  if (options.help) {
    return Status();
  }
  if (options.plan.empty()) {
    return Status::error("expected a plan: simplefsdp-run [-n RANKS] "
                         "STEP.plan.json --weights FILE --data FILE");
  }
  if (options.weights.empty() &&
      options.init.kind == Initialization::Kind::None) {
    return Status::error("expected --weights FILE, --init SPEC, or both");
  }
  if (!options.checkAgainst.empty() && options.backend != Backend::Auto &&
      options.backend != Backend::Local) {
    return Status::error("--check-against runs all ranks in one process, "
                         "expected --backend local");
  }
  return Status();
}

} // namespace

Expected<RunOptions>
sfsdp::runtime::parseRunOptions(const std::vector<std::string> &arguments) {
  RunOptions options;
  for (size_t index = 0; index < arguments.size(); ++index) {
    const std::string &argument = arguments[index];
    if (!argument.starts_with('-')) {
      if (!options.plan.empty()) {
        return Status::error("expected one plan, got '" + options.plan +
                             "' and '" + argument + "'");
      }
      options.plan = argument;
      continue;
    }
    size_t equals =
        argument.starts_with("--") ? argument.find('=') : std::string::npos;
    std::string name = argument.substr(0, equals);
    const Option *option = find(name);
    if (!option) {
      return unknown(name);
    }
    std::string value;
    if (equals != std::string::npos && option->value.empty()) {
      return Status::error(name + " takes no value, got '" +
                           argument.substr(equals + 1) + "'");
    }
    if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else if (!option->value.empty()) {
      if (++index == arguments.size()) {
        return Status::error(name + ": expected " + std::string(option->value) +
                             " after it, got nothing");
      }
      value = arguments[index];
    }
    if (Status status = option->set(options, value); !status.ok()) {
      return Status::error(name + ": " + status.message());
    }
  }
  options.init.seed = options.seed;
  if (Status status = checkComplete(options); !status.ok()) {
    return status;
  }
  return options;
}

std::string sfsdp::runtime::runHelp() {
  std::string text =
      "Trains a plan that simplefsdp-opt wrote.\n\n"
      "  simplefsdp-run [-n RANKS] STEP.plan.json --weights FILE "
      "--data FILE [options]\n\n";
  for (const Option &option : kOptions) {
    std::string left = "  " + std::string(option.name);
    if (!option.value.empty()) {
      left += " " + std::string(option.value);
    }
    left.resize(std::max<size_t>(left.size() + 2, 32), ' ');
    text += left + std::string(option.meaning) + "\n";
  }
  return text +
         "\nUnder torchrun, Slurm and mpirun leave out -n. Exit codes: 0 "
         "success, 1 bad input or a failed check, 2 wrong usage.\n";
}
