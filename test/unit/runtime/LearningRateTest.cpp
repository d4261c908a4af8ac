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

TEST(LearningRate, WhatCannotBeRead) {
  EXPECT_EQ(errorOf("step"),
            "expected constant, cosine:… or linear:…, got 'step'");
  EXPECT_EQ(errorOf("cosine:steps=4,max=2"),
            "expected warmup=STEPS, steps=STEPS or min=FRACTION, got 'max=2'");
  EXPECT_EQ(errorOf("cosine"), "'cosine' needs steps=K, more than its warmup");
  EXPECT_NE(errorOf("linear:steps=x"), "");
}
