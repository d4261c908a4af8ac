//===- TensorOutput.cpp - Dumps and trained weights -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors are collected and written one after the other: no rank holds more
// than one whole tensor beside its own memory. Every rank takes part in
// collecting; rank 0 writes.
//
// Tested by test/unit/runtime/LocalJobTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/Collect.h"
#include "runtime/RankRun.h"
#include "runtime/Safetensors.h"

#include <cstring>

using namespace sfsdp::runtime;

namespace {

/// A tensor of the plan that is to be written whole.
struct Output {
  std::string name;
  bool isResult = false;
  size_t index = 0; ///< into arguments or results
};

bool isWeight(const Argument &argument) {
  return argument.role == Role::Parameter || argument.role == Role::Buffer;
}

std::vector<Output> weightsOf(const Plan &plan) {
  std::vector<Output> outputs;
  for (size_t index = 0; index < plan.arguments.size(); ++index) {
    if (isWeight(plan.arguments[index])) {
      outputs.push_back({plan.arguments[index].name, false, index});
    }
  }
  return outputs;
}

std::vector<Output> dumpOf(const Plan &plan) {
  std::vector<Output> outputs = weightsOf(plan);
  for (size_t index = 0; index < plan.results.size(); ++index) {
    if (plan.results[index].role == Role::Gradient) {
      outputs.push_back({"grad." + plan.results[index].name, true, index});
    }
  }
  return outputs;
}

/// Collects and writes for one rank.
class TensorOutput {
public:
  TensorOutput(const Job &job, const MeshPosition &position,
               const RankGroups &groups, Executor &executor)
      : plan(job.plan), isWriter(position.rank() == 0), groups(groups),
        executor(executor) {}

  /// Rank 0 writes `loss` too when it is given.
  Status write(const std::string &path, const std::vector<Output> &outputs,
               std::optional<double> loss, const SafetensorsMetadata &metadata);

private:
  SafetensorsSpec specOf(const Output &output) const;
  Expected<std::vector<std::byte>> collect(const Output &output);

  const Plan &plan;
  bool isWriter;
  const RankGroups &groups;
  Executor &executor;
};

SafetensorsSpec TensorOutput::specOf(const Output &output) const {
  ValueId value = output.isResult ? plan.results[output.index].value
                                  : plan.arguments[output.index].value;
  return {output.name, plan.values[value].dtype,
          output.isResult ? plan.results[output.index].globalShape
                          : plan.arguments[output.index].globalShape};
}

Expected<std::vector<std::byte>> TensorOutput::collect(const Output &output) {
  const Mesh &mesh = plan.header.mesh;
  if (output.isResult) {
    const Result &result = plan.results[output.index];
    return collectWhole(result.globalShape, result.placement, mesh,
                        executor.result(output.index), groups.world());
  }
  const Argument &argument = plan.arguments[output.index];
  return collectWhole(argument.globalShape, argument.placement, mesh,
                      executor.argument(output.index), groups.world());
}

Status TensorOutput::write(const std::string &path,
                           const std::vector<Output> &outputs,
                           std::optional<double> loss,
                           const SafetensorsMetadata &metadata) {
  std::vector<SafetensorsSpec> specs;
  if (loss) {
    specs.push_back({"loss", DType::Float32, {}});
  }
  for (const Output &output : outputs) {
    specs.push_back(specOf(output));
  }
  std::optional<SafetensorsWriter> writer;
  if (isWriter) {
    auto made = SafetensorsWriter::create(path, specs, metadata);
    if (!made) {
      return made.status();
    }
    writer.emplace(std::move(*made));
  }
  if (writer && loss) {
    auto value = static_cast<float>(*loss);
    Status status =
        writer->write("loss", 0, std::as_bytes(std::span(&value, 1)));
    if (!status.ok()) {
      return status;
    }
  }
  for (const Output &output : outputs) {
    auto whole = collect(output);
    if (!whole) {
      return whole.status().within(output.name);
    }
    Status status = writer ? writer->write(output.name, 0, *whole) : Status();
    if (!status.ok()) {
      return status;
    }
  }
  return writer ? writer->commit() : Status();
}

/// Further names of tied parameters, as "other" → "first".
SafetensorsMetadata tiedNames(const Plan &plan) {
  SafetensorsMetadata metadata = {{"format", "pt"}};
  for (const Argument &argument : plan.arguments) {
    for (const std::string &alias : argument.aliases) {
      metadata.emplace_back(alias, argument.name);
    }
  }
  return metadata;
}

} // namespace

Status sfsdp::runtime::writeTensors(const Job &job,
                                    const MeshPosition &position,
                                    const RankGroups &groups,
                                    Executor &executor, double loss) {
  TensorOutput output(job, position, groups, executor);
  if (!job.options.dump.empty()) {
    Status status = output.write(job.options.dump, dumpOf(job.plan), loss, {});
    if (!status.ok()) {
      return status;
    }
  }
  if (job.options.saveWeights.empty()) {
    return Status();
  }
  return output.write(job.options.saveWeights, weightsOf(job.plan),
                      std::nullopt, tiedNames(job.plan));
}
