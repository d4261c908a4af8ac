//===- StatusTest.cpp - Result of an operation that can fail --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Status.h"

#include <gtest/gtest.h>
#include <memory>

using namespace sfsdp::runtime;

TEST(Status, DefaultIsSuccess) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(Status().message(), "");
}

TEST(Status, WithinNamesThePlaceOfAFailureOnly) {
  EXPECT_EQ(Status::error("too short").within("a.bin").message(),
            "a.bin: too short");
  EXPECT_TRUE(Status().within("a.bin").ok());
}

TEST(Expected, HoldsAMoveOnlyValue) {
  Expected<std::unique_ptr<int>> value(std::make_unique<int>(7));
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(*std::move(*value), 7);
}

TEST(Expected, HoldsTheFailure) {
  Expected<int> value(Status::error("no such file"));
  EXPECT_FALSE(value);
  EXPECT_EQ(value.message(), "no such file");
}
