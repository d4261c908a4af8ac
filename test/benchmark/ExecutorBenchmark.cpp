//===- ExecutorBenchmark.cpp - What executing a plan costs ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a plan by the executor and the same operators called one by one from
// C++, in turns and in one process with one allocator, and prints the time of
// both and their ratio.
//
//   executor-benchmark chain COUNT
//     a chain of COUNT operators on tensors of one element
//   executor-benchmark plan STEP.plan.json STEP.so
//     a whole step on one rank; STEP.so holds what straight_line.py wrote
//
// The first line of output is for people, the last one is JSON. Nothing here
// asserts a speed.
//
//===----------------------------------------------------------------------===//

#include "runtime/Executor.h"
#include "runtime/Plan.h"
#include "test/support/PlanBuilder.h"

#include <ATen/ops/add.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/relu.h>
#include <algorithm>
#include <c10/core/InferenceMode.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <limits>

using namespace sfsdp;
using namespace sfsdp::runtime;

namespace {

/// Of each side, in turns; the fastest one counts, since only other processes
/// make a round slower.
constexpr int kRounds = 200;
constexpr double kNever = std::numeric_limits<double>::infinity();

/// The step as plain calls. Arguments are in the order of Plan::arguments.
using StraightLine = void (*)(at::Tensor *arguments);

[[noreturn]] void fail(const std::string &message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::exit(1);
}

template <typename T>
T orFail(Expected<T> value) {
  if (!value) {
    fail(value.status().message());
  }
  return std::move(*value);
}

/// A plan's executor and tensors for the same calls without it.
struct Benchmark {
  explicit Benchmark(const Plan &plan)
      : plan(plan),
        executor(orFail(Executor::make(
            plan, MeshPosition(plan.header.mesh, /*rank=*/0),
            [](const std::vector<std::string> &) { return nullptr; }))) {
    for (size_t index = 0; index < plan.arguments.size(); ++index) {
      arguments.push_back(fill(executor->argument(index)));
    }
  }

  /// Fills an argument with 0.01, or zero when it is an integer, and returns a
  /// tensor on the same memory.
  static at::Tensor fill(const TensorView &view) {
    at::ScalarType type = view.dtype == DType::Float32    ? at::kFloat
                          : view.dtype == DType::BFloat16 ? at::kBFloat16
                                                          : at::kLong;
    at::Tensor tensor =
        at::from_blob(view.data, view.sizes, view.strides, type);
    tensor.fill_(at::isFloatingType(type) ? 0.01 : 0);
    return tensor;
  }

  int64_t kernelCount() const {
    const std::vector<Instruction> &all = plan.programs.front().instructions;
    return std::count_if(all.begin(), all.end(), [](const Instruction &each) {
      return std::holds_alternative<KernelCall>(each.action);
    });
  }

  void runExecutor() {
    Status status = executor->runStep(++step, /*lr=*/0);
    if (!status.ok()) {
      fail(status.message());
    }
  }

  const Plan &plan;
  std::unique_ptr<Executor> executor;
  std::vector<at::Tensor> arguments;
  int64_t step = 0;
};

/// Microseconds of one call.
template <typename F>
double timeUs(F &&run) {
  auto begin = std::chrono::steady_clock::now();
  run();
  std::chrono::duration<double, std::micro> passed =
      std::chrono::steady_clock::now() - begin;
  return passed.count();
}

void compare(const char *name, Benchmark &benchmark, StraightLine plain) {
  c10::InferenceMode inference;
  auto runPlain = [&] { plain(benchmark.arguments.data()); };
  auto runExecutor = [&] { benchmark.runExecutor(); };
  timeUs(runPlain);
  timeUs(runExecutor);
  double plainUs = kNever, executorUs = kNever;
  for (int round = 0; round < kRounds; ++round) {
    plainUs = std::min(plainUs, timeUs(runPlain));
    executorUs = std::min(executorUs, timeUs(runExecutor));
  }
  int64_t kernels = benchmark.kernelCount();
  std::printf("%s: %lld kernels, plain C++ %.1f us, executor %.1f us, "
              "ratio %.3f, overhead %.0f ns per kernel\n",
              name, static_cast<long long>(kernels), plainUs, executorUs,
              executorUs / plainUs, 1e3 * (executorUs - plainUs) / kernels);
  std::printf("{\"name\": \"%s\", \"kernels\": %lld, \"plain_us\": %.3f, "
              "\"executor_us\": %.3f}\n",
              name, static_cast<long long>(kernels), plainUs, executorUs);
}

//===----------------------------------------------------------------------===//
// A chain of small operators
//===----------------------------------------------------------------------===//

int64_t chainLength = 0;

/// mul, add, relu in turn, as makeChain has it.
void runChain(at::Tensor *arguments) {
  at::Tensor x = arguments[0];
  const at::Tensor &w = arguments[1];
  for (int64_t index = 0; index < chainLength; ++index) {
    switch (index % 3) {
    case 0:
      x = at::mul(x, w);
      break;
    case 1:
      x = at::add(x, w);
      break;
    default:
      x = at::relu(x);
    }
  }
}

Plan makeChain(int64_t count) {
  test::PlanBuilder builder;
  ValueId x = builder.argument(Role::Input, "x", {1});
  ValueId w = builder.argument(Role::Input, "w", {1});
  for (int64_t index = 0; index < count; ++index) {
    std::vector<KernelArgument> both = {ValueRef{x}, ValueRef{w}};
    const std::vector<test::NewTensor> one = {{{1}}};
    switch (index % 3) {
    case 0:
      x = builder.call("aten::mul", "Tensor", both, one)[0];
      break;
    case 1:
      x = builder.call("aten::add", "Tensor", both, one)[0];
      break;
    default:
      x = builder.call("aten::relu", "", {ValueRef{x}}, one)[0];
    }
  }
  builder.result(Role::Loss, "loss", x, {1});
  return builder.finish();
}

int benchmarkChain(const char *count) {
  chainLength = std::strtoll(count, nullptr, 10);
  Plan plan = makeChain(chainLength);
  Benchmark benchmark(plan);
  compare("chain", benchmark, runChain);
  return 0;
}

//===----------------------------------------------------------------------===//
// A whole step
//===----------------------------------------------------------------------===//

int benchmarkPlan(const char *planPath, const char *libraryPath) {
  Plan plan = orFail(readPlanFile(planPath));
  void *library = dlopen(libraryPath, RTLD_NOW);
  if (!library) {
    fail(dlerror());
  }
  auto plain = reinterpret_cast<StraightLine>(dlsym(library, "runStep"));
  if (!plain) {
    fail(std::string(libraryPath) + " holds no runStep");
  }
  Benchmark benchmark(plan);
  compare("plan", benchmark, plain);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  prepareLane(/*threads=*/1);
  if (argc == 3 && std::strcmp(argv[1], "chain") == 0) {
    return benchmarkChain(argv[2]);
  }
  if (argc == 4 && std::strcmp(argv[1], "plan") == 0) {
    return benchmarkPlan(argv[2], argv[3]);
  }
  std::fprintf(stderr,
               "usage: executor-benchmark chain COUNT\n"
               "       executor-benchmark plan STEP.plan.json STEP.so\n");
  return 2;
}
