//===- RunOptionsTest.cpp - The command line of simplefsdp-run ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/RunOptions.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;

namespace {
std::string errorOf(std::vector<std::string> extra) {
  std::vector<std::string> arguments = {"a.plan.json", "--weights", "a.pt2"};
  arguments.insert(arguments.end(), extra.begin(), extra.end());
  return parseRunOptions(arguments).message();
}
} // namespace

TEST(RunOptions, AreRead) {
  auto options = parseRunOptions({"-n",
                                  "4",
                                  "a.plan.json",
                                  "--weights=a.pt2",
                                  "--weights",
                                  "b",
                                  "--data",
                                  "d.bin",
                                  "--steps",
                                  "20",
                                  "--lr",
                                  "3e-3",
                                  "--lr-schedule",
                                  "cosine:steps=20",
                                  "--seed",
                                  "5",
                                  "--backend",
                                  "gloo",
                                  "--timeout",
                                  "9",
                                  "--data-dtype",
                                  "u32",
                                  "--debug-fill",
                                  "nan",
                                  "--unproved"});
  ASSERT_TRUE(options) << options.message();
  EXPECT_EQ(options->localRanks, 4);
  EXPECT_EQ(options->plan, "a.plan.json");
  EXPECT_EQ(options->weights, (std::vector<std::string>{"a.pt2", "b"}));
  EXPECT_EQ(options->steps, 20);
  EXPECT_EQ(options->lr.at(20), 0);
  EXPECT_EQ(options->init.seed, 5u);
  EXPECT_EQ(options->backend, Backend::Gloo);
  EXPECT_EQ(options->timeout, std::chrono::seconds(9));
  EXPECT_EQ(options->dataType, TokenType::U32);
  EXPECT_EQ(options->fill, DebugFill::Nan);
  EXPECT_TRUE(options->unproved);
}

TEST(RunOptions, EveryBackendHasAName) {
  using Named = std::pair<const char *, Backend>;
  for (auto [name, backend] :
       {Named("auto", Backend::Auto), Named("local", Backend::Local),
        Named("shm", Backend::Shm), Named("gloo", Backend::Gloo)}) {
    auto options =
        parseRunOptions({"a.plan.json", "--init", "zeros", "--backend", name});
    ASSERT_TRUE(options) << options.message();
    EXPECT_EQ(options->backend, backend) << name;
  }
}

TEST(RunOptions, UnknownOnesAreErrors) {
  EXPECT_EQ(errorOf({"--speed", "high"}),
            "unknown option --speed; simplefsdp-run --help lists all");
  EXPECT_EQ(errorOf({"b.plan.json"}),
            "expected one plan, got 'a.plan.json' and 'b.plan.json'");
}

TEST(RunOptions, WhatIsNotBuiltIsRefusedByName) {
  EXPECT_EQ(errorOf({"--resume", "dir"}),
            "--resume is not part of this build yet");
  EXPECT_EQ(errorOf({"--backend", "nccl"}),
            "--backend: nccl is not part of this build; use shm or gloo");
  EXPECT_EQ(errorOf({"--device", "cuda"}),
            "--device: expected cpu, got 'cuda'");
}

