//===- BatchesTest.cpp - Training data ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Batches.h"
#include "runtime/Safetensors.h"
#include "test/support/PlanBuilder.h"
#include "test/support/TemporaryFolder.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace sfsdp::runtime;
using namespace sfsdp::test;

namespace {

/// Two inputs of [2, 3] ids below 50.
const std::vector<InputSpec> kInputs = {
    {"tokens", DType::Int64, {2, 3}, 50},
    {"labels", DType::Int64, {2, 3}, std::nullopt}};

template <typename T>
std::string bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(T)};
}

std::vector<uint16_t> counting(size_t count) {
  std::vector<uint16_t> tokens(count);
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

struct Batch {
  std::vector<int64_t> tokens = std::vector<int64_t>(6);
  std::vector<int64_t> labels = std::vector<int64_t>(6);
};

Batch read(const Batches &batches, int64_t index) {
  Batch batch;
  Status status =
      batches.read(index, {std::as_writable_bytes(std::span(batch.tokens)),
                           std::as_writable_bytes(std::span(batch.labels))});
  EXPECT_EQ(status.message(), "");
  return batch;
}

std::unique_ptr<Batches> open(const std::string &path,
                              TokenType type = TokenType::U16) {
  auto batches = Batches::open(path, kInputs, type);
  EXPECT_EQ(batches.message(), "");
  return batches ? std::move(*batches) : nullptr;
}

std::string errorOf(const std::string &path,
                    const std::vector<InputSpec> &inputs = kInputs) {
  return Batches::open(path, inputs, TokenType::U16).message();
}

/// A safetensors file of `tokens` and `labels`, [batches, 2, 3] each.
std::string writeTensors(const TemporaryFolder &folder, int64_t batches,
                         const std::vector<int64_t> &tokens) {
  std::string path = folder.path("data.safetensors");
  std::vector<int64_t> shape = {batches, 2, 3};
  auto writer = SafetensorsWriter::create(
      path, {{"tokens", DType::Int64, shape}, {"labels", DType::Int64, shape}});
  EXPECT_TRUE(writer);
  for (const char *name : {"tokens", "labels"}) {
    EXPECT_TRUE(writer->write(name, 0, std::as_bytes(std::span(tokens))).ok());
  }
  EXPECT_TRUE(writer->commit().ok());
  return path;
}

} // namespace

