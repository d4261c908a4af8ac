//===- WeightConfigTest.cpp - The tensors of an export archive -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/WeightConfig.h"
#include "test/support/MemoryFile.h"
#include "test/support/Mutate.h"
#include "test/support/ZipWriter.h"

#include <gtest/gtest.h>

using namespace sfsdp::runtime;
using namespace sfsdp::test;

namespace {

/// A config of one tensor "a.weight".
struct Config {
  std::string recordName = "weight_0";
  std::string usePickle = "false";
  std::string dtype = "7";
  std::string sizes = R"([{"as_int": 2}, {"as_int": 3}])";
  std::string strides = R"([{"as_int": 3}, {"as_int": 1}])";
  std::string offset = R"({"as_int": 0})";
  std::string layout = "7";

  std::string text() const {
    return R"({"config": {"a.weight": {"path_name": ")" + recordName +
           R"(", "is_param": true, "use_pickle": )" + usePickle +
           R"(, "tensor_meta": {"dtype": )" + dtype + R"(, "sizes": )" + sizes +
           R"(, "requires_grad": true, "device": {"type": "cpu"},)" +
           R"("strides": )" + strides + R"(, "storage_offset": )" + offset +
           R"(, "layout": )" + layout + "}}}}";
  }
};

constexpr size_t kWeightBytes = 2 * 3 * 4;

/// The tensors of an archive with the config `text` and one record of `bytes`
/// bytes, or the message after the path.
Expected<std::vector<ArchivedTensor>> readText(const std::string &text,
                                               size_t bytes) {
  MemoryFile file(
      makeZip({{"m/data/weights/weight_0", std::string(bytes, 'x')},
               {"m/data/weights/model_weights_config.json", text}}));
  std::string path = file.path();
  Expected<Archive> archive = Archive::open(path);
  EXPECT_TRUE(archive) << archive.message();
  Expected<std::vector<ArchivedTensor>> tensors =
      readWeightConfig(*archive, "model");
  if (tensors) {
    return tensors;
  }
  std::string where = path + "(data/weights/model_weights_config.json):";
  EXPECT_TRUE(tensors.message().starts_with(where)) << tensors.message();
  return Status::error(tensors.message().substr(where.size()));
}

Expected<std::vector<ArchivedTensor>> read(const Config &config,
                                           size_t bytes = kWeightBytes) {
  return readText(config.text(), bytes);
}

} // namespace

TEST(WeightConfig, ReadsATensor) {
  Expected<std::vector<ArchivedTensor>> tensors = read({});
  ASSERT_TRUE(tensors) << tensors.message();
  ASSERT_EQ(tensors->size(), 1u);
  const ArchivedTensor &tensor = tensors->front();
  EXPECT_EQ(tensor.fqn, "a.weight");
  EXPECT_EQ(tensor.record, "data/weights/weight_0");
  EXPECT_EQ(tensor.dtype, DType::Float32);
  EXPECT_EQ(tensor.sizes, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(tensor.strides, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(tensor.storageOffset, 0);
  EXPECT_TRUE(tensor.isParameter);
  EXPECT_FALSE(tensor.isFake);
}

TEST(WeightConfig, AnEmptyRecordIsAFakeWeight) {
  EXPECT_TRUE(read({}, 0)->front().isFake);
  Config empty;
  empty.sizes = R"([{"as_int": 0}, {"as_int": 3}])";
  EXPECT_FALSE(read(empty, 0)->front().isFake);
}

TEST(WeightConfig, F48ARecordShorterThanItsTensor) {
  EXPECT_EQ(
      read({}, kWeightBytes - 1).message(),
      " config[\"a.weight\"]: truncated or corrupt: shape [2, 3] needs 24 "
      "bytes, entry \"data/weights/weight_0\" has 23");
  Config shifted;
  shifted.offset = R"({"as_int": 1})";
  EXPECT_EQ(
      read(shifted).message(),
      " config[\"a.weight\"]: truncated or corrupt: shape [2, 3] needs 28 "
      "bytes, entry \"data/weights/weight_0\" has 24");
}

TEST(WeightConfig, RefusesPickles) {
  Config config;
  config.usePickle = "true";
  EXPECT_EQ(read(config).message(),
            " config[\"a.weight\"]: stored as a pickle, which is not read "
            "because it can run code; expected a plain tensor");
}

TEST(WeightConfig, RefusesSymbolicSizes) {
  Config config;
  config.sizes = R"([{"as_expr": {"expr_str": "s0"}}, {"as_int": 3}])";
  EXPECT_EQ(read(config).message(),
            " config[\"a.weight\"].tensor_meta.sizes[0]: expected a fixed "
            "number, got the symbolic expression {\"expr_str\": \"s0\"}");
}

TEST(WeightConfig, RefusesSizesThatOverflow) {
  Config config;
  config.sizes = R"([{"as_int": 4294967296}, {"as_int": 4294967296}])";
  config.strides = R"([{"as_int": 4294967296}, {"as_int": 1}])";
  EXPECT_EQ(
      read(config).message(),
      " config[\"a.weight\"]: shape [4294967296, 4294967296] with strides "
      "[4294967296, 1] is not that of a tensor");
}

TEST(WeightConfig, RefusesUnknownTypesAndLayouts) {
  Config config;
  config.dtype = "29";
  EXPECT_EQ(read(config).message(),
            " config[\"a.weight\"].tensor_meta: element type 29 of the export "
            "schema is not supported");
  config = {};
  config.layout = "1";
  EXPECT_EQ(read(config).message(),
            " config[\"a.weight\"].tensor_meta: expected a strided tensor "
            "(layout 7), got layout 1");
}

TEST(WeightConfig, RefusesAMissingRecord) {
  Config config;
  config.recordName = "weight_7";
  EXPECT_EQ(read(config).message(),
            " config[\"a.weight\"]: the archive has no entry "
            "\"data/weights/weight_7\"");
}

TEST(WeightConfig, F48SurvivesRandomDamage) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    Expected<std::vector<ArchivedTensor>> tensors =
        readText(mutate(Config().text(), random), kWeightBytes);
    EXPECT_EQ(tensors.ok(), tensors.message().empty());
  }
}

TEST(WeightConfig, ReadsArchivesOfTorch) {
  std::string inputs = SFSDP_TEST_INPUTS "/archives/";
  struct Case {
    std::string file;
    size_t weights;
    size_t constants;
  };
  for (const Case &expected :
       {Case{"llama_tied.pt2", 20, 2}, Case{"mlp_batchnorm.pt2", 9, 0},
        Case{"hf_gpt2_tied.pt2", 28, 0}, Case{"makefx_user_io.pt2", 0, 0}}) {
    Expected<Archive> archive = Archive::open(inputs + expected.file);
    ASSERT_TRUE(archive) << archive.message();
    Expected<ExportedModel> model = findExportedModel(*archive);
    ASSERT_TRUE(model) << model.message();
    auto weights = readWeightConfig(*archive, model->name);
    ASSERT_TRUE(weights) << weights.message();
    auto constants = readConstantConfig(*archive, model->name);
    ASSERT_TRUE(constants) << constants.message();
    EXPECT_EQ(weights->size(), expected.weights) << expected.file;
    EXPECT_EQ(constants->size(), expected.constants) << expected.file;
    for (const ArchivedTensor &tensor : *weights) {
      EXPECT_TRUE(archive->verify(*archive->find(tensor.record)).ok());
    }
  }
}
