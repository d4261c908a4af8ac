//===- ProcessGroupTest.cpp - The same cases for every transport ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled into one test binary per transport. Expected values come from naive
// loops over single elements (test/support/Elements.h).
//
//===----------------------------------------------------------------------===//

#include "runtime/ProcessGroup.h"

#include "test/support/Elements.h"
#include "test/support/Transports.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using namespace sfsdp::test;
using namespace std::chrono_literals;

namespace {

constexpr int64_t kCounts[] = {0, 1, 5, 1000};

class ProcessGroupTest
    : public ::testing::TestWithParam<std::tuple<Transport, int>> {
protected:
  int size() const { return std::get<int>(GetParam()); }
  Groups makeGroups(std::chrono::milliseconds timeout = 60s) const {
    return std::get<Transport>(GetParam()).make(size(), timeout);
  }
};

CollectiveMember memberOf(const Elements &input, Elements &output, DType type) {
  return {input.data(), output.data(), input.count(), output.count(), type};
}

void expectSuccess(ProcessGroup &group, CollectiveCall call) {
  Expected<std::unique_ptr<Work>> work = group.start(std::move(call));
  ASSERT_TRUE(work.ok()) << work.message();
  Status status = (*work)->wait();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_LE((*work)->span().beginNs, (*work)->span().endNs);
}

/// One tensor of a collective on all ranks: inputs, outputs, expected outputs.
struct Tensor {
  DType type;
  std::vector<Elements> inputs;
  std::vector<Elements> outputs;
  std::vector<Elements> expected;

  Tensor(DType type, int ranks, int64_t inputCount, int64_t outputCount,
         uint32_t seed)
      : type(type) {
    for (int rank = 0; rank < ranks; ++rank) {
      inputs.emplace_back(type, inputCount);
      inputs.back().randomize(seed + 100 * rank);
      outputs.emplace_back(type, outputCount);
      outputs.back().poison();
      expected.emplace_back(type, outputCount);
    }
  }

  CollectiveMember member(int rank) {
    return memberOf(inputs[rank], outputs[rank], type);
  }

  int parts() const { return isComplex(type) ? 2 : 1; }

  void expectSum(int rank, int64_t from, int64_t to, double divisor) {
    std::vector<const Elements *> values;
    for (const Elements &input : inputs) {
      values.push_back(&input);
    }
    for (int64_t part = 0; part < parts(); ++part) {
      setNaiveSum(values, from * parts() + part, type, divisor, expected[rank],
                  to * parts() + part);
    }
  }

