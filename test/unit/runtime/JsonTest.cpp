//===- JsonTest.cpp - The one JSON reader and writer ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/Json.h"
#include "test/support/Mutate.h"
#include "test/support/TemporaryFolder.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace sfsdp::runtime;

namespace {

/// The message for `text`, or the text written again.
std::string parsed(std::string_view text, JsonLimits limits = {}) {
  Expected<JsonDocument> document = parseJson(text, "a.json", limits);
  return document ? writeJson(document->value) : document.message();
}

JsonDocument parseGood(std::string_view text) {
  Expected<JsonDocument> document = parseJson(text, "a.json");
  EXPECT_TRUE(document) << document.message();
  return *std::move(document);
}

std::string nested(int depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

struct Storage {
  int64_t bytes = 0;
  std::string role = "temporary";
  std::optional<int64_t> last;
};

Status readJson(JsonPlace place, Storage &storage) {
  JsonFields fields(place);
  fields.required("bytes", storage.bytes);
  fields.optional("role", storage.role);
  fields.optional("last", storage.last);
  return fields.finishStrictly();
}

} // namespace

TEST(JsonParse, KeepsKindsAndOrder) {
  EXPECT_EQ(parsed(R"({"b": [1, -2.5, true, null], "a": "x\n\u00e9"})"),
            R"({"b": [1, -2.5, true, null], "a": "x\né"})");
  EXPECT_EQ(parsed(" 7 "), "7");
}

TEST(JsonParse, KeepsTheEndsOfIntegers) {
  EXPECT_EQ(parsed("[9223372036854775807, -9223372036854775808]"),
            "[9223372036854775807, -9223372036854775808]");
}

TEST(JsonParse, RefusesIntegersThatWouldBeRounded) {
  for (const char *digits : {"9223372036854775808", "18446744073709551616",
                             "-9223372036854775809"}) {
    EXPECT_NE(parsed(digits).find("integer does not fit 64 bits"),
              std::string::npos)
        << parsed(digits);
  }
}

TEST(JsonParse, RefusesNonFiniteNumbers) {
  for (const char *text : {"1e999", "-1e999", "NaN", "Infinity", "[nan]"}) {
    EXPECT_FALSE(parseJson(text, "a.json")) << text;
  }
}

TEST(JsonParse, ErrorsNameLineAndColumn) {
  // The last byte read shows the problem: here the closing brace.
  EXPECT_EQ(parsed("{\n  \"a\": 1,\n  \"b\": }").substr(0, 12), "a.json:3:8: ");
  EXPECT_EQ(parsed("[1 2]").substr(0, 12), "a.json:1:4: ");
  EXPECT_EQ(parsed("").substr(0, 12), "a.json:1:1: ");
}

TEST(JsonParse, RefusesAMemberThatOccursTwice) {
  // 12 = column of the second name's closing quote.
  EXPECT_EQ(parsed(R"({"a": 1, "a": 2})"),
            "a.json:1:12: member \"a\" occurs twice in one object");
  EXPECT_EQ(parsed(R"({"a": {"a": 1}})"), R"({"a": {"a": 1}})");
}

TEST(JsonParse, RefusesGarbageAfterTheValue) {
  for (const char *text : {"{} x", "1 2", "[] []", "{}}"}) {
    EXPECT_FALSE(parseJson(text, "a.json")) << text;
  }
}

TEST(JsonParse, RefusesWhatIsNotUtf8) {
  for (std::string_view text :
       {"\"\xff\"", "\"\xc3\"", "\"\xed\xa0\x80\"", R"("\ud800")"}) {
    EXPECT_FALSE(parseJson(text, "a.json")) << text;
  }
}

TEST(JsonParse, LimitsNesting) {
  EXPECT_EQ(parsed(nested(128)), nested(128));
  EXPECT_EQ(parsed(nested(129)),
            "a.json:1:129: nested too deep, expected at most 128 levels");
  // A recursive reader would overflow its stack.
  EXPECT_FALSE(parseJson(std::string(1'000'000, '['), "a.json"));
}

TEST(JsonParse, LimitsSize) {
  JsonLimits limits;
  limits.maxBytes = 4;
  EXPECT_EQ(parsed("[1,2]", limits),
            "a.json: expected at most 4 bytes of JSON, got 5");
}

TEST(JsonParse, ReadsFiles) {
  sfsdp::test::TemporaryFolder folder;
  std::string path = folder.write("good.json", "{\"a\": 1}");
  Expected<JsonDocument> document = readJsonFile(path);
  ASSERT_TRUE(document) << document.message();
  EXPECT_EQ(document->name, path);
  EXPECT_EQ(readJsonFile(folder.path("none.json")).message(),
            folder.path("none.json") +
                ": cannot open: No such file or directory");
}

TEST(JsonParse, SurvivesRandomDamage) {
  const std::string good =
      R"({"n": [1, -2.5e3, true, null], "s": "a\u00e9", "o": {"x": {}}})";
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text = sfsdp::test::mutate(good, random);
    Expected<JsonDocument> document = parseJson(text, "a.json");
    EXPECT_EQ(document.ok(), document.message().empty());
  }
}

