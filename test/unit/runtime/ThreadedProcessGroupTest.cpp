//===- ThreadedProcessGroupTest.cpp - A lane thread for a CPU transport --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/ThreadedProcessGroup.h"

#include <condition_variable>
#include <gtest/gtest.h>
#include <mutex>

using namespace sfsdp::runtime;

namespace {

/// What the test sees and steers of a carrier that the group owns.
struct Script {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> carried; ///< labels, in order
  bool open = false;                ///< calls may complete
  std::string interrupted;
  std::string failOn; ///< label of the call that fails

  void letThrough() {
    std::lock_guard<std::mutex> lock(mutex);
    open = true;
    changed.notify_all();
  }
};

class ScriptedCarrier final : public Carrier {
public:
  explicit ScriptedCarrier(Script &script) : script(script) {}

  std::string_view transport() const override { return "scripted"; }

  Status carryOut(const CollectiveCall &call) override {
    std::unique_lock<std::mutex> lock(script.mutex);
    script.changed.wait(
        lock, [&] { return script.open || !script.interrupted.empty(); });
    script.carried.push_back(call.label);
    if (!script.interrupted.empty()) {
      return Status::error(script.interrupted);
    }
    return call.label == script.failOn ? Status::error("no link") : Status();
  }

  void interrupt(const std::string &reason) override {
    std::lock_guard<std::mutex> lock(script.mutex);
    script.interrupted = reason;
    script.changed.notify_all();
  }

  void settle() override {}

private:
  Script &script;
};

CollectiveCall callNamed(const std::string &label, float &value) {
  CollectiveCall call;
  call.label = label;
  call.members = {{&value, &value, 1, 1, DType::Float32}};
  return call;
}

class ThreadedProcessGroupTest : public ::testing::Test {
protected:
  std::unique_ptr<ProcessGroup> group(int size = 2) {
    return makeThreadedGroup(std::make_unique<ScriptedCarrier>(script), 0,
                             size);
  }

  Script script;
  float value = 1;
};

} // namespace

TEST_F(ThreadedProcessGroupTest, CarriesOutInIssueOrder) {
  auto lane = group();
  auto a = lane->start(callNamed("a", value));
  auto b = lane->start(callNamed("b", value));
  script.letThrough();
  EXPECT_TRUE((*b)->wait().ok());
  EXPECT_TRUE((*a)->wait().ok());
  EXPECT_EQ(script.carried, (std::vector<std::string>{"a", "b"}));
  EXPECT_LE((*a)->span().endNs, (*b)->span().beginNs);
}

TEST_F(ThreadedProcessGroupTest, AFailureEndsTheCallsBehindIt) {
  script.failOn = "a";
  auto lane = group();
  auto a = lane->start(callNamed("a", value));
  auto b = lane->start(callNamed("b", value));
  script.letThrough();
  EXPECT_EQ((*b)->wait().message(),
            "b: an earlier collective failed: a: no link");
  EXPECT_EQ((*a)->wait().message(), "a: no link");
  EXPECT_EQ(lane->start(callNamed("c", value)).message(),
            "c: an earlier collective failed: a: no link");
}

TEST_F(ThreadedProcessGroupTest, AnUnawaitedWorkIsWaitedFor) {
  auto lane = group();
  auto a = lane->start(callNamed("a", value));
  script.letThrough();
  a = Status::error("dropped");
  EXPECT_EQ(script.carried.size(), 1u);
}

TEST_F(ThreadedProcessGroupTest, DestructionEndsCallsUnderWay) {
  auto lane = group();
  auto a = lane->start(callNamed("a", value));
  lane.reset();
  EXPECT_EQ((*a)->wait().message(), "a: its process group was destroyed");
}

TEST_F(ThreadedProcessGroupTest, OneRankNeedsNoCarrier) {
  auto lane = group(/*size=*/1);
  float input = 3, output = 0;
  CollectiveCall call;
  call.kind = CollectiveKind::AllGather;
  call.members = {{&input, &output, 1, 1, DType::Float32}};
  auto work = lane->start(call);
  EXPECT_TRUE((*work)->wait().ok());
  EXPECT_EQ(output, 3);
  EXPECT_TRUE(script.carried.empty());
}

TEST_F(ThreadedProcessGroupTest, RefusesABadCall) {
  auto lane = group();
  CollectiveCall call = callNamed("op 5", value);
  call.members[0].outputCount = 2;
  EXPECT_EQ(lane->start(call).message(),
            "op 5: member 0: expected as many output as input elements, got 1 "
            "and 2");
  EXPECT_EQ(lane->traffic().calls[int(CollectiveKind::AllReduce)], 0);
}
