//===- ExportedProgramFuzzer.cpp - Captured graphs of any text ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever the JSON of an exported program says, import ends with a step or
// with an error that has a text.
//
//===----------------------------------------------------------------------===//

#include "passes/import/CapturedStep.h"
#include "test/fuzz/readers/FuzzInput.h"
#include "test/fuzz/readers/JsonMutator.h"

using namespace sfsdp;
using test::require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  test::FuzzFile input(test::asText(data, size));
  runtime::Expected<exported::GraphFile> file =
      exported::readGraphFile(input.path());
  if (!file) {
    require(!file.message().empty(), "an error has a text");
    return 0;
  }
  rules::SchemaTable schemas;
  exported::Report report;
  std::optional<exported::CapturedStep> step =
      exported::resolveStep(*file, schemas, report);
  require(step.has_value() != report.hasErrors(),
          "import gives a step or an error");
  for (const std::string &error : report.errors) {
    require(!error.empty(), "an error has a text");
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  return test::mutateJson(data, size, maxSize, seed);
}
