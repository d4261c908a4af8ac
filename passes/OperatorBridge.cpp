//===- OperatorBridge.cpp - From operations to the rules ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OperatorBridge.h.
//
// Tested by test/unit/passes/OperatorBridgeTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "passes/OperatorBridge.h"

#include "dialect/Layout.h"
#include "passes/AttentionKernels.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sfsdp;

using rules::Argument;
using rules::OperatorCall;
using rules::ParameterType;
using rules::TensorLayout;
using rules::TensorList;
using runtime::DType;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

std::optional<DType> mlir::sfsdp::toDType(Type elementType) {
  for (int i = 0; i < runtime::kDTypeCount; ++i) {
    DType dtype = static_cast<DType>(i);
    if (toType(elementType.getContext(), dtype) == elementType) {
      return dtype;
    }
  }
  return std::nullopt;
}

Type mlir::sfsdp::toType(MLIRContext *context, DType dtype) {
  Builder builder(context);
  switch (dtype) {
  case DType::Bool:
    return builder.getI1Type();
  case DType::UInt8:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case DType::Int8:
    return builder.getI8Type();
  case DType::Int16:
    return builder.getI16Type();
  case DType::Int32:
    return builder.getI32Type();
  case DType::Int64:
    return builder.getI64Type();
  case DType::Float16:
    return builder.getF16Type();
  case DType::BFloat16:
    return builder.getBF16Type();
  case DType::Float32:
    return builder.getF32Type();
  case DType::Float64:
    return builder.getF64Type();
  case DType::Complex64:
    return ComplexType::get(builder.getF32Type());
  case DType::Complex128:
    return ComplexType::get(builder.getF64Type());
  }
  llvm_unreachable("all element types are listed");
}

TensorLayout mlir::sfsdp::layoutOf(RankedTensorType type) {
  SmallVector<int64_t> strides = stridesOf(type);
  return TensorLayout{*toDType(type.getElementType()),
                      {type.getShape().begin(), type.getShape().end()},
                      {strides.begin(), strides.end()}};
}

RankedTensorType mlir::sfsdp::toTensorType(MLIRContext *context,
                                           const TensorLayout &layout) {
  return tensorType(layout.sizes, toType(context, layout.dtype),
                    layout.strides);
}

//===----------------------------------------------------------------------===//
// Arguments to attributes
//===----------------------------------------------------------------------===//

namespace {

/// Makes the attribute of each kind of argument.
struct AttributeMaker {
  Builder builder;

  Attribute operator()(std::monostate) { return builder.getUnitAttr(); }
  Attribute operator()(const TensorLayout &) { return operand(); }
  Attribute operator()(const TensorList &tensors) {
    if (tensors.empty()) {
      return builder.getDenseI64ArrayAttr({});
    }
    SmallVector<Attribute> elements;
    for (const std::optional<TensorLayout> &tensor : tensors) {
      elements.push_back(tensor ? operand() : builder.getUnitAttr());
    }
    return builder.getArrayAttr(elements);
  }
  Attribute operator()(rules::RuntimeScalar) { return operand(); }
  Attribute operator()(bool value) { return builder.getBoolAttr(value); }
  Attribute operator()(int64_t value) {
    return builder.getI64IntegerAttr(value);
  }
  Attribute operator()(double value) { return builder.getF64FloatAttr(value); }
  Attribute operator()(const std::string &value) {
    return builder.getStringAttr(value);
  }
  Attribute operator()(const std::vector<bool> &values) {
    if (values.empty()) {
      return builder.getDenseI64ArrayAttr({});
    }
    return builder.getDenseBoolArrayAttr(
        SmallVector<bool>(values.begin(), values.end()));
  }
  Attribute operator()(const std::vector<int64_t> &values) {
    return builder.getDenseI64ArrayAttr(values);
  }
  Attribute operator()(const std::vector<double> &values) {
    if (values.empty()) {
      return builder.getDenseI64ArrayAttr({});
    }
    return builder.getDenseF64ArrayAttr(values);
  }
  Attribute operator()(DType dtype) {
    return TypeAttr::get(toType(builder.getContext(), dtype));
  }
  Attribute operator()(runtime::MemoryFormat format) {
    return MemoryFormatAttr::get(
        builder.getContext(),
        static_cast<MemoryFormat>(static_cast<uint32_t>(format)));
  }
  Attribute operator()(runtime::TensorLayoutKind) {
    return StridedAttr::get(builder.getContext());
  }
  Attribute operator()(runtime::DeviceArgument) {
    return DeviceAttr::get(builder.getContext());
  }

private:
  Attribute operand() { return OperandAttr::get(builder.getContext()); }
};

} // namespace

