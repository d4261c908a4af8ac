//===- Resolve.h - From the text of a program to a step -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the tests of passes/import.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_TEST_UNIT_PASSES_IMPORT_RESOLVE_H
#define SFSDP_TEST_UNIT_PASSES_IMPORT_RESOLVE_H

#include "passes/import/CapturedStep.h"
#include "test/support/ProgramText.h"

#include <gtest/gtest.h>

namespace sfsdp::test {

/// The outcome of an import, with what it points into.
struct Resolved {
  exported::GraphFile file;
  std::unique_ptr<rules::SchemaTable> schemas =
      std::make_unique<rules::SchemaTable>();
  exported::Report report;
  std::optional<exported::CapturedStep> step;

  /// All errors, a line each.
  std::string errors() const {
    std::string text;
    for (const std::string &error : report.errors) {
      text += error + "\n";
    }
    return text;
  }

  void run() { step = exported::resolveStep(file, *schemas, report); }
};

/// Resolves the archive `name` of test/Inputs/archives.
inline Resolved resolveArchive(const std::string &name) {
  Resolved result;
  runtime::Expected<exported::GraphFile> file = exported::readGraphFile(
      std::string(SFSDP_TEST_INPUTS) + "/archives/" + name + ".pt2");
  if (!file) {
    result.report.errors.push_back(file.message());
    return result;
  }
  result.file = std::move(*file);
  result.run();
  return result;
}

/// Reads `program` as record "graph"; the caller may add to the file and then
/// calls `run`.
inline Resolved prepare(const ProgramText &program) {
  Resolved result;
  result.file.name = "step.pt2";
  result.file.entry = "graph";
  runtime::Expected<runtime::JsonDocument> document =
      runtime::parseJson(program.text(), "graph");
  EXPECT_TRUE(document.ok()) << document.message();
  runtime::Expected<exported::Program> read =
      exported::readProgram(document->root());
  EXPECT_TRUE(read.ok()) << read.message();
  if (read) {
    result.file.program = std::move(*read);
  }
  return result;
}

inline Resolved resolve(const ProgramText &program) {
  Resolved result = prepare(program);
  result.run();
  return result;
}

/// Expects the import to fail with `errors`, a line each.
inline void expectErrors(const Resolved &result, std::string_view errors) {
  EXPECT_FALSE(result.step);
  EXPECT_EQ(result.errors(), errors);
}

} // namespace sfsdp::test

#endif // SFSDP_TEST_UNIT_PASSES_IMPORT_RESOLVE_H
