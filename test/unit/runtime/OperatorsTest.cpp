//===- OperatorsTest.cpp - Operators that a plan may call -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Operators.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;

TEST(Operators, PureTensorOperatorsAndTheirInPlaceForms) {
  OperatorList operators;
  EXPECT_TRUE(operators.allows("aten::mm"));
  EXPECT_TRUE(operators.allows("aten::add_"));
  EXPECT_TRUE(operators.allows("aten::copy_"));
  EXPECT_TRUE(operators.allows("aten::_to_copy"));
}

TEST(Operators, NothingThatTouchesFilesOrTheProcess) {
  OperatorList operators;
  for (const char *name :
       {"aten::from_file", "aten::save", "aten::set_", "aten::resize_",
        "aten::manual_seed", "aten::rand", "aten::dropout", "aten::item",
        "aten::_assert_async", "aten::mm__", "prim::Print", "mm", "mylib::foo",
        "aten::"}) {
    EXPECT_FALSE(operators.allows(name)) << name;
  }
}

TEST(Operators, TheUsersOwnBySchema) {
  OperatorList operators;
  EXPECT_TRUE(operators.allow("mylib::foo(Tensor x) -> Tensor").ok());
  EXPECT_TRUE(operators.allow("mylib::bar.out(Tensor x) -> Tensor").ok());
  EXPECT_TRUE(operators.allows("mylib::foo"));
  EXPECT_TRUE(operators.allows("mylib::bar"));
  EXPECT_EQ(operators.allow("foo").message(),
            "'foo' is no operator schema, expected \"namespace::name(Tensor x) "
            "-> Tensor\"");
}