Attribute mlir::sfsdp::toAttribute(MLIRContext *context,
                                   const Argument &argument) {
  return std::visit(AttributeMaker{Builder(context)}, argument);
}

//===----------------------------------------------------------------------===//
// Attributes to arguments
//===----------------------------------------------------------------------===//

/// Takes the next operand.
static Argument takeOperand(OperandRange &operands) {
  Type type = operands.front().getType();
  operands = operands.drop_front();
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    return layoutOf(tensor);
  }
  return rules::RuntimeScalar();
}

static Argument emptyList(ParameterType type) {
  switch (type) {
  case ParameterType::TensorList:
    return TensorList();
  case ParameterType::FloatList:
    return std::vector<double>();
  case ParameterType::BoolList:
    return std::vector<bool>();
  default:
    return std::vector<int64_t>();
  }
}

static TensorList takeOperands(ArrayAttr list, OperandRange &operands) {
  TensorList tensors;
  for (Attribute element : list) {
    if (!isa<OperandAttr>(element)) {
      tensors.emplace_back();
      continue;
    }
    Argument tensor = takeOperand(operands);
    auto *layout = std::get_if<TensorLayout>(&tensor);
    tensors.push_back(layout ? std::optional(*layout) : std::nullopt);
  }
  return tensors;
}

