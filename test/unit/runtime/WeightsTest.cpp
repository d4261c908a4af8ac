//===- WeightsTest.cpp - Values for parameters, buffers and constants -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Weights.h"
#include "runtime/Safetensors.h"
#include "test/support/LocalRanks.h"
#include "test/support/PlanBuilder.h"
#include "test/support/TemporaryFolder.h"
#include "test/support/ZipWriter.h"

#include <cmath>
#include <gtest/gtest.h>
#include <mutex>
#include <numeric>

using namespace sfsdp::runtime;
using namespace sfsdp::test;

namespace {

/// A plan with one parameter "w" and nothing to do.
Plan planOf(int64_t ranks, std::vector<int64_t> shape,
            std::vector<AxisShard> placement) {
  PlanBuilder builder(ranks);
  builder.argument(Role::Parameter, "w", std::move(shape),
                   std::move(placement));
  return builder.finish();
}

std::string writeFloats(const TemporaryFolder &folder, const std::string &name,
                        std::vector<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    count *= size;
  }
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0.0f);
  std::string path = folder.path("w.safetensors");
  auto writer =
      SafetensorsWriter::create(path, {{name, DType::Float32, shape}});
  EXPECT_TRUE(writer);
  EXPECT_TRUE(writer->write(name, 0, std::as_bytes(std::span(values))).ok());
  EXPECT_TRUE(writer->commit().ok());
  return path;
}

/// What every rank holds of "w" after loading; the first error in `error`.
std::vector<std::vector<float>> load(const Plan &plan,
                                     const std::vector<std::string> &paths,
                                     const Initialization &how = {},
                                     std::string *error = nullptr) {
  std::vector<std::unique_ptr<WeightFile>> files;
  for (const std::string &path : paths) {
    auto file = WeightFile::open(path);
    EXPECT_TRUE(file) << file.message();
    files.push_back(std::move(*file));
  }
  std::vector<std::vector<float>> held(plan.header.mesh.size());
  Status status = onEachRank(plan, [&](LocalRank self) {
    Status loaded = loadWeights(plan, MeshPosition(plan.header.mesh, self.rank),
                                files, how, *self.executor);
    held[self.rank] = floatsOf(self.executor->argument(0));
    return loaded;
  });
  if (error) {
    *error = status.message();
  } else {
    EXPECT_EQ(status.message(), "");
  }
  return held;
}

using Parts = std::vector<std::vector<float>>;

/// A captured tensor "w" of shape [2, 3] f32.
struct Captured {
  std::string strides = R"([{"as_int": 3}, {"as_int": 1}])";
  std::vector<float> record = {0, 1, 2, 3, 4, 5};
};

std::string writeArchive(const TemporaryFolder &folder,
                         const Captured &captured) {
  std::string config =
      R"({"config": {"w": {"path_name": "weight_0", "is_param": true, )"
      R"("use_pickle": false, "tensor_meta": {"dtype": 7, )"
      R"("sizes": [{"as_int": 2}, {"as_int": 3}], "strides": )" +
      captured.strides +
      R"(, "storage_offset": {"as_int": 0}, "layout": 7, )"
      R"("device": {"type": "cpu"}, "requires_grad": true}}}})";
  std::string record(reinterpret_cast<const char *>(captured.record.data()),
                     captured.record.size() * sizeof(float));
  return folder.write(
      "step.pt2", makeZip({{"m/archive_format", "pt2"},
                           {"m/archive_version", "0"},
                           {"m/models/model.json", "{}"},
                           {"m/data/weights/model_weights_config.json", config},
                           {"m/data/constants/model_constants_config.json",
                            R"({"config": {}})"},
                           {"m/data/weights/weight_0", record}}));
}

} // namespace

TEST(Weights, RanksReadTheirRowsAndPadWithZeros) {
  TemporaryFolder folder;
  std::string path = writeFloats(folder, "w", {3, 2});
  EXPECT_EQ(load(planOf(2, {3, 2}, {{"dp", 0}}), {path}),
            (Parts{{0, 1, 2, 3}, {4, 5, 0, 0}}));
  EXPECT_EQ(load(planOf(4, {3, 2}, {{"dp", 0}}), {path}),
            (Parts{{0, 1}, {2, 3}, {4, 5}, {0, 0}}));
}

TEST(Weights, F04ColumnsOfAShard) {
  TemporaryFolder folder;
  std::string path = writeFloats(folder, "w", {2, 4});
  EXPECT_EQ(load(planOf(2, {2, 4}, {{"dp", 1}}), {path}),
            (Parts{{0, 1, 4, 5}, {2, 3, 6, 7}}));
}

TEST(Weights, F03ScalarsAndEmptyParameters) {
  TemporaryFolder folder;
  std::string path = writeFloats(folder, "w", {});
  EXPECT_EQ(load(planOf(2, {}, {}), {path}), (Parts{{0}, {0}}));
  path = writeFloats(folder, "w", {0, 4});
  EXPECT_EQ(load(planOf(2, {0, 4}, {{"dp", 0}}), {path}), (Parts{{}, {}}));
}

