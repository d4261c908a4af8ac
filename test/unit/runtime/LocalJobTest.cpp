//===- LocalJobTest.cpp - All ranks as threads of this process ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole runs of a small plan: reading, training, comparing, writing.

#include "runtime/LocalJob.h"
#include "runtime/Json.h"
#include "runtime/Safetensors.h"
#include "test/support/PlanBuilder.h"
#include "test/support/TemporaryFolder.h"

#include <gtest/gtest.h>
#include <random>

using namespace sfsdp::runtime;
using namespace sfsdp::test;

namespace {

constexpr int64_t kBatches = 12;

/// Plans, weights and data of linearStep in a folder.
class Inputs {
public:
  Inputs() {
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    auto draw = [&](int64_t count) {
      std::vector<float> values(static_cast<size_t>(count));
      for (float &value : values) {
        value = normal(random);
      }
      return values;
    };
    write("data.safetensors",
          {{"x", {kBatches, 4, 3}}, {"target", {kBatches, 4, 7}}}, draw);
    write("weights.safetensors", {{"linear.weight", {7, 3}}}, draw);
    plan("reference", {.shard = false, .optimizer = "none", .gradients = true});
  }

  /// Writes a proved plan and returns its path.
  std::string plan(const std::string &name, const LinearStep &step) {
    Plan plan = linearStep(step);
    std::string digest = digestOf(plan);
    plan.header.proved = {{"order", digest}, {"memory", digest}};
    return folder.write(name + ".plan.json", writePlan(plan));
  }

  /// The options of a run in this folder.
  RunOptions options(const std::string &plan,
                     std::vector<std::string> extra = {}) const {
    std::vector<std::string> arguments = {plan,
                                          "--weights",
                                          path("weights.safetensors"),
                                          "--data",
                                          path("data.safetensors"),
                                          "--steps",
                                          "4",
                                          "--lr",
                                          "0.05"};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    auto options = parseRunOptions(arguments);
    EXPECT_TRUE(options) << options.message();
    return *options;
  }

  std::string path(const std::string &name) const { return folder.path(name); }
  std::string read(const std::string &name) const { return folder.read(name); }

private:
  template <typename Draw>
  void write(
      const std::string &name,
      const std::vector<std::pair<std::string, std::vector<int64_t>>> &tensors,
      Draw draw) {
    std::vector<SafetensorsSpec> specs;
    for (const auto &[tensor, shape] : tensors) {
      specs.push_back({tensor, DType::Float32, shape});
    }
    auto writer = SafetensorsWriter::create(path(name), specs);
    for (const auto &[tensor, shape] : tensors) {
      int64_t count = 1;
      for (int64_t size : shape) {
        count *= size;
      }
      auto values = draw(count);
      EXPECT_TRUE(
          writer->write(tensor, 0, std::as_bytes(std::span(values))).ok());
    }
    EXPECT_TRUE(writer->commit().ok());
  }

  TemporaryFolder folder;
};

std::string run(const RunOptions &options) {
  auto job = prepareJob(options, [](const std::string &) {});
  return job ? runLocalJob(*job).message() : job.message();
}

} // namespace

TEST(LocalJob, EveryMeshAndModeDumpsWhatTheReferenceSays) {
  Inputs inputs;
  for (const char *optimizer : {"adamw", "sgd"}) {
    for (int64_t ranks : {1, 2, 3}) {
      std::string dumps[2];
      for (bool shard : {true, false}) {
        std::string plan = inputs.plan("step", {.ranks = ranks,
                                                .shard = shard,
                                                .optimizer = optimizer,
                                                .gradients = true});
        EXPECT_EQ(
            run(inputs.options(plan, {"--dump", inputs.path("dump.safetensors"),
                                      "--check-against",
                                      inputs.path("reference.plan.json")})),
            "");
        dumps[shard] = inputs.read("dump.safetensors");
      }
      EXPECT_EQ(dumps[0], dumps[1]);
      EXPECT_GT(dumps[0].size(), 8u + 7 * 3 * 4);
    }
  }
}