/// The argument that `attribute` stands for; takes its operands from the front
/// of `operands`. The verifier of the operation has checked the kinds.
static Argument toArgument(Attribute attribute, ParameterType type,
                           OperandRange &operands) {
  return TypeSwitch<Attribute, Argument>(attribute)
      .Case([&](OperandAttr) { return takeOperand(operands); })
      .Case([&](ArrayAttr list) { return takeOperands(list, operands); })
      .Case([&](BoolAttr flag) { return flag.getValue(); })
      .Case([&](IntegerAttr integer) { return integer.getInt(); })
      .Case([&](FloatAttr real) { return real.getValueAsDouble(); })
      .Case([&](StringAttr text) { return text.getValue().str(); })
      .Case([&](DenseI64ArrayAttr list) -> Argument {
        if (list.empty()) {
          return emptyList(type);
        }
        return std::vector<int64_t>(list.asArrayRef());
      })
      .Case([&](DenseF64ArrayAttr list) {
        return std::vector<double>(list.asArrayRef());
      })
      .Case([&](DenseBoolArrayAttr list) {
        return std::vector<bool>(list.asArrayRef().begin(),
                                 list.asArrayRef().end());
      })
      .Case([&](TypeAttr dtype) -> Argument {
        std::optional<DType> known = toDType(dtype.getValue());
        return known ? Argument(*known) : Argument();
      })
      .Case([&](MemoryFormatAttr format) {
        return static_cast<runtime::MemoryFormat>(format.getValue());
      })
      .Case([&](StridedAttr) { return runtime::TensorLayoutKind::Strided; })
      .Case([&](DeviceAttr) { return runtime::DeviceArgument(); })
      .Default([](Attribute) { return Argument(); });
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Arguments of `op` as written, without defaults.
static std::vector<Argument> argumentsOf(AtenOp op,
                                         const rules::Schema &schema) {
  std::vector<Argument> arguments;
  OperandRange operands = op.getInputs();
  for (auto [index, attribute] : llvm::enumerate(op.getArguments())) {
    ParameterType type = index < schema.parameters.size()
                             ? schema.parameters[index].type
                             : ParameterType::Other;
    arguments.push_back(toArgument(attribute, type, operands));
  }
  return arguments;
}

/// Arguments of the kernel behind attention or its backward: the tensors, then
/// (dropout_p, is_causal, attn_mask, scale).
template <typename AttentionLike>
static std::vector<Argument> attentionArguments(AttentionLike op) {
  std::vector<Argument> arguments;
  Value mask = op.getMask();
  for (Value tensor : op->getOperands().drop_back(mask ? 1 : 0)) {
    arguments.emplace_back(layoutOf(cast<RankedTensorType>(tensor.getType())));
  }
  arguments.emplace_back(0.0);
  arguments.emplace_back(op.getCausal());
  arguments.push_back(
      mask ? Argument(layoutOf(cast<RankedTensorType>(mask.getType())))
           : Argument());
  arguments.push_back(op.getScaleAttr()
                          ? Argument(op.getScaleAttr().getValueAsDouble())
                          : Argument());
  return arguments;
}

/// Name of the operator that `op` calls; empty if it calls none.
static StringRef calleeOf(Operation *op) {
  return TypeSwitch<Operation *, StringRef>(op)
      .Case([](AtenOp aten) { return aten.getCallee(); })
      .Case([](AttentionOp) { return rules::kAttentionForward; })
      .Case([](AttentionBackwardOp) { return rules::kAttentionBackward; })
      .Default([](Operation *) { return StringRef(); });
}

FailureOr<OperatorCall> mlir::sfsdp::callOf(Operation *op,
                                            rules::SchemaTable &table) {
  StringRef callee = calleeOf(op);
  assert(!callee.empty() && "expected an operation that calls an operator");
  const rules::Schema *schema = table.find(callee);
  if (!schema) {
    return op->emitOpError()
           << "calls " << callee
           << ", which is in no schema table; give its schema by --allow-op";
  }
  OperatorCall call;
  call.schema = schema;
  call.arguments =
      TypeSwitch<Operation *, std::vector<Argument>>(op)
          .Case([&](AtenOp aten) { return argumentsOf(aten, *schema); })
          .Case<AttentionOp, AttentionBackwardOp>(
              [](auto attention) { return attentionArguments(attention); });
  runtime::Status status = rules::fillDefaults(call);
  if (status.ok()) {
    status = rules::checkArguments(call);
  }
  if (!status.ok()) {
    return op->emitOpError() << status.message();
  }
  return call;
}

const rules::Rule *mlir::sfsdp::ruleOf(Operation *op) {
  return rules::findRule(calleeOf(op));
}

//===----------------------------------------------------------------------===//
// Views and costs
//===----------------------------------------------------------------------===//

/// The rule's answer for the results of `op`; absent without a rule, and for a
/// call that the rule refuses.
static std::optional<rules::ResultLayouts> resultsOf(const OperatorCall &call,
                                                     const rules::Rule &rule) {
  runtime::Expected<rules::ResultLayouts> results = rule.layout(call);
  return results ? std::optional(std::move(*results)) : std::nullopt;
}

/// Position among the operands of `op` of its argument `index`.
static unsigned operandOf(AtenOp op, size_t index) {
  unsigned position = 0;
  for (Attribute argument : op.getArguments().getValue().take_front(index)) {
    if (auto list = dyn_cast<ArrayAttr>(argument)) {
      position += llvm::count_if(list, llvm::IsaPred<OperandAttr>);
    } else if (isa<OperandAttr>(argument)) {
      ++position;
    }
  }
  return position;
}

/// The rule's answer for each result of `op`; empty without one.
static SmallVector<rules::ResultLayout> layoutsOf(Operation *op,
                                                  rules::SchemaTable &table) {
  const rules::Rule *rule = ruleOf(op);
  if (!isa<AtenOp>(op) || !rule) {
    return {};
  }
  FailureOr<OperatorCall> call = callOf(op, table);
  std::optional<rules::ResultLayouts> results;
  if (succeeded(call)) {
    results = resultsOf(*call, *rule);
  }
  SmallVector<rules::ResultLayout> layouts;
  for (std::optional<rules::ResultLayout> &result :
       results ? *results : rules::ResultLayouts()) {
    if (result && layouts.size() < op->getNumResults()) {
      layouts.push_back(std::move(*result));
    }
  }
  return layouts;
}

SmallVector<std::optional<ViewSource>>
mlir::sfsdp::viewsOf(Operation *op, rules::SchemaTable &table) {
  SmallVector<std::optional<ViewSource>> views(op->getNumResults());
  for (auto [view, layout] : llvm::zip(views, layoutsOf(op, table))) {
    if (layout.aliasOf) {
      unsigned position = operandOf(cast<AtenOp>(op), *layout.aliasOf);
      view = ViewSource{&op->getOpOperand(position), layout.offset};
    }
  }
  return views;
}

SmallVector<int64_t> mlir::sfsdp::storageBytesOf(Operation *op,
                                                 rules::SchemaTable &table) {
  SmallVector<int64_t> bytes(op->getNumResults());
  for (auto [each, layout] : llvm::zip(bytes, layoutsOf(op, table))) {
    if (!layout.aliasOf) {
      each = std::max(layout.tensor.bytes(), layout.storageBytes);
    }
  }
  return bytes;
}

std::optional<ViewSource> mlir::sfsdp::viewSource(OpResult result,
                                                  rules::SchemaTable &table) {
  return viewsOf(result.getOwner(), table)[result.getResultNumber()];
}

static int64_t bytesOf(ValueRange values) {
  int64_t bytes = 0;
  for (Value value : values) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType())) {
      bytes += layoutOf(type).bytes();
    }
  }
  return bytes;
}

