//===- PackedCarrierTest.cpp - Collectives on top of byte exchanges -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers are covered by the cases of every transport; here are the
// messages of ranks that disagree.
//
//===----------------------------------------------------------------------===//

#include "runtime/PackedCarrier.h"

#include "test/support/Transports.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using namespace sfsdp::test;
using namespace std::chrono_literals;

namespace {

Groups makePackedGroups(int size) {
  for (Transport &transport : transports()) {
    if (transport.name == "packed") {
      return transport.make(size, 10s);
    }
  }
  return {};
}

/// What each of two ranks is told when they start these calls.
std::vector<std::string> messagesOf(const CollectiveCall &first,
                                    const CollectiveCall &second) {
  Groups groups = makePackedGroups(2);
  std::vector<std::string> messages(2);
  onEveryRank(groups, [&](ProcessGroup &group) {
    std::vector<float> values(64, 1), results(64);
    CollectiveCall call = group.rank() == 0 ? first : second;
    for (CollectiveMember &member : call.members) {
      member.input = values.data();
      member.output = results.data();
    }
    Expected<std::unique_ptr<Work>> work = group.start(std::move(call));
    ASSERT_TRUE(work.ok()) << work.message();
    messages[group.rank()] = (*work)->wait().message();
  });
  return messages;
}

CollectiveCall callOf(CollectiveKind kind, int64_t input, int64_t output) {
  CollectiveCall call;
  call.kind = kind;
  call.label = "op 2";
  call.members = {{nullptr, nullptr, input, output, DType::Float32}};
  return call;
}

} // namespace

TEST(PackedCarrier, F56_NamesTheOtherRanksCollective) {
  std::vector<std::string> messages =
      messagesOf(callOf(CollectiveKind::AllReduce, 8, 8),
                 callOf(CollectiveKind::AllGather, 4, 8));
  EXPECT_EQ(messages[0],
            "op 2: ranks disagree on this collective: rank 0 has all_reduce of "
            "1 tensor as call 0, rank 1 has all_gather of 1 tensor as call 0; "
            "all ranks must run the same plan");
  EXPECT_EQ(messages[1],
            "op 2: ranks disagree on this collective: rank 1 has all_gather of "
            "1 tensor as call 0, rank 0 has all_reduce of 1 tensor as call 0; "
            "all ranks must run the same plan");
}

TEST(PackedCarrier, F56_DifferentSizesAndDivisorsAreFound) {
  std::string expected =
      "op 2: ranks disagree on this collective: rank 0 has all_reduce of 1 "
      "tensor as call 0, rank 1 has other counts, element types, divisor or "
      "order; all ranks must run the same plan";
  CollectiveCall usual = callOf(CollectiveKind::AllReduce, 8, 8);
  EXPECT_EQ(
      messagesOf(usual, callOf(CollectiveKind::AllReduce, 32, 32)).front(),
      expected);
  CollectiveCall divided = usual;
  divided.divisor = 2;
  EXPECT_EQ(messagesOf(usual, divided).front(), expected);
}