TEST(LocalJob, TheReferenceCheckFindsAWrongDivisor) {
  Inputs inputs;
  Plan plan = linearStep({.ranks = 2, .gradients = true});
  for (Instruction &instruction : plan.programs[0].instructions) {
    auto *start = std::get_if<CollectiveStart>(&instruction.action);
    if (start && start->kind == CollectiveKind::ReduceScatter) {
      start->divisor = 1; // F09: a sum where the mean was meant
    }
  }
  writeFile(inputs.path("sum.plan.json"), writePlan(plan)).ok();
  std::string message = run(inputs.options(
      inputs.path("sum.plan.json"),
      {"--unproved", "--check-against", inputs.path("reference.plan.json")}));
  EXPECT_EQ(message.find("step 1: gradient of 'linear.weight': differs from "
                         "the reference in 21 of 21 elements, first at 0: "),
            0u)
      << message;
}

TEST(LocalJob, WritesMetricsTraceReportAndWeights) {
  Inputs inputs;
  std::string plan = inputs.plan("step", {.ranks = 2});
  ASSERT_EQ(run(inputs.options(
                plan, {"--metrics", inputs.path("m.jsonl"), "--trace",
                       inputs.path("t.json"), "--report", inputs.path("r.html"),
                       "--save-weights", inputs.path("w.safetensors")})),
            "");
  std::istringstream metrics(inputs.read("m.jsonl"));
  int64_t step = 0;
  double first = 0, last = 0;
  for (std::string line; std::getline(metrics, line);) {
    auto record = parseJson(line, "metrics");
    ASSERT_TRUE(record) << record.message();
    EXPECT_EQ(*record->value.find("step")->asInteger(), ++step);
    last = *record->value.find("loss")->asDouble();
    first = step == 1 ? last : first;
    EXPECT_GT(*record->value.find("peak_bytes")->asInteger(), 0);
  }
  EXPECT_EQ(step, 4);
  EXPECT_TRUE(parseJson(inputs.read("t.json"), "trace"));
  std::string page = inputs.read("r.html");
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_NE(page.find("all_gather"), std::string::npos);
  auto weights = Safetensors::open(inputs.path("w.safetensors"));
  ASSERT_TRUE(weights) << weights.message();
  EXPECT_EQ(weights->find("linear.weight")->shape,
            (std::vector<int64_t>{7, 3}));
}

TEST(LocalJob, BadInputIsOneError) {
  Inputs inputs;
  std::string plan = inputs.plan("step", {.ranks = 2});
  EXPECT_EQ(run(inputs.options(plan, {"-n", "3"})),
            "-n starts 3 ranks, the plan's mesh has 2 (" + plan +
                "); compile it for another mesh, or start as many");
  EXPECT_NE(run(inputs.options(inputs.path("none.plan.json"))), "");
  EXPECT_NE(run(inputs.options(plan, {"--weights", inputs.path("none")})), "");
  RunOptions options = inputs.options(plan);
  options.data.clear();
  EXPECT_EQ(run(options), "expected --data FILE: the plan reads input 'x'");
  Plan changed = linearStep({.ranks = 2});
  changed.scalars[0].op = ScalarOp::Step;
  writeFile(inputs.path("old.plan.json"), writePlan(changed)).ok();
  EXPECT_NE(run(inputs.options(inputs.path("old.plan.json")))
                .find("holds no proof of order"),
            std::string::npos);
}

