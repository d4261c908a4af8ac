//===- simplefsdp-opt.cpp - The compiler's command line
//--------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-opt for training graphs: reads a captured graph or IR, runs passes,
// writes IR or a plan.
//
// Tested by test/tools/.
//
//===----------------------------------------------------------------------===//

#include "dialect/Sfsdp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "passes/Version.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;

namespace {

struct Flags {
  llvm::cl::opt<std::string> emitPlan{
      "emit-plan",
      llvm::cl::desc("Write the plan of the result to this file; the IR is "
                     "then printed to the file of -o only"),
      llvm::cl::value_desc("file")};
};

/// Adds --sfsdp-emit-plan after what the command line asks for.
void appendEmitPlan(MlirOptMainConfig &config, const std::string &path) {
  MlirOptMainConfig asked = config;
  config.setPassPipelineSetupFn([asked, path](PassManager &manager) {
    if (failed(asked.setupPassPipeline(manager))) {
      return failure();
    }
    sfsdp::EmitPlanPassOptions options;
    options.output = path;
    manager.addPass(sfsdp::createEmitPlanPass(options));
    return success();
  });
}

LogicalResult run(int argc, char **argv) {
  DialectRegistry registry;
  registry.insert<func::FuncDialect, sfsdp::SfsdpDialect>();
  registerTransformsPasses();
  sfsdp::registerSfsdpPasses();
  sfsdp::registerPipelines();
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &stream) {
    stream << "simplefsdp-opt " << sfsdp::kVersion << "\n";
  });

  Flags flags;
  auto [inputName, outputName] = registerAndParseCLIOptions(
      argc, argv, "SimpleFSDP compiler for training graphs\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  bool plansOnly = !flags.emitPlan.empty() && outputName == "-";
  if (!flags.emitPlan.empty()) {
    appendEmitPlan(config, flags.emitPlan);
  }

  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(inputName, &message);
  if (!input) {
    llvm::WithColor::error() << message << "\n";
    return failure();
  }
  if (plansOnly) {
    return MlirOptMain(llvm::nulls(), std::move(input), registry, config);
  }
  std::unique_ptr<llvm::ToolOutputFile> output =
      openOutputFile(outputName, &message);
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

} // namespace

int main(int argc, char **argv) { return asMainReturnCode(run(argc, argv)); }
