//===- CallSite.cpp - One kernel call, made ready -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schema decides what an argument becomes: `3` is an int for `int dim` and
// a double for `float eps`; an element type is an int for the dispatcher.
//
// Tested by test/unit/runtime/ExecutorTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/CallSite.h"
#include "runtime/PlanNames.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ScalarOps.h>
#include <ATen/core/jit_type.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>

using namespace sfsdp::runtime;

namespace {

std::string fullName(const KernelCall &kernel) {
  return kernel.overload.empty() ? kernel.name
                                 : kernel.name + "." + kernel.overload;
}

/// What an argument of a plan is called in messages.
std::string_view kindOf(const KernelArgument &argument) {
  constexpr std::string_view kKinds[] = {"none",
                                         "a tensor",
                                         "tensors",
                                         "a host scalar",
                                         "a bool",
                                         "an int",
                                         "a float",
                                         "a string",
                                         "bools",
                                         "ints",
                                         "floats",
                                         "an element type",
                                         "a memory format",
                                         "a layout",
                                         "a device"};
  return kKinds[argument.index()];
}

int64_t codeOf(MemoryFormat format) {
  switch (format) {
  case MemoryFormat::Contiguous:
    return static_cast<int64_t>(c10::MemoryFormat::Contiguous);
  case MemoryFormat::Preserve:
    return static_cast<int64_t>(c10::MemoryFormat::Preserve);
  case MemoryFormat::ChannelsLast:
    return static_cast<int64_t>(c10::MemoryFormat::ChannelsLast);
  case MemoryFormat::ChannelsLast3d:
    return static_cast<int64_t>(c10::MemoryFormat::ChannelsLast3d);
  }
  return 0;
}

/// The type behind an optional one.
const c10::Type &bareType(const c10::Type &type) {
  if (const auto *optional = type.castRaw<c10::OptionalType>()) {
    return *optional->getElementType();
  }
  return type;
}

bool isListOf(const c10::Type &type, c10::TypeKind element) {
  const auto *list = type.castRaw<c10::ListType>();
  return list && bareType(*list->getElementType()).kind() == element;
}

bool isTensorList(const c10::Type &type) {
  return isListOf(type, c10::TypeKind::TensorType);
}

template <typename T>
c10::IValue listValue(const std::vector<T> &numbers) {
  c10::List<T> list;
  list.reserve(numbers.size());
  for (T number : numbers) {
    list.push_back(number);
  }
  return list;
}

/// A number where a tensor is expected (`x + 1e-5`), as eager passes it: it
/// takes no part in type promotion.
std::optional<c10::IValue> numberAsTensor(const KernelArgument &argument) {
  if (const auto *number = std::get_if<int64_t>(&argument)) {
    return c10::IValue(at::native::wrapped_scalar_tensor(*number));
  }
  if (const auto *number = std::get_if<double>(&argument)) {
    return c10::IValue(at::native::wrapped_scalar_tensor(*number));
  }
  return std::nullopt;
}

/// Makes a value of `type` from an argument; nothing when it does not fit.
struct ConstantMaker {
  using Kind = c10::TypeKind;
  using Made = std::optional<c10::IValue>;

  const c10::Type &type;

