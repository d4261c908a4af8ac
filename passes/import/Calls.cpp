//===- Calls.cpp - From a node to an operator call ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Calls.h.
//
// Tested by test/unit/passes/import/CapturedStepTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/import/Calls.h"

#include <algorithm>

namespace sfsdp::exported {

using rules::OperatorCall;
using rules::Parameter;
using rules::ParameterType;
using rules::ResultLayout;
using rules::Schema;
using rules::TensorLayout;
using rules::TensorList;

namespace {

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// What an argument of the text is to an operator whose parameter is
/// `parameter`; collects the tensors.
struct ArgumentConverter {
  const Program &program;
  const ValueTable &values;
  const Parameter &parameter;
  std::vector<ValueId> &operands;

  using Result = Expected<rules::Argument>;

  Result operator()(const TensorName &tensor) {
    Expected<TensorLayout> layout = layoutOf(tensor);
    if (!layout) {
      return layout.status();
    }
    return rules::Argument(std::move(*layout));
  }

  Result operator()(const TensorNames &tensors) {
    TensorList list;
    for (const std::optional<TensorName> &tensor : tensors) {
      if (!tensor) {
        list.emplace_back();
        continue;
      }
      Expected<TensorLayout> layout = layoutOf(*tensor);
      if (!layout) {
        return layout.status();
      }
      list.emplace_back(std::move(*layout));
    }
    return rules::Argument(std::move(list));
  }

  Result operator()(const std::vector<int64_t> &list) { return listOf(list); }
  Result operator()(const std::vector<double> &list) { return listOf(list); }
  Result operator()(const std::vector<bool> &list) { return listOf(list); }

  Result operator()(const Symbol &symbol) {
    return Status::error("expected a number that is known at capture, got the "
                         "symbol " +
                         describeSymbol(program, symbol) +
                         "; capture without dynamic shapes");
  }

  Result operator()(const Unsupported &unsupported) {
    return Status::error("expected what a plan can hold, got " +
                         unsupported.what);
  }

  template <typename Plain>
  Result operator()(const Plain &plain) {
    return rules::Argument(plain);
  }

private:
  Expected<TensorLayout> layoutOf(const TensorName &tensor) {
    Expected<ValueId> id = values.find(tensor.name);
    if (!id) {
      return id.status();
    }
    operands.push_back(*id);
    return values[*id].layout;
  }