  void expectCopy(int source, int64_t from, int rank, int64_t to) {
    int64_t bytes = byteSize(type);
    std::memcpy(static_cast<char *>(expected[rank].data()) + to * bytes,
                inputs[source].data(from), bytes);
  }
};

Tensor gatherTensor(DType type, int ranks, int64_t count, uint32_t seed) {
  Tensor tensor(type, ranks, count, ranks * count, seed);
  for (int rank = 0; rank < ranks; ++rank) {
    for (int64_t i = 0; i < ranks * count; ++i) {
      tensor.expectCopy(i / count, i % count, rank, i);
    }
  }
  return tensor;
}

double divisorFor(DType type, int ranks) {
  return isIntegral(type) ? 1 : ranks;
}

Tensor scatterTensor(DType type, int ranks, int64_t count, double divisor,
                     uint32_t seed) {
  int64_t chunk = (count + ranks - 1) / ranks;
  Tensor tensor(type, ranks, count, chunk, seed);
  for (int64_t i = 0; i < count; ++i) {
    tensor.expectSum(i / chunk, i, i % chunk, divisor);
  }
  return tensor;
}

Tensor reduceTensor(DType type, int ranks, int64_t count, double divisor,
                    uint32_t seed) {
  Tensor tensor(type, ranks, count, count, seed);
  for (int rank = 0; rank < ranks; ++rank) {
    for (int64_t i = 0; i < count; ++i) {
      tensor.expectSum(rank, i, i, divisor);
    }
  }
  return tensor;
}

Tensor transposeTensor(DType type, int ranks, int64_t count, uint32_t seed) {
  Tensor tensor(type, ranks, ranks * count, ranks * count, seed);
  for (int rank = 0; rank < ranks; ++rank) {
    for (int64_t i = 0; i < ranks * count; ++i) {
      tensor.expectCopy(i / count, rank * count + i % count, rank, i);
    }
  }
  return tensor;
}

Tensor tensorFor(CollectiveKind kind, DType type, int ranks, int64_t count,
                 double divisor, uint32_t seed) {
  switch (kind) {
  case CollectiveKind::AllGather:
    return gatherTensor(type, ranks, count, seed);
  case CollectiveKind::ReduceScatter:
    return scatterTensor(type, ranks, count, divisor, seed);
  case CollectiveKind::AllReduce:
    return reduceTensor(type, ranks, count, divisor, seed);
  case CollectiveKind::AllToAll:
    return transposeTensor(type, ranks, count, seed);
  case CollectiveKind::Broadcast:
    break;
  }
  Tensor tensor(type, ranks, count, count, seed);
  for (int rank = 0; rank < ranks; ++rank) {
    for (int64_t i = 0; i < count; ++i) {
      tensor.expectCopy(ranks - 1, i, rank, i);
    }
  }
  return tensor;
}

constexpr CollectiveKind kKinds[] = {
    CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
    CollectiveKind::AllReduce, CollectiveKind::AllToAll,
    CollectiveKind::Broadcast};

/// Runs `tensors` as one bucket on all ranks and compares.
void expectBucket(Groups &groups, CollectiveKind kind, double divisor,
                  std::vector<Tensor> &tensors) {
  onEveryRank(groups, [&](ProcessGroup &group) {
    CollectiveCall call;
    call.kind = kind;
    call.divisor = divisor;
    call.root = group.size() - 1;
    for (Tensor &tensor : tensors) {
      call.members.push_back(tensor.member(group.rank()));
    }
    expectSuccess(group, std::move(call));
  });
  for (Tensor &tensor : tensors) {
    for (size_t rank = 0; rank < groups.size(); ++rank) {
      EXPECT_TRUE(tensor.outputs[rank] == tensor.expected[rank])
          << nameOf(kind) << " of " << tensor.inputs[0].count() << " "
          << nameOf(tensor.type) << ", rank " << rank;
    }
  }
}

} // namespace

TEST_P(ProcessGroupTest, KnowsItsPlace) {
  Groups groups = makeGroups();
  for (int rank = 0; rank < size(); ++rank) {
    EXPECT_EQ(groups[rank]->rank(), rank);
    EXPECT_EQ(groups[rank]->size(), size());
    std::string name = std::get<Transport>(GetParam()).name;
    EXPECT_EQ(groups[rank]->transport(), name.substr(0, name.find('_')));
  }
}

// Bool, 64-bit integers, 16-bit floats, complex numbers and empty messages.
TEST_P(ProcessGroupTest, F57_CarriesEveryTypeAndCount) {
  Groups groups = makeGroups();
  for (CollectiveKind kind : kKinds) {
    for (DType type : allTypes()) {
      double divisor = divisorFor(type, size());
      for (int64_t count : kCounts) {
        std::vector<Tensor> tensors;
        tensors.push_back(
            tensorFor(kind, type, size(), count, divisor, uint32_t(count)));
        expectBucket(groups, kind, divisor, tensors);
      }
    }
  }
}

// The naive values of each member do not know of the bucket, so equality with
// them is equality with the member alone.
TEST_P(ProcessGroupTest, BucketEqualsItsMembersAlone) {
  Groups groups = makeGroups();
  for (CollectiveKind kind : kKinds) {
    double divisor = size();
    std::vector<Tensor> tensors;
    uint32_t seed = 0;
    for (DType type : {DType::Float32, DType::BFloat16, DType::Float64,
                       DType::Float16, DType::Complex64}) {
      for (int64_t count : {7, 0, 64, 1}) {
        tensors.push_back(
            tensorFor(kind, type, size(), count, divisor, ++seed));
      }
    }
    expectBucket(groups, kind, divisor, tensors);
  }
}

