//===- HostileCallsTest.cpp - Rules survive any arguments -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph file may hold anything. Recorded calls with some numbers replaced by
// extreme ones must be refused or answered, under sanitizers without a report.
//
//===----------------------------------------------------------------------===//

#include "test/support/LayoutFixtures.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <random>

namespace sfsdp::test {
namespace {

using namespace sfsdp::rules;

class Mutator {
public:
  explicit Mutator(unsigned seed) : random(seed) {}

  /// Replaces a number or an argument of `call`.
  void mutate(OperatorCall &call) {
    if (call.arguments.empty()) {
      return;
    }
    Argument &argument = call.arguments[below(call.arguments.size())];
    if (auto *tensor = std::get_if<TensorLayout>(&argument)) {
      mutate(*tensor);
    } else if (auto *tensors = std::get_if<TensorList>(&argument)) {
      mutate(*tensors);
    } else if (auto *list = std::get_if<std::vector<int64_t>>(&argument)) {
      mutate(*list);
    } else if (auto *flags = std::get_if<std::vector<bool>>(&argument)) {
      flags->clear();
    } else {
      replace(argument);
    }
  }

private:
  size_t below(size_t count) { return random() % count; }

  int64_t number() {
    constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
    constexpr int64_t kNumbers[] = {0,
                                    1,
                                    -1,
                                    2,
                                    7,
                                    -2,
                                    int64_t{1} << 20,
                                    int64_t{1} << 31,
                                    int64_t{1} << 40,
                                    int64_t{1} << 62,
                                    kLargest,
                                    -kLargest,
                                    kLargest / 2};
    return kNumbers[below(std::size(kNumbers))];
  }

  void mutate(std::vector<int64_t> &list) {
    if (list.empty() || below(4) == 0) {
      list.insert(list.begin(), number());
    } else if (below(4) == 0) {
      list.pop_back();
    } else {
      list[below(list.size())] = number();
    }
  }

  void mutate(TensorLayout &tensor) {
    switch (below(5)) {
    case 0:
      tensor.dtype = static_cast<DType>(below(runtime::kDTypeCount));
      break;
    case 1:
      mutate(tensor.strides);
      break;
    case 2:
      tensor.sizes.push_back(number());
      tensor.strides.push_back(number());
      break;
    default:
      mutate(tensor.sizes);
      tensor.strides = tensor.sizes.size() == tensor.strides.size()
                           ? tensor.strides
                           : contiguousStrides(tensor.sizes);
    }
  }

  void mutate(TensorList &tensors) {
    if (tensors.empty() || below(3) == 0) {
      tensors.emplace_back();
    } else if (std::optional<TensorLayout> &tensor =
                   tensors[below(tensors.size())]) {
      mutate(*tensor);
    }
  }

  void replace(Argument &argument) {
    switch (below(6)) {
    case 0:
      argument = std::monostate();
      break;
    case 1:
      argument = std::numeric_limits<double>::infinity();
      break;
    case 2:
      argument = RuntimeScalar();
      break;
    case 3:
      argument = 1e300;
      break;
    default:
      argument = number();
    }
  }

  std::mt19937 random;
};

/// Asks the rule as a pass would. Returns whether it answered.
bool ask(const OperatorCall &call) {
  const Rule *rule = findRule(call.schema->name);
  if (rule == nullptr || !checkArguments(call).ok()) {
    return false;
  }
  runtime::Expected<ResultLayouts> results = rule->layout(call);
  if (!results) {
    EXPECT_FALSE(results.message().empty());
    return false;
  }
  runtime::CostFacts cost = rule->cost(call, *results);
  EXPECT_GE(cost.flops, 0);
  return true;
}

TEST(HostileCalls, AreAnsweredOrRefused) {
  SchemaTable schemas;
  Mutator mutator(1);
  int answered = 0;
  int asked = 0;
  for (const auto &entry : std::filesystem::directory_iterator(
           std::string(SFSDP_TEST_INPUTS) + "/rules")) {
    runtime::Expected<std::vector<RecordedCall>> calls =
        readRecordedCalls(entry.path().string(), schemas);
    ASSERT_TRUE(calls.ok()) << calls.message();
    for (RecordedCall &recorded : *calls) {
      for (int mutation = 0; mutation < 3; ++mutation) {
        mutator.mutate(recorded.call);
        answered += ask(recorded.call);
        ++asked;
      }
    }
  }
  // Mutations that leave a call possible do occur.
  EXPECT_GT(answered, asked / 50);
}

} // namespace
} // namespace sfsdp::test
