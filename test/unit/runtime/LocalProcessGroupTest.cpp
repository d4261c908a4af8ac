//===- LocalProcessGroupTest.cpp - Ranks as threads of one process -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/LocalProcessGroup.h"

#include "test/support/Elements.h"
#include "test/support/Transports.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using namespace sfsdp::test;
using namespace std::chrono_literals;

namespace {

/// The mean over `ranks` ranks that all hold `value`, reduced in `type`.
std::vector<double> meanOver(int ranks, DType type, double value) {
  Groups groups = makeLocalGroups(ranks, 60s);
  std::vector<double> means(ranks);
  onEveryRank(groups, [&](ProcessGroup &group) {
    Elements gradient(type, 1);
    gradient.setPart(0, value);
    CollectiveCall call;
    call.kind = CollectiveKind::AllReduce;
    call.divisor = ranks;
    call.members = {{gradient.data(), gradient.data(), 1, 1, type}};
    Expected<std::unique_ptr<Work>> work = group.start(std::move(call));
    ASSERT_TRUE(work.ok()) << work.message();
    ASSERT_TRUE((*work)->wait().ok());
    means[group.rank()] = gradient.part(0);
  });
  return means;
}

std::string messageOf(ProcessGroup &group, CollectiveCall call) {
  Expected<std::unique_ptr<Work>> work = group.start(std::move(call));
  return work.ok() ? (*work)->wait().message() : work.message();
}

} // namespace

// Division after the sum alone would give infinity: 64 * 2000 > 65504.
TEST(LocalProcessGroup, F11_HalfPrecisionDoesNotOverflow) {
  for (double mean : meanOver(64, DType::Float16, 2000)) {
    EXPECT_EQ(mean, 2000);
  }
}

// Division before the sum alone would give zero: 1e-6 / 64 < 2^-25.
TEST(LocalProcessGroup, F11_HalfPrecisionDoesNotUnderflow) {
  for (double mean : meanOver(64, DType::Float16, 1e-6)) {
    EXPECT_NEAR(mean, 1e-6, 6e-8);
  }
}

TEST(LocalProcessGroup, F11_SinglePrecisionDividesOnce) {
  float sum = 0;
  for (int rank = 0; rank < 48; ++rank) {
    sum += 1e-6f;
  }
  for (double mean : meanOver(48, DType::Float32, 1e-6)) {
    EXPECT_EQ(mean, double(sum / 48));
  }
}

TEST(LocalProcessGroup, NamesTheRanksThatAreMissing) {
  Groups groups = makeLocalGroups(4, 100ms);
  onEveryRank(groups, [&](ProcessGroup &group) {
    if (group.rank() % 2 == 1) {
      return;
    }
    float value = 1;
    CollectiveCall call;
    call.label = "step 1, op 2";
    call.members = {{&value, &value, 1, 1, DType::Float32}};
    EXPECT_EQ(messageOf(group, call),
              "step 1, op 2: ranks 1 and 3 did not arrive within 100 ms; "
              "raise --timeout if it is only slow");
  });
}

TEST(LocalProcessGroup, F56_NamesWhatRanksDisagreeOn) {
  Groups groups = makeLocalGroups(3, 5s);
  onEveryRank(groups, [&](ProcessGroup &group) {
    int64_t count = group.rank() == 2 ? 32 : 16;
    std::vector<float> values(count, 1.0f);
    CollectiveCall call;
    call.label = "op 9";
    call.members = {
        {values.data(), values.data(), count, count, DType::Float32}};
    EXPECT_EQ(messageOf(group, call),
              "op 9: ranks disagree on the input elements of member 0: rank 0 "
              "has 16, rank 2 has 32; all ranks must run the same plan");
  });
}

TEST(LocalProcessGroup, ALeavingRankEndsTheWaitOfTheOthers) {
  Groups groups = makeLocalGroups(2, 60s);
  float value = 1;
  CollectiveCall call;
  call.label = "op 1";
  call.members = {{&value, &value, 1, 1, DType::Float32}};
  Expected<std::unique_ptr<Work>> work = groups[0]->start(call);
  ASSERT_TRUE(work.ok());
  groups[1].reset();
  EXPECT_EQ((*work)->wait().message(), "op 1: rank 1 has left the group");
}

TEST(LocalProcessGroup, AnAbortReachesTheOtherRanks) {
  Groups groups = makeLocalGroups(2, 60s);
  groups[1]->abort("loss is not a number");
  float value = 1;
  CollectiveCall call;
  call.label = "op 1";
  call.members = {{&value, &value, 1, 1, DType::Float32}};
  EXPECT_EQ(messageOf(*groups[0], call),
            "op 1: rank 1 aborted: loss is not a number");
}