TEST_P(ProcessGroupTest, MixesElementSizesInOneBucket) {
  Groups groups = makeGroups();
  std::vector<Tensor> tensors;
  for (DType type : {DType::Bool, DType::Float64, DType::UInt8,
                     DType::Complex128, DType::Int16}) {
    tensors.push_back(gatherTensor(type, size(), 3, 9));
  }
  expectBucket(groups, CollectiveKind::AllGather, 1, tensors);
}

TEST_P(ProcessGroupTest, AllReduceInPlace) {
  Groups groups = makeGroups();
  Tensor tensor = reduceTensor(DType::BFloat16, size(), 37, size(), 4);
  onEveryRank(groups, [&](ProcessGroup &group) {
    Elements &values = tensor.inputs[group.rank()];
    CollectiveCall call;
    call.kind = CollectiveKind::AllReduce;
    call.divisor = size();
    call.members = {memberOf(values, values, DType::BFloat16)};
    expectSuccess(group, std::move(call));
  });
  for (int rank = 0; rank < size(); ++rank) {
    EXPECT_TRUE(tensor.inputs[rank] == tensor.expected[rank]) << rank;
  }
}

TEST_P(ProcessGroupTest, BroadcastTakesEveryRootAndNoInputElsewhere) {
  Groups groups = makeGroups();
  for (int root = 0; root < size(); ++root) {
    std::vector<Elements> outputs(size(), Elements(DType::Int64, 3));
    Elements input(DType::Int64, 3);
    input.randomize(root + 1);
    onEveryRank(groups, [&](ProcessGroup &group) {
      CollectiveCall call;
      call.kind = CollectiveKind::Broadcast;
      call.root = root;
      CollectiveMember member =
          memberOf(input, outputs[group.rank()], DType::Int64);
      if (group.rank() != root) {
        member.input = nullptr;
      }
      call.members = {member};
      expectSuccess(group, std::move(call));
    });
    for (const Elements &output : outputs) {
      EXPECT_TRUE(output == input) << root;
    }
  }
}

// One thread plays all ranks: it could not if start waited for a peer.
TEST_P(ProcessGroupTest, StartDoesNotWaitForPeers) {
  Groups groups = makeGroups();
  std::vector<Tensor> tensors;
  for (uint32_t seed = 0; seed < 4; ++seed) {
    tensors.push_back(gatherTensor(DType::Float32, size(), 10, seed));
  }
  std::vector<std::unique_ptr<Work>> works;
  for (auto &group : groups) {
    for (Tensor &tensor : tensors) {
      CollectiveCall call;
      call.kind = CollectiveKind::AllGather;
      call.members = {tensor.member(group->rank())};
      Expected<std::unique_ptr<Work>> work = group->start(std::move(call));
      ASSERT_TRUE(work.ok()) << work.message();
      works.push_back(*std::move(work));
    }
  }
  for (auto &work : works) {
    EXPECT_TRUE(work->wait().ok());
  }
  for (Tensor &tensor : tensors) {
    EXPECT_TRUE(tensor.outputs == tensor.expected);
  }
}

// Buckets of different sizes under way at once, over staging buffers that are
// reused, into outputs full of NaN.
TEST_P(ProcessGroupTest, F20_BucketsInFlightKeepTheirData) {
  Groups groups = makeGroups();
  std::vector<Tensor> tensors;
  for (uint32_t i = 0; i < 8; ++i) {
    tensors.push_back(scatterTensor(DType::Float32, size(),
                                    i % 2 == 0 ? 5000 : 11, size(), i));
  }
  onEveryRank(groups, [&](ProcessGroup &group) {
    std::vector<std::unique_ptr<Work>> works;
    for (Tensor &tensor : tensors) {
      CollectiveCall call;
      call.kind = CollectiveKind::ReduceScatter;
      call.divisor = size();
      call.members = {tensor.member(group.rank())};
      Expected<std::unique_ptr<Work>> work = group.start(std::move(call));
      ASSERT_TRUE(work.ok()) << work.message();
      works.push_back(*std::move(work));
    }
    for (auto &work : works) {
      EXPECT_TRUE(work->wait().ok());
    }
  });
  for (Tensor &tensor : tensors) {
    EXPECT_TRUE(tensor.outputs == tensor.expected);
  }
}