  Made operator()(bool flag) const {
    return when(is(Kind::BoolType) || is(Kind::NumberType), flag);
  }
  Made operator()(int64_t number) const {
    return takesInt() ? Made(c10::IValue(number))
                      : when(takesFloat(), static_cast<double>(number));
  }
  Made operator()(double number) const { return when(takesFloat(), number); }
  Made operator()(const std::string &text) const {
    return when(is(Kind::StringType), text);
  }
  Made operator()(const std::vector<bool> &flags) const {
    return when(isListOf(type, Kind::BoolType), listValue<bool>(flags));
  }
  Made operator()(const std::vector<int64_t> &numbers) const {
    return takesInts()
               ? Made(listValue<int64_t>(numbers))
               : (*this)(std::vector<double>(numbers.begin(), numbers.end()));
  }
  Made operator()(const std::vector<double> &numbers) const {
    return when(isListOf(type, Kind::FloatType), listValue<double>(numbers));
  }
  Made operator()(DType element) const {
    return when(takesInt(), torchCodeOf(element));
  }
  Made operator()(MemoryFormat format) const {
    return when(takesInt(), codeOf(format));
  }
  Made operator()(TensorLayoutKind) const {
    return when(takesInt(), static_cast<int64_t>(c10::Layout::Strided));
  }
  Made operator()(DeviceArgument) const {
    return when(is(Kind::DeviceObjType), c10::Device(c10::DeviceType::CPU));
  }
  /// None, tensors and host scalars are no constants.
  Made operator()(const auto &) const { return std::nullopt; }

private:
  static Made when(bool fits, c10::IValue value) {
    return fits ? Made(std::move(value)) : std::nullopt;
  }
  bool is(Kind kind) const { return type.kind() == kind; }
  bool takesInt() const {
    return is(Kind::IntType) || is(Kind::SymIntType) || is(Kind::NumberType);
  }
  bool takesFloat() const {
    return is(Kind::FloatType) || is(Kind::NumberType);
  }
  bool takesInts() const {
    return isListOf(type, Kind::IntType) || isListOf(type, Kind::SymIntType);
  }
};

std::optional<c10::IValue> constantValue(const KernelArgument &argument,
                                         const c10::Type &type) {
  return type.kind() == c10::TypeKind::TensorType
             ? numberAsTensor(argument)
             : std::visit(ConstantMaker{type}, argument);
}

Status mismatch(const KernelArgument &argument, const c10::Argument &formal) {
  return Status::error("argument '" + formal.name() + "': expected " +
                       formal.type()->str() + ", got " +
                       std::string(kindOf(argument)));
}

bool hasCpuKernel(const c10::OperatorHandle &handle) {
  return handle.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU);
}

} // namespace

Expected<CallSite> CallSite::make(const KernelCall &kernel,
                                  const OperatorList &operators) {
  CallSite site;
  try {
    if (Status status = site.resolve(kernel, operators); !status.ok()) {
      return status;
    }
  } catch (const std::exception &error) {
    return Status::error(fullName(kernel) + ": " + error.what());
  }
  return site;
}

Status CallSite::resolve(const KernelCall &kernel,
                         const OperatorList &operators) {
  if (const OwnKernelRow *row = findOwnKernel(kernel.name)) {
    own = row->run;
    return bindArguments(kernel,
                         torch::jit::parseSchema(std::string(row->schema)))
        .within(kernel.name);
  }
  if (!operators.allows(kernel.name)) {
    return Status::error("operator " + fullName(kernel) +
                         " is not among those that a plan may call; if it is "
                         "yours, pass its schema with --allow-op");
  }
  handle =
      c10::Dispatcher::singleton().findSchema({kernel.name, kernel.overload});
  if (!handle) {
    return Status::error("this LibTorch has no operator " + fullName(kernel));
  }
  if (!hasCpuKernel(*handle)) {
    return Status::error("operator " + fullName(kernel) +
                         " has no CPU kernel in this LibTorch");
  }
  Status status = bindArguments(kernel, handle->schema());
  if (status.ok()) {
    findDirectCall();
  }
  return status.within(fullName(kernel));
}

/// Host scalars change from step to step, so calls with one keep the stack.
void CallSite::findDirectCall() {
  if (!scalars.empty() || !lists.empty() || results.size() != 1 ||
      results[0] < 0) {
    return;
  }
  std::vector<ValueId> operands;
  for (const TensorSlot &slot : tensors) {
    operands.push_back(slot.value);
  }
  direct = DirectCall::make(*handle, operands, arguments);
}

Status CallSite::bindArguments(const KernelCall &kernel,
                               const c10::FunctionSchema &schema) {
  const std::vector<c10::Argument> &formals = schema.arguments();
  if (kernel.arguments.size() > formals.size()) {
    return Status::error("takes " + std::to_string(formals.size()) +
                         " arguments, got " +
                         std::to_string(kernel.arguments.size()));
  }
  bool returnsList =
      schema.returns().size() == 1 && isTensorList(*schema.returns()[0].type());
  // A kernel of ours leaves out the result of an absent optional tensor.
  bool mayLeaveOut = own && kernel.results.size() < schema.returns().size();
  if (!returnsList && !mayLeaveOut &&
      kernel.results.size() != schema.returns().size()) {
    return Status::error("returns " + std::to_string(schema.returns().size()) +
                         " results, the plan names " +
                         std::to_string(kernel.results.size()));
  }
  for (std::optional<ValueId> id : kernel.results) {
    results.push_back(id.value_or(-1));
  }
  if (mayLeaveOut) {
    results.resize(schema.returns().size(), -1);
  }
  arguments.resize(formals.size());
  bool isRandom = formals.back().type()->kind() == c10::TypeKind::GeneratorType;
  if (isRandom && !kernel.randomId) {
    return Status::error("a random operator needs an id, \"random\"");
  }
  for (size_t position = 0; position < formals.size(); ++position) {
    const c10::Argument &formal = formals[position];
    if (position < kernel.arguments.size()) {
      if (Status status = bind(kernel.arguments[position], formal, position);
          !status.ok()) {
        return status;
      }
    } else if (isRandom && position + 1 == formals.size()) {
      bindGenerator(*kernel.randomId, position);
    } else if (formal.default_value()) {
      arguments[position] = *formal.default_value();
    } else {
      return Status::error("argument '" + formal.name() +
                           "' is missing and has no default");
    }
  }
  return Status();
}

