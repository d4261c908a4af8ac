//===- ManifestTest.cpp - The capture package's manifest is read --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/import/Manifest.h"

#include <gtest/gtest.h>

namespace sfsdp::test {
namespace {

using namespace sfsdp::exported;
using runtime::Expected;

Expected<Manifest> read(std::string_view text) {
  Expected<runtime::JsonDocument> document =
      runtime::parseJson(text, kManifestRecord);
  return document ? readManifest(document->root()) : document.status();
}

constexpr std::string_view kText = R"({
  "schema": 1, "torch": "2.15.0",
  "inputs": [{"name": "batch.tokens", "graph": "batch_tokens", "shape": [4]}],
  "parameters": [{"fqn": "embed", "graph": "p_embed", "trainable": true,
                  "aliases": ["head"]}],
  "outputs": [{"name": "logits", "graph": "view_3"}],
  "loss": "mean", "train": true})";

TEST(ManifestTest, GivesPythonsNames) {
  Expected<Manifest> manifest = read(kText);
  ASSERT_TRUE(manifest.ok()) << manifest.message();
  EXPECT_EQ(manifest->inputName("batch_tokens"), "batch.tokens");
  EXPECT_EQ(manifest->inputName("labels"), "labels");
  EXPECT_EQ(manifest->outputName("view_3"), "logits");
  EXPECT_EQ(manifest->parameters.at(0).aliases,
            std::vector<std::string>{"head"});
  EXPECT_EQ(manifest->loss, "mean");
  EXPECT_TRUE(manifest->train);
}

TEST(ManifestTest, RefusesAnotherVersion) {
  std::string text(kText);
  text.replace(text.find("1,"), 1, "2");
  EXPECT_EQ(read(text).message(),
            "extra/simplefsdp.json: expected manifest version 1, got 2; "
            "capture again with the simplefsdp_capture of this build");
}

TEST(ManifestTest, RefusesMissingKeys) {
  EXPECT_NE(read(R"({"schema": 1})").message().find("inputs"),
            std::string::npos);
  EXPECT_FALSE(read("[]").ok());
}

} // namespace
} // namespace sfsdp::test
