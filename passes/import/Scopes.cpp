//===- Scopes.cpp - Where nodes come from -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Scopes.h.
//
// Tested by test/unit/passes/import/ScopesTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/import/Scopes.h"

#include <algorithm>
#include <unordered_set>

namespace sfsdp::exported {

using runtime::Json;
using runtime::JsonDocument;

namespace {

//===----------------------------------------------------------------------===//
// Metadata of one node
//===----------------------------------------------------------------------===//

std::string textOf(const Json &object, std::string_view name) {
  const Json *member = object.find(name);
  const std::string *text = member ? member->asString() : nullptr;
  return text ? *text : std::string();
}

/// What simplefsdp_capture noted; empty for notes of others.
Json readNotes(const Node &node) {
  if (node.custom.empty()) {
    return Json();
  }
  Expected<JsonDocument> document = runtime::parseJson(node.custom, "custom");
  return document ? std::move(document->value) : Json();
}

/// The FQN in the last entry of "KEY,FQN,CLASS;KEY,FQN,CLASS".
std::string innermostModule(std::string_view stack) {
  size_t start = stack.rfind(';');
  stack.remove_prefix(start == std::string_view::npos ? 0 : start + 1);
  size_t first = stack.find(',');
  if (first == std::string_view::npos) {
    return std::string();
  }
  size_t second = std::min(stack.find(',', first + 1), stack.size());
  return std::string(stack.substr(first + 1, second - first - 1));
}

/// "model.py:42" of a line `  File "/a/model.py", line 42, in forward`; empty
/// for another line, and for a frame inside of torch.
std::string sourceOfFrame(std::string_view line) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  size_t file = line.find(kFile);
  size_t number = line.find(kLine);
  if (file == std::string_view::npos || number == std::string_view::npos) {
    return std::string();
  }
  file += kFile.size();
  std::string_view path = line.substr(file, number - file);
  if (path.find("/torch/") != std::string_view::npos) {
    return std::string();
  }
  path.remove_prefix(path.find_last_of('/') + 1);
  std::string_view rest = line.substr(number + kLine.size());
  std::string_view digits =
      rest.substr(0, rest.find_first_not_of("0123456789"));
  return std::string(path) + ":" + std::string(digits);
}

/// The innermost frame of the user's code.
std::string innermostSource(std::string_view trace) {
  std::string source;
  while (!trace.empty()) {
    size_t end = std::min(trace.find('\n'), trace.size());
    std::string frame = sourceOfFrame(trace.substr(0, end));
    if (!frame.empty()) {
      source = std::move(frame);
    }
    trace.remove_prefix(std::min(end + 1, trace.size()));
  }
  return source;
}

//===----------------------------------------------------------------------===//
// Phase by the graph
//===----------------------------------------------------------------------===//

/// Calls `visit` with the name of each tensor in `argument`.
template <typename Visit>
void forEachTensor(const Argument &argument, Visit visit) {
  if (const auto *tensor = std::get_if<TensorName>(&argument)) {
    visit(tensor->name);
  } else if (const auto *tensors = std::get_if<TensorNames>(&argument)) {
    for (const std::optional<TensorName> &element : *tensors) {
      if (element) {
        visit(element->name);
      }
    }
  }
}

using NameSet = std::unordered_set<std::string_view>;

/// The tensors that forward returns.
NameSet forwardResults(const Program &program) {
  NameSet names;
  for (const OutputSpec &spec : program.outputSpecs) {
    if (spec.kind != OutputKind::ParameterGradient &&
        spec.kind != OutputKind::InputGradient) {
      forEachTensor(spec.argument,
                    [&](std::string_view name) { names.insert(name); });
    }
  }
  return names;
}

bool definesOneOf(const Node &node, const NameSet &names) {
  bool found = false;
  for (const Argument &output : node.outputs) {
    forEachTensor(
        output, [&](std::string_view name) { found |= names.contains(name); });
  }
  return found;
}

/// Index of the node that defines the loss; the number of nodes without one.
size_t findLoss(const Program &program) {
  NameSet loss;
  for (const OutputSpec &spec : program.outputSpecs) {
    if (spec.kind == OutputKind::Loss) {
      forEachTensor(spec.argument,
                    [&](std::string_view name) { loss.insert(name); });
    }
  }
  auto found = std::ranges::find_if(program.nodes, [&](const Node &node) {
    return definesOneOf(node, loss);
  });
  return found - program.nodes.begin();
}

} // namespace

std::vector<bool> guessBackward(const Program &program) {
  NameSet needed = forwardResults(program);
  size_t loss = findLoss(program);
  std::vector<bool> isBackward(program.nodes.size());
  for (size_t i = program.nodes.size(); i-- > 0;) {
    const Node &node = program.nodes[i];
    if (!definesOneOf(node, needed)) {
      isBackward[i] = i > loss;
      continue;
    }
    for (const NamedArgument &input : node.inputs) {
      forEachTensor(input.value,
                    [&](std::string_view name) { needed.insert(name); });
    }
  }
  return isBackward;
}

std::vector<Scope> scopesOf(const Program &program) {
  std::vector<bool> guessed = guessBackward(program);
  std::vector<Scope> scopes;
  scopes.reserve(program.nodes.size());
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    const Node &node = program.nodes[i];
    Json notes = readNotes(node);
    std::string phase = textOf(notes, "phase");
    Scope scope;
    scope.module = textOf(notes, "fqn");
    scope.source = textOf(notes, "src");
    scope.isBackward = phase.empty() ? guessed[i] : phase == "bwd";
    if (scope.module.empty()) {
      scope.module = innermostModule(node.moduleStack);
    }
    if (scope.source.empty()) {
      scope.source = innermostSource(node.stackTrace);
    }
    scopes.push_back(std::move(scope));
  }
  return scopes;
}

std::string describe(const Node &node, const Scope &scope) {
  std::string text = "node \"" + node.name + "\"";
  return scope.source.empty() ? text : text + " at " + scope.source;
}

} // namespace sfsdp::exported