// Local gradients 1, 3 average to 2; 1, 2, 6 to 3; never to their sum.
TEST_P(ProcessGroupTest, F09_AverageDividesOnce) {
  std::vector<float> gradients = {1, 3};
  if (size() == 3) {
    gradients = {1, 2, 6};
  } else if (size() != 2) {
    GTEST_SKIP() << "the case is about 2 and 3 ranks";
  }
  float mean = size() == 2 ? 2 : 3;
  Groups groups = makeGroups();
  onEveryRank(groups, [&](ProcessGroup &group) {
    for (int members : {1, 3}) {
      for (CollectiveKind kind :
           {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter}) {
        bool scatters = kind == CollectiveKind::ReduceScatter;
        int64_t inputCount = scatters ? size() : 1;
        std::vector<float> input(inputCount, gradients[group.rank()]);
        std::vector<float> output(members, -1);
        CollectiveCall call;
        call.kind = kind;
        call.divisor = size();
        for (int i = 0; i < members; ++i) {
          call.members.push_back(
              {input.data(), &output[i], inputCount, 1, DType::Float32});
        }
        expectSuccess(group, std::move(call));
        EXPECT_EQ(output, std::vector<float>(members, mean));
      }
    }
  });
}

// 1 on rank 0 and half a unit in its last place on the others: added one by one
// they vanish, added in pairs first they count.
TEST_P(ProcessGroupTest, AddsBlocksOfRanksFirst) {
  constexpr float kHalfUnit = 0x1p-24f;
  auto valueOf = [](int rank) { return rank == 0 ? 1.0f : kHalfUnit; };
  float expected = valueOf(0) + (size() > 1 ? valueOf(1) : 0);
  for (int rank = 2; rank < size(); rank += 2) {
    expected += valueOf(rank) + (rank + 1 < size() ? valueOf(rank + 1) : 0);
  }
  Groups groups = makeGroups();
  onEveryRank(groups, [&](ProcessGroup &group) {
    for (CollectiveKind kind :
         {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter}) {
      bool scatters = kind == CollectiveKind::ReduceScatter;
      std::vector<float> input(scatters ? size() : 1, valueOf(group.rank()));
      float output = -1;
      CollectiveCall call;
      call.kind = kind;
      call.grouped = 2;
      call.members = {{input.data(), &output,
                       static_cast<int64_t>(input.size()), 1, DType::Float32}};
      expectSuccess(group, std::move(call));
      EXPECT_EQ(output, expected) << nameOf(kind);
    }
  });
}

// ceil(10 / n) elements per peer travel, whatever the rank owns.
TEST_P(ProcessGroupTest, CountsTraffic) {
  Groups groups = makeGroups();
  Tensor scattered = scatterTensor(DType::BFloat16, size(), 10, size(), 1);
  Tensor reduced = reduceTensor(DType::Float32, size(), 10, size(), 2);
  onEveryRank(groups, [&](ProcessGroup &group) {
    CollectiveCall call;
    call.kind = CollectiveKind::ReduceScatter;
    call.members = {scattered.member(group.rank())};
    expectSuccess(group, call);
    expectSuccess(group, call);
    call.kind = CollectiveKind::AllReduce;
    call.members = {reduced.member(group.rank())};
    expectSuccess(group, call);
    Traffic traffic = group.traffic();
    int64_t peers = size() - 1;
    int64_t chunk = (10 + size() - 1) / size();
    int scatter = static_cast<int>(CollectiveKind::ReduceScatter);
    int reduce = static_cast<int>(CollectiveKind::AllReduce);
    EXPECT_EQ(traffic.calls[scatter], 2);
    EXPECT_EQ(traffic.bytesReceived[scatter], 2 * peers * chunk * 2);
    EXPECT_EQ(traffic.calls[reduce], 1);
    EXPECT_EQ(traffic.bytesReceived[reduce], 2 * peers * chunk * 4);
  });
}