TEST(RunOptions, ValuesAreChecked) {
  for (const char *steps : {"0", "-1", "1.5", "all", ""}) {
    EXPECT_EQ(errorOf({"--steps", steps}),
              "--steps: expected a whole number of at least 1, got '" +
                  std::string(steps) + "'");
  }
  EXPECT_EQ(errorOf({"-n", "0"}),
            "-n: expected a whole number of at least 1, got '0'");
  EXPECT_EQ(errorOf({"--lr", "fast"}),
            "--lr: expected a number of at least 0, got 'fast'");
  EXPECT_EQ(errorOf({"--seed", "-1"}),
            "--seed: expected a whole number from 0 to 18446744073709551615, "
            "got '-1'");
  EXPECT_EQ(errorOf({"--steps"}), "--steps: expected K after it, got nothing");
  EXPECT_EQ(errorOf({"--data", "a", "--data", "b"}),
            "--data: expected one file, got 'a' and 'b'");
  EXPECT_EQ(errorOf({"--data="}), "--data: expected a file, got ''");
  EXPECT_EQ(errorOf({"--weights="}),
            "--weights: expected a file or a folder, got ''");
  EXPECT_EQ(errorOf({"--init", "uniform"}),
            "--init: expected 'zeros' or 'normal:STD', got 'uniform'");
  EXPECT_EQ(errorOf({"--backend", "tcp"}),
            "--backend: expected auto, local, shm or gloo, got 'tcp'");
  EXPECT_EQ(errorOf({"--data-dtype", "i8"}),
            "--data-dtype: expected u16 or u32, got 'i8'");
  EXPECT_EQ(errorOf({"--debug-fill", "0"}),
            "--debug-fill: expected nan, got '0'");
  EXPECT_EQ(errorOf({"--allow-op", "scale"}).substr(0, 42),
            "--allow-op: 'scale' is no operator schema,");
  EXPECT_EQ(errorOf({"--lr-schedule", "cosine"}),
            "--lr-schedule: key 'steps' is missing: expected steps=K, the step "
            "at which the rate stops falling, got 'cosine'");
}

TEST(RunOptions, NumbersThatCannotBeMeantAreErrors) {
  EXPECT_EQ(errorOf({"--lr", "inf"}),
            "--lr: expected a number of at least 0, got 'inf'");
  EXPECT_EQ(errorOf({"--lr", "nan"}),
            "--lr: expected a number of at least 0, got 'nan'");
  EXPECT_EQ(errorOf({"--timeout", "1000000"}), "");
  for (const char *seconds : {"1000001", "9223372036854775807", "0"}) {
    EXPECT_EQ(errorOf({"--timeout", seconds}),
              "--timeout: expected 1 to 1000000 seconds, got '" +
                  std::string(seconds) + "'");
  }
  EXPECT_EQ(errorOf({"--threads", "1024"}), "");
  for (const char *threads : {"0", "100000"}) {
    EXPECT_EQ(errorOf({"--threads", threads}),
              "--threads: expected a whole number from 1 to 1024, got '" +
                  std::string(threads) + "'");
  }
}

TEST(RunOptions, FlagsTakeNoValue) {
  EXPECT_EQ(errorOf({"--unproved=no"}), "--unproved takes no value, got 'no'");
  EXPECT_EQ(errorOf({"--help="}), "--help takes no value, got ''");
}

TEST(RunOptions, PlanAndWeightsAreNeeded) {
  EXPECT_NE(parseRunOptions({}).message().find("expected a plan"),
            std::string::npos);
  EXPECT_EQ(parseRunOptions({"a.plan.json"}).message(),
            "expected --weights FILE, --init SPEC, or both");
  for (const char *backend : {"shm", "gloo"}) {
    EXPECT_EQ(errorOf({"--backend", backend, "--check-against", "r.plan.json"}),
              "--check-against runs all ranks in one process, expected "
              "--backend local");
  }
}

TEST(RunOptions, HelpNamesEveryOptionThatWorks) {
  std::string help = runHelp();
  for (const char *name : {"-n",
                           "--weights",
                           "--init",
                           "--data",
                           "--steps",
                           "--lr",
                           "--lr-schedule",
                           "--seed",
                           "--backend",
                           "--device",
                           "--threads",
                           "--timeout",
                           "--data-dtype",
                           "--unproved",
                           "--allow-op",
                           "--save-weights",
                           "--metrics",
                           "--trace",
                           "--report",
                           "--dump",
                           "--check-against"}) {
    EXPECT_NE(help.find(std::string("  ") + name + " "), std::string::npos)
        << name;
  }
}