Status CallSite::bind(const KernelArgument &argument,
                      const c10::Argument &formal, size_t position) {
  const c10::Type &type = bareType(*formal.type());
  if (const auto *value = std::get_if<ValueRef>(&argument)) {
    if (type.kind() != c10::TypeKind::TensorType) {
      return mismatch(argument, formal);
    }
    tensors.push_back({position, value->id});
    return Status();
  }
  if (const auto *values = std::get_if<ValueRefs>(&argument)) {
    if (!isTensorList(type)) {
      return mismatch(argument, formal);
    }
    bool optionalElements =
        type.castRaw<c10::ListType>()->getElementType()->kind() ==
        c10::TypeKind::OptionalType;
    lists.push_back({position, values->ids, optionalElements});
    return Status();
  }
  if (const auto *scalar = std::get_if<ScalarRef>(&argument)) {
    bool isInteger = type.kind() == c10::TypeKind::IntType ||
                     type.kind() == c10::TypeKind::SymIntType;
    bool isNumber = type.kind() == c10::TypeKind::FloatType ||
                    type.kind() == c10::TypeKind::NumberType;
    if (!isInteger && !isNumber) {
      return mismatch(argument, formal);
    }
    scalars.push_back({position, scalar->id, isInteger});
    return Status();
  }
  return bindConstant(argument, formal, position);
}

Status CallSite::bindConstant(const KernelArgument &argument,
                              const c10::Argument &formal, size_t position) {
  if (std::holds_alternative<std::monostate>(argument)) {
    return formal.type()->kind() == c10::TypeKind::OptionalType
               ? Status()
               : mismatch(argument, formal);
  }
  std::optional<c10::IValue> value =
      constantValue(argument, bareType(*formal.type()));
  if (!value) {
    return mismatch(argument, formal);
  }
  arguments[position] = std::move(*value);
  return Status();
}

/// The generator is shared by the template and `generator`.
void CallSite::bindGenerator(int64_t id, size_t position) {
  randomId = id;
  generator = at::detail::createCPUGenerator();
  arguments[position] = *generator;
}

void CallSite::seedGenerator(RandomUse use) const {
  if (generator) {
    use.operatorId = *randomId;
    at::Generator shared = *generator;
    shared.set_current_seed(seedOf(use));
  }
}

void CallSite::setScalars(const std::vector<double> &values) {
  for (const ScalarSlot &slot : scalars) {
    double value = values[slot.scalar];
    arguments[slot.position] = slot.isInteger
                                   ? c10::IValue(static_cast<int64_t>(value))
                                   : c10::IValue(value);
  }
}

c10::IValue
CallSite::ListSlot::make(const std::vector<at::Tensor> &values) const {
  if (optionalElements) {
    c10::List<std::optional<at::Tensor>> list;
    for (std::optional<ValueId> id : ids) {
      list.push_back(id ? std::optional(values[*id]) : std::nullopt);
    }
    return list;
  }
  c10::List<at::Tensor> list;
  for (std::optional<ValueId> id : ids) {
    list.push_back(values[*id]);
  }
  return list;
}

void CallSite::storeListResults(std::vector<at::Tensor> &values,
                                torch::jit::Stack &stack) const {
  std::vector<at::Tensor> list;
  if (stack.size() == 1) {
    list = stack[0].toTensorVector();
  }
  TORCH_CHECK(list.size() == results.size(), "expected ", results.size(),
              " results, got ", stack.size() == 1 ? list.size() : stack.size());
  for (size_t index = 0; index < list.size(); ++index) {
    if (results[index] >= 0) {
      values[results[index]] = std::move(list[index]);
    }
  }
}