TEST(Weights, OfAnArchive) {
  TemporaryFolder folder;
  EXPECT_EQ(load(planOf(2, {2, 3}, {{"dp", 0}}), {writeArchive(folder, {})}),
            (Parts{{0, 1, 2}, {3, 4, 5}}));
}

TEST(Weights, OfAnArchiveWithAnotherLayout) {
  TemporaryFolder folder;
  // Stored by columns: element [i, j] is record[i + 2 j].
  std::string path =
      writeArchive(folder, {.strides = R"([{"as_int": 1}, {"as_int": 2}])"});
  EXPECT_EQ(load(planOf(2, {2, 3}, {{"dp", 0}}), {path}),
            (Parts{{0, 2, 4}, {1, 3, 5}}));
}

TEST(Weights, CapturedWithoutAValue) {
  TemporaryFolder folder;
  std::string path = writeArchive(folder, {.record = {}});
  std::string error;
  load(planOf(1, {2, 3}, {}), {path}, {}, &error);
  EXPECT_EQ(error, "parameter 'w' was captured without a value (in " + path +
                       "); give a file that has it, or --init");
  EXPECT_EQ(load(planOf(1, {2, 3}, {}), {path},
                 {Initialization::Kind::Zeros, 0, 0})[0],
            std::vector<float>(6, 0.0f));
}

TEST(Weights, F48AFlippedByteInAnArchive) {
  TemporaryFolder folder;
  std::string path = writeArchive(folder, {});
  std::string content = folder.read("step.pt2");
  float three = 3;
  size_t at = content.find(
      std::string(reinterpret_cast<const char *>(&three), sizeof three));
  ASSERT_NE(at, std::string::npos);
  content[at + 3] ^= 1;
  folder.write("step.pt2", content);
  std::string error;
  load(planOf(1, {2, 3}, {}), {path}, {}, &error);
  EXPECT_NE(error.find("data/weights/weight_0"), std::string::npos) << error;
  EXPECT_NE(error.find("corrupt"), std::string::npos) << error;
}

TEST(Weights, ATiedParameterMayHaveAnyOfItsNames) {
  TemporaryFolder folder;
  std::string path = writeFloats(folder, "head", {1, 2});
  Plan plan = planOf(1, {1, 2}, {});
  plan.arguments[0].aliases = {"head"};
  EXPECT_EQ(load(plan, {path}), (Parts{{0, 1}}));
}

TEST(Weights, ProblemsAreNamed) {
  TemporaryFolder folder;
  std::string path = writeFloats(folder, "w", {3, 2});
  std::string error;
  load(planOf(1, {2, 3}, {}), {path}, {}, &error);
  EXPECT_EQ(error, "parameter 'w' in " + path +
                       ": has shape [3, 2], the plan expects [2, 3]");
  Plan plan = planOf(1, {3, 2}, {});
  plan.arguments[0].name = "v";
  load(plan, {path}, {}, &error);
  EXPECT_EQ(error, "parameter 'v' is in no file of --weights; give a file that "
                   "has it, or --init");
  plan = planOf(1, {3, 2}, {});
  plan.values[0].dtype = DType::Int32;
  load(plan, {path}, {}, &error);
  EXPECT_EQ(error, "parameter 'w' in " + path +
                       ": has elements of f32, the plan expects i32");
}

TEST(Weights, DrawnValuesDoNotDependOnTheMesh) {
  Initialization how{Initialization::Kind::Normal, 0.5, 7};
  std::vector<float> whole = load(planOf(1, {5, 3}, {}), {}, how)[0];
  for (int64_t ranks : {2, 3, 5, 8}) {
    std::vector<float> joined;
    for (auto &part : load(planOf(ranks, {5, 3}, {{"dp", 0}}), {}, how)) {
      joined.insert(joined.end(), part.begin(), part.end());
    }
    joined.resize(whole.size());
    EXPECT_EQ(joined, whole) << ranks;
  }
}

TEST(Weights, DrawnValuesAreNormal) {
  Initialization how{Initialization::Kind::Normal, 2, 7};
  double sum = 0, squares = 0;
  constexpr int kCount = 100000;
  for (int index = 0; index < kCount; ++index) {
    double value = initialValue(how, "w", index);
    sum += value;
    squares += value * value;
  }
  // The mean of n draws deviates by 2 / sqrt(n) = 0.0063.
  EXPECT_NEAR(sum / kCount, 0, 0.03);
  EXPECT_NEAR(std::sqrt(squares / kCount), 2, 0.03);
  EXPECT_NE(initialValue(how, "w", 0), initialValue(how, "v", 0));
  how.seed = 8;
  EXPECT_NE(initialValue(how, "w", 0),
            initialValue({Initialization::Kind::Normal, 2, 7}, "w", 0));
}

TEST(Weights, InitializationsAreRead) {
  EXPECT_EQ(parseInitialization("zeros")->kind, Initialization::Kind::Zeros);
  EXPECT_EQ(parseInitialization("normal:0.02")->standardDeviation, 0.02);
  EXPECT_EQ(parseInitialization("normal:x").message(),
            "expected 'zeros' or 'normal:STD', got 'normal:x'");
  EXPECT_FALSE(parseInitialization("uniform"));
}