TEST(LocalJob, OutputsThatCannotBeWrittenAreErrorsBeforeTheFirstStep) {
  Inputs inputs;
  std::string plan = inputs.plan("step", {.ranks = 2});
  std::string missing = inputs.path("none/file");
  for (const char *option :
       {"--dump", "--save-weights", "--trace", "--report", "--metrics"}) {
    auto job = prepareJob(inputs.options(plan, {option, missing}),
                          [](const std::string &) {});
    ASSERT_TRUE(job) << job.message();
    int lines = 0;
    job->show = [&](const std::string &) { ++lines; };
    EXPECT_NE(runLocalJob(*job).message().find(missing), std::string::npos)
        << option;
    EXPECT_EQ(lines, 0) << option;
  }
}

TEST(LocalJob, NoFileOfARunIsOverwrittenByAnother) {
  Inputs inputs;
  std::string plan = inputs.plan("step", {.ranks = 2});
  std::string weights = inputs.path("weights.safetensors");
  EXPECT_EQ(run(inputs.options(plan, {"--metrics", weights})),
            "--metrics would overwrite --weights (" + weights +
                "); expected another file");
  for (const std::string &path : {plan, inputs.path("data.safetensors")}) {
    EXPECT_NE(run(inputs.options(plan, {"--save-weights", path}))
                  .find("--save-weights would overwrite"),
              std::string::npos);
  }
  // The same new file under two spellings.
  EXPECT_NE(run(inputs.options(plan, {"--dump", inputs.path("new"),
                                      "--save-weights", inputs.path("./new")}))
                .find("--save-weights would overwrite --dump"),
            std::string::npos);
}

TEST(LocalJob, TheReferenceCheckNeedsGradients) {
  Inputs inputs;
  std::string plan = inputs.plan("step", {.ranks = 2});
  EXPECT_EQ(run(inputs.options(
                plan, {"--check-against", inputs.path("reference.plan.json")})),
            "--check-against compares gradients, but " + plan +
                " has none; compile it with results=gradients");
}

TEST(LocalJob, DataThatEndsIsReadAgain) {
  Inputs inputs;
  std::string plan = inputs.plan("step", {.ranks = 2});
  std::string notes;
  auto job = prepareJob(inputs.options(plan, {"--steps", "7"}),
                        [&](const std::string &note) { notes += note; });
  ASSERT_TRUE(job) << job.message();
  EXPECT_EQ(
      notes,
      "the data has 12 batches, 7 steps of 2 batches read it more than once");
  EXPECT_EQ(runLocalJob(*job).message(), "");
  auto onePass = prepareJob(inputs.options(plan), [](const std::string &) {});
  EXPECT_EQ(onePass->steps, 4);
}

TEST(LocalJob, AgreementNamesWhatChangesBits) {
  Inputs inputs;
  std::string plan = inputs.plan("step", {.ranks = 2});
  auto job = prepareJob(inputs.options(plan), [](const std::string &) {});
  ASSERT_TRUE(job);
  std::map<std::string, std::string> fields;
  for (const auto &[field, value] : agreementOf(*job, "gloo")) {
    fields[field] = value;
  }
  for (const char *field :
       {"plan", "torch", "backend", "device", "threads", "cpu capability",
        "steps", "lr", "lr schedule", "seed", "data"}) {
    EXPECT_TRUE(fields.contains(field)) << field;
  }
  EXPECT_EQ(fields["lr"], "0.05");
}

TEST(LocalJob, F16RanksWithDifferentPlansDisagree) {
  // One rank has a gradient that the other one does not have.
  Inputs inputs;
  std::vector<AgreementRecord> records;
  for (bool gradients : {true, false}) {
    std::string plan =
        inputs.plan("step", {.ranks = 2, .gradients = gradients});
    auto job = prepareJob(inputs.options(plan), [](const std::string &) {});
    ASSERT_TRUE(job) << job.message();
    records.push_back(agreementOf(*job, "gloo"));
  }
  std::string message = compareRecords(records).message();
  EXPECT_NE(message.find("plan (rank 0 has '"), std::string::npos) << message;
  EXPECT_NE(message.find("rank 1 has '"), std::string::npos) << message;
}