TEST_P(ProcessGroupTest, RefusesTheBackendsOwnOrder) {
  Groups groups = makeGroups();
  float value = 1;
  CollectiveCall call;
  call.kind = CollectiveKind::AllReduce;
  call.order = ReductionOrder::Backend;
  call.members = {{&value, &value, 1, 1, DType::Float32}};
  Expected<std::unique_ptr<Work>> work = groups[0]->start(std::move(call));
  ASSERT_FALSE(work.ok());
  EXPECT_NE(work.message().find("expected reduction=ordered"),
            std::string::npos)
      << work.message();
}

TEST_P(ProcessGroupTest, MissingRankEndsTheWaitOfTheOthers) {
  if (size() == 1) {
    GTEST_SKIP() << "one rank waits for nobody";
  }
  Groups groups = makeGroups(300ms);
  auto begin = std::chrono::steady_clock::now();
  onEveryRank(groups, [&](ProcessGroup &group) {
    if (group.rank() == 1) {
      return;
    }
    std::vector<float> output(size());
    float input = 1;
    CollectiveCall call;
    call.kind = CollectiveKind::AllGather;
    call.label = "step 3, op 17";
    call.members = {{&input, output.data(), 1, size(), DType::Float32}};
    Expected<std::unique_ptr<Work>> work = group.start(call);
    ASSERT_TRUE(work.ok()) << work.message();
    Status status = (*work)->wait();
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.message().find("step 3, op 17: "), 0u) << status.message();
    EXPECT_FALSE(group.start(call).ok()) << "the group is unusable now";
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST_P(ProcessGroupTest, AbortEndsEveryWaitAtOnce) {
  if (size() == 1) {
    GTEST_SKIP() << "one rank waits for nobody";
  }
  Groups groups = makeGroups(2s);
  std::vector<float> output(size());
  float input = 1;
  CollectiveCall call;
  call.kind = CollectiveKind::AllGather;
  call.label = "op 4";
  call.members = {{&input, output.data(), 1, size(), DType::Float32}};
  Expected<std::unique_ptr<Work>> first = groups[0]->start(call);
  Expected<std::unique_ptr<Work>> second = groups[0]->start(call);
  ASSERT_TRUE(first.ok() && second.ok());
  std::thread killer([&] {
    std::this_thread::sleep_for(50ms);
    groups[0]->abort("rank 1 died");
    groups[0]->abort("a later reason");
  });
  auto begin = std::chrono::steady_clock::now();
  for (auto *work : {&first, &second}) {
    Status status = (**work)->wait();
    EXPECT_NE(status.message().find("rank 1 died"), std::string::npos)
        << status.message();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 1s);
  killer.join();
  Expected<std::unique_ptr<Work>> third = groups[0]->start(call);
  EXPECT_NE(third.message().find("rank 1 died"), std::string::npos)
      << third.message();
}

// Rank 1 runs a plan in which something else comes here. The bytes match, so
// only a comparison of the calls can tell.
TEST_P(ProcessGroupTest, F56_DisagreementIsAnError) {
  if (size() == 1) {
    GTEST_SKIP() << "one rank agrees with itself";
  }
  Groups groups = makeGroups(1s);
  onEveryRank(groups, [&](ProcessGroup &group) {
    bool odd = group.rank() == 1;
    std::vector<double> input(8, 1);
    std::vector<double> output(8 * size());
    int64_t count = odd ? 2 : 1;
    CollectiveCall call;
    call.kind = CollectiveKind::AllGather;
    call.members = {{input.data(), output.data(), count, count * size(),
                     odd ? DType::Float32 : DType::Float64}};
    Expected<std::unique_ptr<Work>> work = group.start(std::move(call));
    ASSERT_TRUE(work.ok()) << work.message();
    Status status = (*work)->wait();
    EXPECT_NE(status.message().find("ranks disagree"), std::string::npos)
        << status.message();
    EXPECT_NE(status.message().find("rank 1"), std::string::npos)
        << status.message();
  });
}

INSTANTIATE_TEST_SUITE_P(, ProcessGroupTest,
                         ::testing::Combine(::testing::ValuesIn(transports()),
                                            ::testing::Values(1, 2, 3, 4, 7)),
                         [](const auto &info) {
                           return std::get<Transport>(info.param).name + "_" +
                                  std::to_string(std::get<int>(info.param));
                         });
