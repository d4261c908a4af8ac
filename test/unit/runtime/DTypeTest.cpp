//===- DTypeTest.cpp - Element types --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/DType.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;

TEST(DType, EveryNameAndCodeComesBack) {
  for (int i = 0; i < kDTypeCount; ++i) {
    DType type = static_cast<DType>(i);
    EXPECT_EQ(dtypeFromName(nameOf(type)), type);
    EXPECT_EQ(dtypeFromSafetensorsName(safetensorsNameOf(type)), type);
    EXPECT_EQ(dtypeFromTorchCode(torchCodeOf(type)), type);
  }
}

TEST(DType, KnowsTheCodesOfExportArchives) {
  EXPECT_EQ(dtypeFromExportCode(7), DType::Float32);
  EXPECT_EQ(dtypeFromExportCode(13), DType::BFloat16);
  EXPECT_EQ(dtypeFromExportCode(5), DType::Int64);
  EXPECT_EQ(dtypeFromExportCode(29), std::nullopt); // float8
}

TEST(DType, ClassifiesEveryType) {
  EXPECT_TRUE(isFloatingPoint(DType::BFloat16));
  EXPECT_FALSE(isFloatingPoint(DType::Complex64));
  EXPECT_TRUE(isIntegral(DType::Bool));
  EXPECT_TRUE(isComplex(DType::Complex128));
  EXPECT_EQ(byteSize(DType::Complex64), 8);
}
