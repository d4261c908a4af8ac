//===- simplefsdp-opt.cpp - The compiler's command line -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-opt for training graphs: reads a captured graph or IR, runs passes,
// writes IR or a plan. Exit codes: 0 success, 1 bad input or a failed check, 2
// wrong usage.
//
// Tested by test/tools/.
//
//===----------------------------------------------------------------------===//

#include "dialect/Sfsdp.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/HeldRemarks.h"
#include "passes/Names.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "passes/Version.h"
#include "passes/import/Import.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

struct Flags {
  llvm::cl::opt<std::string> input{llvm::cl::Positional,
                                   llvm::cl::desc("<input file>"),
                                   llvm::cl::init("-")};
  llvm::cl::opt<std::string> output{"o", llvm::cl::desc("Output filename"),
                                    llvm::cl::value_desc("filename"),
                                    llvm::cl::init("-")};
  llvm::cl::opt<std::string> emitPlan{
      "emit-plan",
      llvm::cl::desc("Write the plan of the result to this file; the IR is "
                     "then printed to the file of -o only"),
      llvm::cl::value_desc("file")};
  llvm::cl::list<std::string> allowOp{
      "allow-op",
      llvm::cl::desc("Import calls of this operator of your own, given by its "
                     "schema: \"mylib::scale(Tensor x) -> Tensor\""),
      llvm::cl::value_desc("schema")};
};

/// Prints "FILE: error: message": a graph file has no lines.
void printImportDiagnostic(Diagnostic &diagnostic) {
  auto print = [](Diagnostic &part) {
    if (auto file = part.getLocation()->findInstanceOf<FileLineColLoc>()) {
      llvm::errs() << file.getFilename().getValue() << ": ";
    }
    switch (part.getSeverity()) {
    case DiagnosticSeverity::Error:
      llvm::WithColor::error();
      break;
    case DiagnosticSeverity::Warning:
      llvm::WithColor::warning();
      break;
    case DiagnosticSeverity::Note:
    case DiagnosticSeverity::Remark:
      llvm::WithColor::note();
      break;
    }
    llvm::errs() << part << "\n";
  };
  print(diagnostic);
  for (Diagnostic &note : diagnostic.getNotes()) {
    print(note);
  }
}

/// Replaces `input`, a captured graph, by the IR that it imports to.
LogicalResult importInput(std::unique_ptr<llvm::MemoryBuffer> &input,
                          const Flags &flags, const DialectRegistry &registry) {
  const std::string &path = flags.input;
  MLIRContext context(registry);
  ScopedDiagnosticHandler handler(&context, printImportDiagnostic);
  sfsdp::ImportOptions options;
  options.allowedOperators.assign(flags.allowOp.begin(), flags.allowOp.end());
  OwningOpRef<ModuleOp> module = sfsdp::importGraph(path, context, options);
  if (!module) {
    return failure();
  }
  std::string bytecode;
  llvm::raw_string_ostream stream(bytecode);
  if (failed(writeBytecodeToFile(*module, stream))) {
    return failure();
  }
  input = llvm::MemoryBuffer::getMemBufferCopy(bytecode, path);
  return success();
}

/// What the command line asks for, then --sfsdp-emit-plan if a plan is wanted.
/// Remarks wait for success; where a test expects them, for nothing.
void setUpPipeline(MlirOptMainConfig &config, const std::string &plan) {
  MlirOptMainConfig asked = config;
  config.setPassPipelineSetupFn([asked, plan](PassManager &manager) {
    if (!asked.shouldVerifyDiagnostics()) {
      manager.addInstrumentation(std::make_unique<sfsdp::HeldRemarks>(
          manager.getContext()->getDiagEngine()));
    }
    if (failed(asked.setupPassPipeline(manager))) {
      return failure();
    }
    if (!plan.empty()) {
      sfsdp::EmitPlanPassOptions options;
      options.output = plan;
      manager.addPass(sfsdp::createEmitPlanPass(options));
    }
    return success();
  });
}

/// Builds the pipeline once for its errors, before any input is read: what an
/// option's text is wrong about has no place in a file.
LogicalResult checkPipeline(const MlirOptMainConfig &config,
                            const DialectRegistry &registry) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &diagnostic) {
    std::string message = diagnostic.str();
    StringRef text = StringRef(message).trim();
    text.consume_front("<Pass-Options-Parser>: ");
    if (!text.empty()) { // else LLVM has printed its own
      llvm::WithColor::error() << text << "\n";
    }
  });
  PassManager manager(&context);
  return config.setupPassPipeline(manager);
}

/// An error names its place; the whole module behind it is noise. Unless asked
/// for, MLIR's default is turned around.
void keepDiagnosticsShort() {
  auto *option = static_cast<llvm::cl::opt<bool> *>(
      llvm::cl::getRegisteredOptions().lookup("mlir-print-op-on-diagnostic"));
  if (option && option->getNumOccurrences() == 0) {
    option->setValue(false);
  }
}

