//===- Signature.cpp - What arguments and results are -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Signature.h.
//
// Tested by test/unit/passes/import/SignatureTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/import/Signature.h"

#include <algorithm>
#include <array>

namespace sfsdp::exported {

using runtime::Role;

namespace {

std::string quoted(const std::string &name) { return "\"" + name + "\""; }

size_t countOutputs(const Program &program, OutputKind kind) {
  return std::ranges::count(program.outputSpecs, kind, &OutputSpec::kind);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

std::optional<Role> roleOf(InputKind kind) {
  switch (kind) {
  case InputKind::Parameter:
    return Role::Parameter;
  case InputKind::Buffer:
    return Role::Buffer;
  case InputKind::Constant:
    return Role::Constant;
  case InputKind::User:
    return Role::Input;
  case InputKind::Object:
  case InputKind::Token:
  case InputKind::Value:
    return std::nullopt;
  }
  return std::nullopt;
}

/// Name of the tensor that is graph input `index`, which the specification must
/// name too; empty for an input that is no tensor and that nothing can use.
Expected<std::string> tensorOfInput(const Program &program, size_t index) {
  const InputSpec &spec = program.inputSpecs[index];
  std::string subject = "graph input " + std::to_string(index) + " ";
  if (spec.kind == InputKind::Object || spec.kind == InputKind::Token) {
    return Status::error(subject + quoted(spec.target) +
                         " is an object: expected tensors; keep its state in "
                         "parameters and buffers");
  }
  const Argument &input = program.inputs[index];
  if (const auto *symbol = std::get_if<Symbol>(&input)) {
    return Status::error(subject + "is the symbolic number " +
                         describeSymbol(program, *symbol) +
                         ": expected static shapes; capture without dynamic "
                         "shapes");
  }
  const auto *tensor = std::get_if<TensorName>(&input);
  if (tensor == nullptr || spec.kind == InputKind::Value) {
    return std::string();
  }
  const auto *named = std::get_if<TensorName>(&spec.argument);
  if (named == nullptr || named->name != tensor->name) {
    return Status::error(subject + quoted(tensor->name) +
                         " is called otherwise in the signature");
  }
  return tensor->name;
}

const ManifestParameter *findParameter(const GraphFile &file,
                                       const std::string &fqn) {
  if (!file.manifest) {
    return nullptr;
  }
  auto found = std::ranges::find(file.manifest->parameters, fqn,
                                 &ManifestParameter::fqn);
  return found == file.manifest->parameters.end() ? nullptr : &*found;
}

/// A table that the model makes itself, such as one of rotations: neither
/// trained nor saved.
bool isTable(const Program &program, const InputSpec &spec) {
  auto isUpdate = [&](const OutputSpec &output) {
    return output.kind == OutputKind::BufferMutation &&
           output.target == spec.target;
  };
  return spec.kind == InputKind::Buffer && !spec.isPersistent &&
         std::ranges::none_of(program.outputSpecs, isUpdate);
}

/// Makes the argument for graph input `index`; absent for one to leave out.
Expected<std::optional<CapturedArgument>>
makeArgument(const GraphFile &file, size_t index, ValueTable &values) {
  const InputSpec &spec = file.program.inputSpecs[index];
  Expected<std::string> tensor = tensorOfInput(file.program, index);
  if (!tensor) {
    return tensor.status();
  }
  if (tensor->empty()) {
    return std::optional<CapturedArgument>();
  }
  CapturedArgument argument;
  argument.role = *roleOf(spec.kind);
  argument.name = spec.target;
  if (argument.role == Role::Input) {
    argument.name = file.manifest ? file.manifest->inputName(*tensor) : *tensor;
  } else if (argument.role == Role::Parameter) {
    if (const ManifestParameter *known = findParameter(file, spec.target)) {
      argument.aliases = known->aliases;
    }
  } else if (argument.role == Role::Constant &&
             file.withoutBytes.contains(spec.target)) {
    return Status::error("constant " + quoted(spec.target) +
                         " has no bytes in the archive: expected its value; "
                         "capture it for real, not with fake weights");
  }
  if (isTable(file.program, spec)) {
    argument.role = Role::Constant;
  }
  Expected<ValueId> value = values.define(*tensor);
  if (!value) {
    return value.status().within("input " + quoted(argument.name));
  }
  argument.value = *value;
  return std::optional(std::move(argument));
}

/// Every parameter of the manifest must be one of the signature.
Status checkManifest(const GraphFile &file, const CapturedStep &step) {
  if (!file.manifest) {
    return Status();
  }
  for (const ManifestParameter &parameter : file.manifest->parameters) {
    bool isKnown = std::ranges::any_of(
        step.arguments, [&](const CapturedArgument &argument) {
          return argument.role == Role::Parameter &&
                 argument.name == parameter.fqn;
        });
    if (!isKnown) {
      return Status::error("expected the parameters of the graph in " +
                           std::string(kManifestRecord) + ", got " +
                           quoted(parameter.fqn) +
                           ", which the graph does not have; it is of another "
                           "graph");
    }
  }
  return Status();
}

/// Without a manifest nothing says that two parameters are one, and each would
/// be trained for itself.
Status checkTies(const GraphFile &file, const CapturedStep &step) {
  if (file.manifest || !file.sharedWeights) {
    return Status();
  }
  const auto &[first, second] = *file.sharedWeights;
  auto isInput = [&](const std::string &name) {
    return std::ranges::find(step.arguments, name, &CapturedArgument::name) !=
           step.arguments.end();
  };
  if (!isInput(first) || !isInput(second)) {
    return Status();
  }
  return Status::error("parameters " + quoted(first) + " and " +
                       quoted(second) +
                       " are one tensor of the archive: expected a tied "
                       "parameter to be one input; capture with "
                       "simplefsdp_capture");
}

/// FQNs name tensors in weight files, so no two arguments may share one.
Status checkNames(const CapturedStep &step) {
  std::set<std::pair<Role, std::string>> names;
  for (const CapturedArgument &argument : step.arguments) {
    std::vector<std::string> all = argument.aliases;
    all.push_back(argument.name);
    for (std::string &name : all) {
      if (!names.emplace(argument.role, name).second) {
        return Status::error("expected distinct names of graph inputs, got " +
                             quoted(name) + " twice");
      }
    }
  }
  return Status();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The argument of `role` that is called `name`; null if there is none.
CapturedArgument *findArgument(CapturedStep &step, Role role,
                               const std::string &name) {
  auto found =
      std::ranges::find_if(step.arguments, [&](const CapturedArgument &known) {
        return known.role == role &&
               (known.name == name ||
                std::ranges::find(known.aliases, name) != known.aliases.end());
      });
  return found == step.arguments.end() ? nullptr : &*found;
}

class ResultAssigner {
public:
  ResultAssigner(const GraphFile &file, const ValueTable &values,
                 CapturedStep &step)
      : file(file), values(values), step(step) {}

  Status add(const OutputSpec &spec) {
    if (std::holds_alternative<std::monostate>(spec.argument)) {
      return Status();
    }
    const auto *tensor = std::get_if<TensorName>(&spec.argument);
    if (tensor == nullptr) {
      return Status::error("expected outputs of forward that are tensors, got "
                           "another value; return tensors only");
    }
    Expected<ValueId> value = values.find(tensor->name);
    if (!value) {
      return value.status();
    }
    switch (spec.kind) {
    case OutputKind::Loss:
      return addLoss(tensor->name, *value);
    case OutputKind::User:
      return addOutput(tensor->name, *value);
    case OutputKind::ParameterGradient:
      return addGradient(spec.target, *value);
    case OutputKind::BufferMutation:
      return addUpdate(Role::Buffer, spec.target, *value);
    case OutputKind::ParameterMutation:
      return addUpdate(Role::Parameter, spec.target, *value);
    case OutputKind::InputGradient:
      return Status::error("expected gradients of parameters only, got that of "
                           "input " +
                           quoted(spec.target) + "; detach it in forward");
    case OutputKind::InputMutation:
      return Status::error("expected inputs that forward only reads, got "
                           "a new value of input " +
                           quoted(spec.target) + "; copy it in forward");
    case OutputKind::Token:
      return Status::error("expected tensors, got the token output " +
                           quoted(tensor->name));
    }
    return Status();
  }

private:
  Status addLoss(const std::string &name, ValueId value) {
    const rules::TensorLayout &layout = values[value].layout;
    if (layout.rank() != 0 || !runtime::isFloatingPoint(layout.dtype)) {
      return Status::error("expected the loss " + quoted(name) +
                           " to be one floating-point number, got " +
                           describeLayout(layout));
    }
    step.results.push_back({Role::Loss, "loss", value});
    return Status();
  }

  Status addOutput(const std::string &graph, ValueId value) {
    if (file.manifest && file.manifest->loss == graph) {
      return addLoss(graph, value);
    }
    std::string name = file.manifest ? file.manifest->outputName(graph) : graph;
    step.results.push_back({Role::Output, std::move(name), value});
    return Status();
  }

  Status addGradient(const std::string &fqn, ValueId value) {
    CapturedArgument *parameter = findArgument(step, Role::Parameter, fqn);
    if (parameter == nullptr) {
      return Status::error("got a gradient of " + quoted(fqn) +
                           ", which is no parameter of the graph");
    }
    if (!parameter->frozen) {
      return Status::error("expected one gradient of parameter " +
                           quoted(parameter->name) + ", got a second one");
    }
    const rules::TensorLayout &expected = values[parameter->value].layout;
    const rules::TensorLayout &got = values[value].layout;
    if (expected.sizes != got.sizes) {
      return Status::error("expected the gradient of " + quoted(fqn) +
                           " to be like " + describeLayout(expected) +
                           ", got " + describeLayout(got));
    }
    parameter->frozen = false;
    step.results.push_back({Role::Gradient, parameter->name, value});
    return Status();
  }

  Status addUpdate(Role role, const std::string &fqn, ValueId value) {
    const CapturedArgument *argument = findArgument(step, role, fqn);
    if (argument == nullptr) {
      return Status::error("got a new value of " + quoted(fqn) +
                           ", which is no input of the graph");
    }
    step.results.push_back({role, argument->name, value});
    return Status();
  }

  const GraphFile &file;
  const ValueTable &values;
  CapturedStep &step;
};

/// Position among the results by role.
size_t orderOf(Role role) {
  constexpr std::array kOrder = {Role::Loss, Role::Gradient, Role::Output,
                                 Role::Buffer, Role::Parameter};
  return std::ranges::find(kOrder, role) - kOrder.begin();
}

} // namespace

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

Status checkKind(const GraphFile &file, CapturedStep &step) {
  size_t gradients = countOutputs(file.program, OutputKind::ParameterGradient);
  size_t losses = countOutputs(file.program, OutputKind::Loss);
  step.isTraining = file.manifest ? file.manifest->train : true;
  if (!step.isTraining) {
    return gradients == 0
               ? Status()
               : Status::error("expected no gradients in a graph that was "
                               "captured for evaluation, got " +
                               std::to_string(gradients));
  }
  if (gradients == 0 || losses != 1) {
    return Status::error(
        "the signature has " +
        (gradients == 0 ? std::string("no gradients")
                        : std::to_string(losses) + " losses") +
        ": expected one loss_output and a gradient_to_parameter output per "
        "trained parameter, got " +
        std::to_string(countOutputs(file.program, OutputKind::User)) +
        " user outputs; capture the model with simplefsdp_capture, which saves "
        "forward and backward (or forward alone, with train=False)");
  }
  return Status();
}

void assignArguments(const GraphFile &file, ValueTable &values,
                     CapturedStep &step, Report &report) {
  for (size_t i = 0; i < file.program.inputs.size(); ++i) {
    Expected<std::optional<CapturedArgument>> argument =
        makeArgument(file, i, values);
    if (!argument) {
      report.errors.push_back(argument.message());
    } else if (*argument) {
      step.arguments.push_back(std::move(**argument));
    }
  }
  if (report.hasErrors()) {
    return;
  }
  Status status = checkManifest(file, step);
  if (status.ok()) {
    status = checkTies(file, step);
  }
  if (status.ok()) {
    status = checkNames(step);
  }
  if (!status.ok()) {
    report.errors.push_back(status.message());
  }
}

Status assignResults(const GraphFile &file, const ValueTable &values,
                     CapturedStep &step) {
  for (CapturedArgument &argument : step.arguments) {
    argument.frozen = argument.role == Role::Parameter;
  }
  ResultAssigner assigner(file, values, step);
  for (const OutputSpec &spec : file.program.outputSpecs) {
    if (Status status = assigner.add(spec); !status.ok()) {
      return status;
    }
  }
  std::ranges::stable_sort(step.results, {}, [](const CapturedResult &result) {
    return orderOf(result.role);
  });
  return Status();
}

} // namespace sfsdp::exported