/// What the runtime's own kernels hold beside operands and results.
static int64_t workspaceOf(Operation *op) {
  return TypeSwitch<Operation *, int64_t>(op)
      // The denominator of AdamW, or a gradient with weight decay.
      .Case<AdamWOp, SgdOp>(
          [](auto update) { return bytesOf(update->getResult(0)); })
      // Both of them.
      .Case([](AdamOp adam) {
        return (adam.getWeightDecay().isZero() ? 1 : 2) *
               bytesOf(adam.getNewParameter());
      })
      // Rows of another layout are copied before they are cut.
      .Case([](ChunkNormsOp norms) {
        auto type = cast<RankedTensorType>(norms.getGradient().getType());
        auto chunks = cast<RankedTensorType>(norms.getNorms().getType());
        bool isCopied = chunks.getDimSize(0) > 1 && !isContiguous(type);
        return isCopied ? bytesOf(norms.getGradient()) : 0;
      })
      .Default([](Operation *) { return 0; });
}

runtime::CostFacts mlir::sfsdp::costOf(Operation *op,
                                       rules::SchemaTable &table) {
  if (const rules::Rule *rule = ruleOf(op)) {
    FailureOr<OperatorCall> call = callOf(op, table);
    if (succeeded(call)) {
      if (auto results = resultsOf(*call, *rule)) {
        return rule->cost(*call, *results);
      }
    }
  }
  runtime::CostFacts facts;
  facts.costClass = isa<InPlaceOpInterface>(op) ? runtime::CostClass::Optimizer
                                                : runtime::CostClass::Other;
  facts.bytesRead = bytesOf(op->getOperands());
  facts.bytesWritten = bytesOf(op->getResults());
  facts.workspaceBytes = workspaceOf(op);
  return facts;
}
