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
            "--backend nccl is not part of this build; use gloo");
  EXPECT_EQ(errorOf({"--device", "cuda"}), "--device takes cpu, got 'cuda'");
}

TEST(RunOptions, ValuesAreChecked) {
  EXPECT_EQ(errorOf({"--steps", "-1"}), "--steps takes K, got '-1'");
  EXPECT_EQ(errorOf({"--lr", "fast"}), "--lr takes RATE, got 'fast'");
  EXPECT_EQ(errorOf({"--steps"}), "--steps takes K");
  EXPECT_EQ(errorOf({"--data", "a", "--data", "b"}), "--data takes one file");
  EXPECT_NE(errorOf({"--init", "uniform"}), "");
}

TEST(RunOptions, NumbersThatCannotBeMeantAreErrors) {
  EXPECT_EQ(errorOf({"--lr", "inf"}), "--lr takes RATE, got 'inf'");
  EXPECT_EQ(errorOf({"--lr", "nan"}), "--lr takes RATE, got 'nan'");
  EXPECT_EQ(errorOf({"--timeout", "1000000"}), "");
  for (const char *seconds : {"1000001", "9223372036854775807", "0"}) {
    EXPECT_EQ(errorOf({"--timeout", seconds}),
              "--timeout takes SECONDS, got '" + std::string(seconds) + "'");
  }
  EXPECT_EQ(errorOf({"--threads", "1024"}), "");
  EXPECT_EQ(errorOf({"--threads", "100000"}),
            "--threads takes 1…1024, got '100000'");
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
  EXPECT_EQ(errorOf({"--backend", "gloo", "--check-against", "r.plan.json"}),
            "--check-against runs all ranks in one process, expected --backend "
            "local");
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