TEST(Batches, TokensAreCutInOrderAndLabelsAreOneAhead) {
  TemporaryFolder folder;
  auto batches = open(folder.write("a.bin", bytesOf(counting(14))));
  ASSERT_TRUE(batches);
  EXPECT_EQ(batches->count(), 2); // (14 - 1) / 6
  Batch second = read(*batches, 1);
  EXPECT_EQ(second.tokens, (std::vector<int64_t>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(second.labels, (std::vector<int64_t>{7, 8, 9, 10, 11, 12}));
}

TEST(Batches, HeaderlessU32) {
  TemporaryFolder folder;
  std::vector<uint32_t> tokens = {1, 2, 3, 4, 5, 6, 49};
  auto batches = open(folder.write("a.bin", bytesOf(tokens)), TokenType::U32);
  ASSERT_TRUE(batches);
  EXPECT_EQ(read(*batches, 0).labels.back(), 49);
}

TEST(Batches, HeaderOfLlmC) {
  TemporaryFolder folder;
  std::vector<int32_t> header(256, 0);
  header[0] = 20240520;
  header[1] = 1;
  auto batches =
      open(folder.write("a.bin", bytesOf(header) + bytesOf(counting(7))));
  ASSERT_TRUE(batches);
  EXPECT_EQ(read(*batches, 0).tokens.front(), 0);
  header[1] = 2;
  std::string path =
      folder.write("b.bin", bytesOf(header) + bytesOf(counting(7)));
  EXPECT_EQ(errorOf(path),
            path + ": llm.c token file of version 2, expected 1");
}

TEST(Batches, TooShort) {
  TemporaryFolder folder;
  std::string path = folder.write("a.bin", bytesOf(counting(6)));
  EXPECT_EQ(errorOf(path), path + ": holds 6 tokens, one batch needs 7");
}

TEST(Batches, IdsOutsideTheVocabularyAreFoundAtOnce) {
  TemporaryFolder folder;
  std::string path = folder.write("a.bin", bytesOf(counting(51)));
  EXPECT_EQ(errorOf(path), path + ": token 50 holds id 50, the embedding that "
                                  "reads it has 50 rows");
}

TEST(Batches, TokensFeedIntegerInputsOnly) {
  TemporaryFolder folder;
  std::string path = folder.write("a.bin", bytesOf(counting(20)));
  EXPECT_EQ(errorOf(path, {{"x", DType::Float32, {2}, std::nullopt}}),
            path + ": a token stream feeds one or two integer inputs of the "
                   "same shape, the plan has 'x' f32[2]; give a safetensors "
                   "file instead");
}

TEST(Batches, CutInTheMiddleOfAToken) {
  TemporaryFolder folder;
  std::string path = folder.write("a.bin", bytesOf(counting(20)) + "x");
  EXPECT_NE(errorOf(path).find("41 bytes are no whole number of tokens"),
            std::string::npos);
}

TEST(Batches, OneTensorPerInput) {
  TemporaryFolder folder;
  std::vector<int64_t> ids(12);
  std::iota(ids.begin(), ids.end(), 0);
  auto batches = open(writeTensors(folder, 2, ids));
  ASSERT_TRUE(batches);
  EXPECT_EQ(batches->count(), 2);
  EXPECT_EQ(read(*batches, 1).tokens,
            (std::vector<int64_t>{6, 7, 8, 9, 10, 11}));
}

TEST(Batches, TensorsThatDoNotFit) {
  TemporaryFolder folder;
  std::string path = writeTensors(folder, 1, {0, 1, 2, 3, 4, 50});
  EXPECT_EQ(errorOf(path), path + ": batch 0 of input 'tokens' holds id 50, "
                                  "the embedding that reads it has 50 rows");
  EXPECT_EQ(errorOf(path, {{"x", DType::Int64, {2, 3}, std::nullopt}}),
            path + ": has no tensor for input 'x'");
  EXPECT_EQ(errorOf(path, {{"tokens", DType::Int64, {2, 4}, std::nullopt}}),
            path + ": tensor 'tokens' is i64[1, 2, 3], expected i64[2, 4] "
                   "behind a first dimension of batches: the graph was "
                   "captured for batch 2, capture it again for another");
}

TEST(Batches, F51AnotherBatchSizeThanCaptured) {
  TemporaryFolder folder;
  std::string path = writeTensors(folder, 1, {0, 1, 2, 3, 4, 5});
  std::string error =
      errorOf(path, {{"tokens", DType::Int64, {1, 3}, std::nullopt}});
  EXPECT_NE(error.find("captured for batch 1"), std::string::npos) << error;
}

TEST(Batches, FingerprintsTellFilesApart) {
  TemporaryFolder folder;
  auto a = open(folder.write("a.bin", bytesOf(counting(14))));
  std::vector<uint16_t> other = counting(14);
  other.back() = 3;
  auto b = open(folder.write("b.bin", bytesOf(other)));
  EXPECT_NE(a->fingerprint(), b->fingerprint());
}

TEST(Batches, RanksReadDifferentBatches) {
  // Step s on rank r of n reads (s - 1) * n + r, and wraps around.
  EXPECT_EQ(batchOf({1, 0, 0}, 1, 3, 100), 0);
  EXPECT_EQ(batchOf({2, 0, 1}, 1, 3, 100), 4);
  EXPECT_EQ(batchOf({34, 0, 1}, 1, 3, 100), 0);
  // (s·m + j)·n + r, steps from 0: (1·4 + 3)·3 + 2.
  EXPECT_EQ(batchOf({2, 3, 2}, 4, 3, 100), 23);
}

TEST(Batches, VocabularyIsTheEmbeddingsRows) {
  PlanBuilder builder;
  ValueId table = builder.argument(Role::Parameter, "table", {11, 4});
  ValueId ids = builder.argument(Role::Input, "ids", {2, 3}, {}, DType::Int64);
  builder.argument(Role::Input, "other", {2, 3}, {}, DType::Int64);
  builder.call("aten::embedding", "", {ValueRef{table}, ValueRef{ids}},
               {{{2, 3, 4}}});
  std::vector<InputSpec> inputs = inputsOf(builder.finish());
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].vocabulary, 11);
  EXPECT_EQ(inputs[1].vocabulary, std::nullopt);
}