  /// The text does not say of what an empty list is empty, and writes a list of
  /// whole floats as one of integers.
  template <typename T>
  Result listOf(const std::vector<T> &list) {
    if (list.empty() && parameter.type == ParameterType::TensorList) {
      return rules::Argument(TensorList());
    }
    if (list.empty() && parameter.type == ParameterType::BoolList) {
      return rules::Argument(std::vector<bool>());
    }
    if (list.empty() && parameter.type == ParameterType::IntList) {
      return rules::Argument(std::vector<int64_t>());
    }
    if (parameter.type == ParameterType::FloatList) {
      return rules::Argument(std::vector<double>(list.begin(), list.end()));
    }
    return rules::Argument(list);
  }
};

/// The arguments of `node` by parameter; null for one that it leaves out.
Expected<std::vector<const Argument *>> matchParameters(const Node &node,
                                                        const Schema &schema) {
  std::vector<const Argument *> matched(schema.parameters.size());
  for (const NamedArgument &input : node.inputs) {
    auto found =
        std::ranges::find(schema.parameters, input.name, &Parameter::name);
    if (found == schema.parameters.end()) {
      return Status::error("has no parameter '" + input.name + "'");
    }
    const Argument *&argument = matched[found - schema.parameters.begin()];
    if (argument != nullptr) {
      return Status::error("got argument '" + input.name + "' twice");
    }
    argument = &input.value;
  }
  return matched;
}

/// Arguments up to the last one that is not its default.
size_t
countWritten(const std::vector<rules::Argument> &arguments,
             const std::vector<std::optional<rules::Argument>> &defaults) {
  size_t count = arguments.size();
  while (count > 0 && defaults[count - 1] &&
         arguments[count - 1] == *defaults[count - 1]) {
    --count;
  }
  return count;
}

/// Position in `operands` of the tensor that is argument `index`.
size_t operandOf(const OperatorCall &call, size_t index) {
  size_t position = 0;
  for (size_t i = 0; i < index; ++i) {
    if (call.isTensor(i)) {
      ++position;
    } else if (const auto *list = std::get_if<TensorList>(&call.arguments[i])) {
      position += std::ranges::count_if(
          *list, [](const auto &tensor) { return tensor.has_value(); });
    }
  }
  return position;
}

} // namespace

//===----------------------------------------------------------------------===//
// CallResolver
//===----------------------------------------------------------------------===//

const CallResolver::Defaults &CallResolver::defaultsOf(const Schema &schema) {
  auto [entry, isNew] = defaults.try_emplace(&schema);
  if (!isNew) {
    return entry->second;
  }
  for (const Parameter &parameter : schema.parameters) {
    Schema alone;
    alone.name = schema.name;
    alone.parameters = {parameter};
    OperatorCall call;
    call.schema = &alone;
    std::optional<rules::Argument> value;
    if (rules::fillDefaults(call).ok()) {
      value = std::move(call.arguments.front());
    }
    entry->second.push_back(std::move(value));
  }
  return entry->second;
}

Status CallResolver::placeArguments(const Node &node, CapturedCall &call) {
  const Schema &schema = *call.call.schema;
  const Defaults &given = defaultsOf(schema);
  Expected<std::vector<const Argument *>> matched =
      matchParameters(node, schema);
  if (!matched) {
    return matched.status().within("operator " + schema.name);
  }
  for (size_t i = 0; i < schema.parameters.size(); ++i) {
    const Parameter &parameter = schema.parameters[i];
    Expected<rules::Argument> argument =
        Status::error("is missing and has no default");
    if (const Argument *text = (*matched)[i]) {
      argument = std::visit(
          ArgumentConverter{program, values, parameter, call.operands}, *text);
    } else if (given[i]) {
      argument = *given[i];
    }
    if (!argument) {
      return argument.status().within("operator " + schema.name +
                                      ": argument '" + parameter.name + "'");
    }
    call.call.arguments.push_back(std::move(*argument));
  }
  Status status = rules::fillDefaults(call.call);
  if (status.ok()) {
    status = rules::checkArguments(call.call);
  }
  call.writtenArguments = countWritten(call.call.arguments, given);
  return status.ok() ? status : Status::error("operator " + status.message());
}

/// True for a result that the kernel does not return. Tracing may say
/// otherwise, such as for a gradient that the output mask leaves out.
static bool isNone(const std::optional<rules::ResultLayouts> &expected,
                   size_t position) {
  return expected && position < expected->size() && !(*expected)[position];
}

Status CallResolver::defineResults(const Node &node,
                                   const OptionalLayouts &expected,
                                   CapturedCall &call) {
  const Schema &schema = *call.call.schema;
  for (const Argument &output : node.outputs) {
    TensorNames names;
    if (const auto *tensors = std::get_if<TensorNames>(&output)) {
      names = *tensors;
    } else if (const auto *tensor = std::get_if<TensorName>(&output)) {
      names = {*tensor};
    } else if (std::holds_alternative<std::monostate>(output)) {
      names = {std::nullopt};
    } else {
      return Status::error("operator " + schema.name +
                           ": expected results that are tensors");
    }
    for (const std::optional<TensorName> &name : names) {
      size_t position = call.results.size();
      std::optional<ValueId> &result = call.results.emplace_back();
      if (!name || isNone(expected, position)) {
        continue;
      }
      Expected<ValueId> id = values.define(name->name);
      if (!id) {
        return id.status();
      }
      result = *id;
    }
  }
  if (schema.resultCount == 0 && call.results.size() == 1 &&
      !call.results.front()) {
    call.results.clear();
  }
  if (!schema.returnsList && call.results.size() != schema.resultCount) {
    return Status::error("operator " + schema.name + ": expected " +
                         std::to_string(schema.resultCount) + " results, got " +
                         std::to_string(call.results.size()));
  }
  return Status();
}

Status
CallResolver::checkLayout(const CapturedCall &call, size_t position,
                          const std::optional<ResultLayout> &expected) const {
  const std::optional<ValueId> &result = call.results[position];
  if (!expected && !result) {
    return Status();
  }
  std::string subject = "operator " + call.call.schema->name + ": result " +
                        std::to_string(position) + ": ";
  if (!result) {
    return Status::error(subject + "expected a tensor, captured None");
  }
  const TensorLayout &captured = values[*result].layout;
  if (!rules::isSameLayout(captured, expected->tensor)) {
    return Status::error(subject + "expected the layout " +
                         describeLayout(expected->tensor) + ", captured " +
                         describeLayout(captured));
  }
  int64_t offset = expected->offset;
  if (expected->aliasOf) {
    ValueId source = call.operands[operandOf(call.call, *expected->aliasOf)];
    offset += values.capturedOffset(source);
  }
  int64_t capturedOffset = values.capturedOffset(*result);
  if (capturedOffset != 0 && capturedOffset != offset) {
    return Status::error(subject + "expected the storage offset " +
                         std::to_string(offset) + ", captured " +
                         std::to_string(capturedOffset));
  }
  return Status();
}

Status CallResolver::checkLayouts(const CapturedCall &call,
                                  const rules::ResultLayouts &expected) const {
  if (expected.size() != call.results.size()) {
    return Status::error("operator " + call.call.schema->name + ": expected " +
                         std::to_string(expected.size()) +
                         " results, captured " +
                         std::to_string(call.results.size()));
  }
  for (size_t i = 0; i < call.results.size(); ++i) {
    if (Status status = checkLayout(call, i, expected[i]); !status.ok()) {
      return status;
    }
  }
  return Status();
}

void CallResolver::correctTracedTypes(const CapturedCall &call,
                                      const rules::ResultLayouts &expected) {
  size_t count = std::min(call.results.size(), expected.size());
  for (size_t i = 0; i < count; ++i) {
    const std::optional<ValueId> &result = call.results[i];
    if (result && expected[i] && expected[i]->traced &&
        values[*result].layout.dtype == *expected[i]->traced) {
      values.setDType(*result, expected[i]->tensor.dtype);
    }
  }
}

Expected<CapturedCall> CallResolver::resolve(const Node &node,
                                             const Schema &schema) {
  CapturedCall call;
  call.node = node.name;
  call.call.schema = &schema;
  call.rule = rules::findRule(schema.name);
  if (Status status = placeArguments(node, call); !status.ok()) {
    return status;
  }
  OptionalLayouts expected;
  if (call.rule != nullptr) {
    Expected<rules::ResultLayouts> layouts = call.rule->layout(call.call);
    if (!layouts) {
      return Status::error("operator " + layouts.message());
    }
    expected = std::move(*layouts);
  }
  Status status = defineResults(node, expected, call);
  if (status.ok() && expected) {
    correctTracedTypes(call, *expected);
    status = checkLayouts(call, *expected);
  }
  if (!status.ok()) {
    return status;
  }
  return call;
}

} // namespace sfsdp::exported
