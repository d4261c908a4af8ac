//===- CollectivesTest.cpp - The rules of a collective call --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Collectives.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace sfsdp::runtime;

namespace {

float buffers[2][64];

CollectiveCall callOf(CollectiveKind kind, int64_t inputCount,
                      int64_t outputCount) {
  CollectiveCall call;
  call.kind = kind;
  call.label = "op 1";
  call.members = {
      {buffers[0], buffers[1], inputCount, outputCount, DType::Float32}};
  return call;
}

std::string checked(const CollectiveCall &call) {
  return checkCall(call, /*groupSize=*/4).message();
}

} // namespace

TEST(CheckCall, AcceptsTheRules) {
  EXPECT_EQ(checked(callOf(CollectiveKind::AllGather, 3, 12)), "");
  EXPECT_EQ(checked(callOf(CollectiveKind::ReduceScatter, 9, 3)), "");
  EXPECT_EQ(checked(callOf(CollectiveKind::ReduceScatter, 0, 3)), "");
  EXPECT_EQ(checked(callOf(CollectiveKind::AllReduce, 7, 7)), "");
  EXPECT_EQ(checked(callOf(CollectiveKind::AllToAll, 8, 8)), "");
  EXPECT_EQ(checked(callOf(CollectiveKind::Broadcast, 5, 5)), "");
}

TEST(CheckCall, RefusesWrongCounts) {
  EXPECT_EQ(checked(callOf(CollectiveKind::AllGather, 3, 11)),
            "op 1: member 0: expected an output of 4 times the input elements, "
            "got 3 and 11");
  EXPECT_EQ(checked(callOf(CollectiveKind::ReduceScatter, 13, 3)),
            "op 1: member 0: expected at most 4 times the output elements as "
            "input, got 13 and 3");
  EXPECT_EQ(checked(callOf(CollectiveKind::AllToAll, 6, 6)),
            "op 1: member 0: expected input elements that 4 ranks divide, got "
            "6");
  EXPECT_EQ(checked(callOf(CollectiveKind::AllReduce, -1, -1)),
            "op 1: member 0: expected element counts of buffers, got -1 and "
            "-1");
}

TEST(CheckCall, RefusesWrongBuffers) {
  CollectiveCall call = callOf(CollectiveKind::AllGather, 3, 12);
  call.members[0].output = nullptr;
  EXPECT_EQ(checked(call), "op 1: member 0: expected an output buffer, got "
                           "null");
  call.members[0].output = buffers[0];
  EXPECT_EQ(checked(call), "op 1: member 0: input and output are the same "
                           "buffer, expected different ones");
  call.members.clear();
  EXPECT_EQ(checked(call), "op 1: expected at least one member, got none");
}

TEST(CheckCall, RefusesWrongDivisorsAndRoots) {
  CollectiveCall call = callOf(CollectiveKind::AllReduce, 3, 3);
  call.divisor = 0;
  EXPECT_EQ(checked(call),
            "op 1: expected a finite divisor above zero, got 0.000000");
  call.divisor = std::nan("");
  EXPECT_NE(checked(call), "");
  call.divisor = 2;
  call.members[0].dtype = DType::Int32;
  EXPECT_EQ(checked(call), "op 1: member 0: expected no divisor for element "
                           "type i32, got 2.000000");
  call = callOf(CollectiveKind::Broadcast, 3, 3);
  call.root = 4;
  EXPECT_EQ(checked(call), "op 1: expected a root below 4, got 4");
}

TEST(Collectives, CountsBytesOfEveryKind) {
  auto bytes = [](CollectiveKind kind, int64_t input, int64_t output) {
    return bytesReceived(callOf(kind, input, output), 4, 1);
  };
  EXPECT_EQ(bytes(CollectiveKind::AllGather, 3, 12), 3 * 3 * 4);
  EXPECT_EQ(bytes(CollectiveKind::ReduceScatter, 9, 3), 3 * 3 * 4);
  EXPECT_EQ(bytes(CollectiveKind::AllReduce, 9, 9), 2 * 3 * 3 * 4);
  EXPECT_EQ(bytes(CollectiveKind::AllToAll, 8, 8), 3 * 2 * 4);
  EXPECT_EQ(bytes(CollectiveKind::Broadcast, 5, 5), 5 * 4);
  EXPECT_EQ(
      bytesReceived(callOf(CollectiveKind::Broadcast, 5, 5), 4, /*rank=*/0), 0);
}

TEST(Collectives, FindsTheFirstDifference) {
  CollectiveCall first = callOf(CollectiveKind::AllReduce, 3, 3);
  CollectiveCall second = first;
  second.label = "another label";
  second.members[0].input = nullptr;
  EXPECT_FALSE(difference(first, second).any());

  second.divisor = 2;
  EXPECT_EQ(difference(first, second).what, "the divisor");
  second.members[0].dtype = DType::Float16;
  EXPECT_EQ(difference(first, second).what, "the element type of member 0");
  EXPECT_EQ(difference(first, second).second, "f16");
  second.members.push_back(first.members[0]);
  EXPECT_EQ(difference(first, second).what, "the number of members");
  second.kind = CollectiveKind::AllGather;
  EXPECT_EQ(difference(first, second).what, "the kind");
  EXPECT_EQ(difference(first, second).second, "all_gather");
}

TEST(Collectives, OneRankCopiesAndDivides) {
  float input[3] = {3, 6, 9};
  float output[4] = {-1, -1, -1, -1};
  CollectiveCall call;
  call.kind = CollectiveKind::ReduceScatter;
  call.divisor = 3;
  call.members = {{input, output, 3, 4, DType::Float32}};
  carryOutAlone(call);
  EXPECT_EQ(output[0], 1);
  EXPECT_EQ(output[2], 3);
  EXPECT_EQ(output[3], 0) << "the tail of the chunk is zero";
}