TEST(Json, FindsMembersOfSmallAndLargeObjects) {
  for (int size : {1, 16, 17, 1000}) {
    Json built = Json::object();
    for (int i = size; i > 0; --i) {
      built.add("k" + std::to_string(i), i);
    }
    JsonDocument read = parseGood(writeJson(built));
    for (const Json *object : {&built, &read.value}) {
      for (int i = 1; i <= size; ++i) {
        const Json *found = object->find("k" + std::to_string(i));
        ASSERT_TRUE(found);
        EXPECT_EQ(*found->asInteger(), i);
      }
      EXPECT_EQ(object->find("k0"), nullptr);
    }
    EXPECT_EQ(writeJson(read.value), writeJson(built));
  }
}

TEST(JsonPlace, ErrorsNameThePath) {
  JsonDocument document = parseGood(
      R"({"storages": [{}, {"bytes": "8"}], "config": {"a.w": {"n": 1.5}}})");
  JsonPlace bytes(
      document,
      *document.value.find("storages")->asArray()->at(1).find("bytes"));
  EXPECT_EQ(bytes.integer().message(),
            "a.json: storages[1].bytes: expected an integer, got a string");
  JsonPlace n(document, *document.value.find("config")->find("a.w")->find("n"));
  EXPECT_EQ(n.integer().message(),
            "a.json: config[\"a.w\"].n: expected an integer, got a number "
            "with a fraction or exponent");
  EXPECT_EQ(document.root().member("plan").message(),
            "a.json: missing member \"plan\"");
  EXPECT_EQ(document.root().items().message(),
            "a.json: expected an array, got an object");
}

TEST(JsonPlace, ChecksRanges) {
  JsonDocument document = parseGood("300");
  EXPECT_EQ(document.root().integerWithin(0, 255).message(),
            "a.json: expected an integer from 0 to 255, got 300");
  EXPECT_EQ(*document.root().integerWithin(300, 300), 300);
}

TEST(JsonPlace, NumbersAreExact) {
  EXPECT_EQ(*parseGood("9007199254740992").root().number(), 0x1p53);
  EXPECT_FALSE(parseGood("9007199254740993").root().number());
  EXPECT_FALSE(parseGood("\"NaN\"").root().number());
  EXPECT_TRUE(std::isnan(*parseGood("\"NaN\"").root().extendedNumber()));
  EXPECT_EQ(*parseGood("\"-Infinity\"").root().extendedNumber(),
            -std::numeric_limits<double>::infinity());
  EXPECT_FALSE(parseGood("\"inf\"").root().extendedNumber());
}

TEST(JsonFields, ReadsStructsInVectors) {
  JsonDocument document = parseGood(
      R"([{"bytes": 8, "last": 3}, {"bytes": 16, "role": "w", "last": null}])");
  std::vector<Storage> storages;
  Status status = readJson(document.root(), storages);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(storages.size(), 2u);
  EXPECT_EQ(storages[0].bytes, 8);
  EXPECT_EQ(storages[0].role, "temporary");
  EXPECT_EQ(storages[0].last, 3);
  EXPECT_EQ(storages[1].role, "w");
  EXPECT_EQ(storages[1].last, std::nullopt);
}

TEST(JsonFields, KeepsTheFirstProblem) {
  auto messageFor = [](std::string_view text) {
    JsonDocument document = parseGood(text);
    std::vector<Storage> storages;
    return readJson(document.root(), storages).message();
  };
  EXPECT_EQ(messageFor(R"([{"role": 1, "bytes": "x"}])"),
            "a.json: [0].bytes: expected an integer, got a string");
  EXPECT_EQ(messageFor(R"([{"bytes": 1}, {}])"),
            "a.json: [1]: missing member \"bytes\"");
  EXPECT_EQ(messageFor(R"([{"bytes": 1, "colour": 2}])"),
            "a.json: [0]: unknown member \"colour\"");
  EXPECT_EQ(messageFor("[7]"),
            "a.json: [0]: expected an object, got an integer");
}

TEST(JsonWrite, DoublesReadBackAsTheSameBits) {
  for (double number :
       {0.1, 1.0, -0.0, 1e22, 1e-7, 5e-324, 0x1.fffffffffffffp1023, 1.0 / 3}) {
    JsonDocument document = parseGood(writeJson(Json(number)));
    const double *read = document.value.asDouble();
    ASSERT_TRUE(read) << writeJson(Json(number));
    EXPECT_EQ(*read, number);
    EXPECT_EQ(std::signbit(*read), std::signbit(number));
  }
  EXPECT_EQ(writeJson(Json(0.1)), "0.1");
  EXPECT_EQ(writeJson(Json(2.0)), "2.0");
  EXPECT_EQ(writeJson(Json(-std::numeric_limits<double>::infinity())),
            "\"-Infinity\"");
}

TEST(JsonWrite, ExpandsToTheGivenDepth) {
  JsonDocument document = parseGood(R"({"a": [{"x": 1}, {"y": []}], "b": {}})");
  EXPECT_EQ(writeJson(document.value, {.expandedDepth = 2}), "{\n"
                                                             "  \"a\": [\n"
                                                             "    {\"x\": 1},\n"
                                                             "    {\"y\": []}\n"
                                                             "  ],\n"
                                                             "  \"b\": {}\n"
                                                             "}");
}

TEST(JsonWrite, TextIsAlwaysValid) {
  EXPECT_EQ(writeJson(Json("a\"\\\n\x01")), R"("a\"\\\n\u0001")");
  EXPECT_EQ(writeJson(Json("\xff")), "\"\xef\xbf\xbd\"");
  EXPECT_EQ(writeJson(Json("é")), "\"é\"");
}
