//===- LearningRateTest.cpp - The learning rate of each step --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/LearningRate.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;

namespace {
LearningRate rateOf(const std::string &text) {
  LearningRate rate;
  rate.base = 0.5;
  EXPECT_EQ(parseSchedule(text, rate).message(), "");
  return rate;
}

std::string errorOf(const std::string &text) {
  LearningRate rate;
  return parseSchedule(text, rate).message();
}
} // namespace

TEST(LearningRate, Constant) {
  EXPECT_EQ(rateOf("constant").at(1), 0.5);
  EXPECT_EQ(rateOf("constant").at(1000), 0.5);
}

TEST(LearningRate, WarmsUpThenFallsLinearly) {
  LearningRate rate = rateOf("linear:warmup=2,steps=6,min=0.5");
  EXPECT_EQ(rate.at(1), 0.25);
  EXPECT_EQ(rate.at(2), 0.5);
  EXPECT_EQ(rate.at(4), 0.5 * (0.5 + 0.5 * 0.5));
  EXPECT_EQ(rate.at(6), 0.25);
  EXPECT_EQ(rate.at(7), 0.25);
}

TEST(LearningRate, FallsAlongACosine) {
  LearningRate rate = rateOf("cosine:steps=4");
  EXPECT_NEAR(rate.at(2), 0.25, 1e-15);
  EXPECT_EQ(rate.at(4), 0);
  EXPECT_EQ(rate.at(400), 0);
}

TEST(LearningRate, ConstantWarmsUpToo) {
  EXPECT_EQ(rateOf("constant:warmup=2").at(1), 0.25);
  EXPECT_EQ(rateOf("constant:warmup=2").at(3), 0.5);
}

TEST(LearningRate, UnknownSchedule) {
  EXPECT_EQ(errorOf("step"), "expected constant, cosine:steps=K or "
                             "linear:steps=K, got 'step'");
}

TEST(LearningRate, ErrorsNameTheKey) {
  EXPECT_EQ(errorOf("cosine:steps=4,max=2"),
            "unknown key 'max', expected warmup=W, steps=K or min=R");
  EXPECT_EQ(errorOf("linear:steps=x"),
            "key 'steps': expected steps=K with a whole number of steps, at "
            "least 1, got 'steps=x'");
  EXPECT_EQ(errorOf("linear:steps"),
            "key 'steps': expected steps=K with a whole number of steps, at "
            "least 1, got 'steps'");
  EXPECT_EQ(errorOf("linear:warmup=-1,steps=2"),
            "key 'warmup': expected warmup=W with a whole number of steps, at "
            "least 0, got 'warmup=-1'");
  EXPECT_EQ(errorOf("cosine:steps=2,min=2"),
            "key 'min': expected min=R with a fraction of the base rate, from "
            "0 to 1, got 'min=2'");
  EXPECT_EQ(errorOf("constant:steps=4"),
            "key 'steps': constant has none, expected constant or "
            "constant:warmup=W");
}

TEST(LearningRate, WhatFallsNeedsAnEnd) {
  EXPECT_EQ(errorOf("cosine:warmup=3"),
            "key 'steps' is missing: expected steps=K, the step at which the "
            "rate stops falling, got 'cosine:warmup=3'");
  EXPECT_EQ(errorOf("linear:warmup=4,steps=4"),
            "key 'steps': expected more than the warmup of 4 steps, got 4");
}