/// By content, and by name: a damaged archive is no IR with a syntax error.
/// What is neither text nor bytecode is no IR either; the importer says so.
bool isGraph(StringRef name, StringRef bytes) {
  bool isIr = isBytecode(llvm::MemoryBufferRef(bytes, name)) ||
              !bytes.take_front(64).contains('\0');
  return name.ends_with(".pt2") || name.ends_with(".json") ||
         sfsdp::looksLikeArchive(bytes) || !isIr;
}

/// Whether both paths lead to one file, be it there or not yet.
bool isSameFile(StringRef a, StringRef b) {
  bool same = false;
  return a != "-" && (a == b || (!llvm::sys::fs::equivalent(a, b, same) &&
                                 same && llvm::sys::fs::is_regular_file(a)));
}

/// A plan replaces neither what it is made from nor the IR beside it, and IR no
/// captured graph.
LogicalResult checkDistinctFiles(StringRef input, bool inputIsGraph,
                                 StringRef output, StringRef plan) {
  auto refuse = [](const llvm::Twine &writer, StringRef path) {
    llvm::WithColor::error()
        << writer << " (" << path << "); expected another file\n";
    return failure();
  };
  if (!plan.empty() && isSameFile(plan, input)) {
    return refuse("--emit-plan would overwrite the input", input);
  }
  if (!plan.empty() && isSameFile(plan, output)) {
    return refuse("--emit-plan would overwrite the IR of -o", output);
  }
  if (inputIsGraph && isSameFile(output, input)) {
    return refuse("-o would overwrite the input", input);
  }
  return success();
}

/// LLVM suggests the nearest of all names, however far that is: cuts a far one.
StringRef cutFarSuggestion(StringRef text) {
  auto [unknown, suggestion] = text.split('\n');
  auto nameIn = [](StringRef line) {
    StringRef quoted = line.split('\'').second.split('\'').first;
    return quoted.split('=').first.ltrim('-');
  };
  bool isFar = suggestion.contains("Did you mean") &&
               !sfsdp::isNearName(nameIn(unknown), nameIn(suggestion));
  return isFar ? unknown : text;
}

/// Fails after an error was printed.
LogicalResult parseCommandLine(int argc, char **argv,
                               DialectRegistry &registry) {
  std::string header =
      registerCLIOptions("SimpleFSDP compiler for training graphs\n", registry);
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  if (llvm::cl::ParseCommandLineOptions(argc, argv, header, &stream)) {
    return success();
  }
  StringRef text = cutFarSuggestion(StringRef(errors).trim());
  text.consume_front("simplefsdp-opt: ");
  if (!text.empty()) { // else LLVM has printed its own
    llvm::WithColor::error() << text << "\n";
  }
  return failure();
}

/// Reads the input, runs the passes of `config`, writes what `flags` ask for.
LogicalResult compile(const Flags &flags, const MlirOptMainConfig &config,
                      DialectRegistry &registry) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(flags.input, &message);
  if (!input) {
    llvm::WithColor::error() << message << "\n";
    return failure();
  }
  bool inputIsGraph = isGraph(flags.input, input->getBuffer());
  if (failed(checkDistinctFiles(flags.input, inputIsGraph, flags.output,
                                flags.emitPlan)) ||
      (inputIsGraph && failed(importInput(input, flags, registry)))) {
    return failure();
  }
  if (!flags.emitPlan.empty() && flags.output == "-") {
    return MlirOptMain(llvm::nulls(), std::move(input), registry, config);
  }
  std::unique_ptr<llvm::ToolOutputFile> output =
      openOutputFile(flags.output, &message);
  if (!output) {
    llvm::WithColor::error() << message << "\n";
    return failure();
  }
  if (failed(MlirOptMain(output->os(), std::move(input), registry, config))) {
    return failure();
  }
  output->keep();
  return success();
}

int run(int argc, char **argv) {
  DialectRegistry registry;
  registry.insert<func::FuncDialect, sfsdp::SfsdpDialect>();
  registerTransformsPasses();
  sfsdp::registerSfsdpPasses();
  sfsdp::registerPipelines();
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &stream) {
    stream << "simplefsdp-opt " << sfsdp::kVersion << "\n";
  });

  Flags flags;
  if (failed(parseCommandLine(argc, argv, registry))) {
    return kWrongUsage;
  }
  keepDiagnosticsShort();
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (failed(checkPipeline(config, registry))) {
    return kWrongUsage;
  }
  setUpPipeline(config, flags.emitPlan);
  return succeeded(compile(flags, config, registry)) ? 0 : kFailed;
}

} // namespace

int main(int argc, char **argv) { return run(argc, argv); }
