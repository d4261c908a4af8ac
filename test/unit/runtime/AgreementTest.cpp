//===- AgreementTest.cpp - All ranks were started alike -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Agreement.h"

#include "runtime/RankList.h"

#include <gtest/gtest.h>
#include <thread>

using namespace sfsdp::runtime;
using namespace std::chrono_literals;

namespace {

/// What every rank of `records` hears; absent records are ranks that never
/// come.
std::vector<std::string>
verdicts(const std::vector<std::optional<AgreementRecord>> &records,
         std::chrono::milliseconds timeout) {
  auto store = makeMemoryStore();
  std::vector<std::string> messages(records.size());
  std::vector<std::thread> threads;
  for (size_t rank = 0; rank < records.size(); ++rank) {
    if (records[rank]) {
      threads.emplace_back([&, rank] {
        messages[rank] = agree(*store, int(rank), int(records.size()),
                               *records[rank], timeout)
                             .message();
      });
    }
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  return messages;
}

} // namespace

TEST(Agreement, EqualRecordsAgree) {
  AgreementRecord record = {{"plan", "ab:12"}, {"lr", ""}};
  for (const std::string &message : verdicts({record, record, record}, 10s)) {
    EXPECT_EQ(message, "");
  }
  auto store = makeMemoryStore();
  EXPECT_TRUE(agree(*store, 0, 1, record, 0ms).ok());
}

// The digest of the plan is one of the fields, so ranks whose plans yield other
// gradients never start.
TEST(Agreement, F16_NamesFieldRanksAndValuesOnEveryRank) {
  AgreementRecord usual = {{"plan", "3f2a"}, {"steps", "10"}, {"lr", "0.1"}};
  AgreementRecord other = {{"plan", "77c0"}, {"steps", "10"}, {"lr", "0.2"}};
  for (const std::string &message :
       verdicts({usual, other, usual, other}, 10s)) {
    EXPECT_EQ(message,
              "ranks disagree on plan (ranks 0 and 2 have '3f2a', ranks 1 and "
              "3 have '77c0'); lr (ranks 0 and 2 have '0.1', ranks 1 and 3 "
              "have '0.2'); start all ranks with the same options");
  }
}

TEST(Agreement, NamesRanksThatDidNotJoin) {
  AgreementRecord record = {{"plan", "3f2a"}};
  std::vector<std::string> messages = verdicts({record, {}, record, {}}, 50ms);
  EXPECT_EQ(messages[0], "ranks 1 and 3 did not join within 50 ms");
  EXPECT_EQ(messages[2], messages[0]);
}

TEST(Agreement, RefusesRecordsOfAnotherProgram) {
  EXPECT_EQ(compareRecords({{{"lr", "1"}}, {{"steps", "1"}}}).message(),
            "rank 0 and rank 1 compare different fields, expected the same "
            "program on all ranks");
}

TEST(Agreement, DamagedRecordIsAnError) {
  auto store = makeMemoryStore();
  EXPECT_TRUE(store->set("agree/rank/1", "99:short").ok());
  EXPECT_EQ(agree(*store, 0, 2, {{"lr", "1"}}, 1s).message(),
            "rank 1: a record in the store is damaged");
}

TEST(RankList, NamesRanks) {
  EXPECT_EQ(nameRanks({2}), "rank 2");
  EXPECT_EQ(nameRanks({0, 2, 3}), "ranks 0, 2 and 3");
  EXPECT_EQ(nameRanks({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}),
            "ranks 0, 1, 2, 3, 4, 5, 6, 7, …");
}
