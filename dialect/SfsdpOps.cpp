//===- SfsdpOps.cpp - Operators and host scalars --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsing, printing and checking. Each verifier follows the constraint list of
// its operation item by item.
//
// Tested by test/dialect/<operation>.mlir and <operation>-invalid.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/Layout.h"
#include "dialect/Sfsdp.h"
#include "dialect/UpdateTypes.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::sfsdp;

//===----------------------------------------------------------------------===//
// Argument lists of aten
//===----------------------------------------------------------------------===//

using Operands = SmallVectorImpl<OpAsmParser::UnresolvedOperand>;

/// Reads `%x` if one is there, and adds it to `operands`.
static OptionalParseResult parseOptionalMarker(OpAsmParser &parser,
                                               Operands &operands) {
  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult result = parser.parseOptionalOperand(operand);
  if (result.has_value() && succeeded(*result)) {
    operands.push_back(operand);
  }
  return result;
}

/// The array as the most specific attribute: operands and `none` stay an
/// array, numbers become dense.
static Attribute specificList(MLIRContext *context,
                              ArrayRef<Attribute> elements) {
  if (llvm::all_of(elements, llvm::IsaPred<IntegerAttr>) &&
      llvm::none_of(elements, llvm::IsaPred<BoolAttr>)) {
    return DenseI64ArrayAttr::get(
        context, llvm::map_to_vector(elements, [](Attribute element) {
          return cast<IntegerAttr>(element).getInt();
        }));
  }
  if (llvm::all_of(elements, llvm::IsaPred<BoolAttr>)) {
    return DenseBoolArrayAttr::get(
        context, llvm::map_to_vector(elements, [](Attribute element) {
          return cast<BoolAttr>(element).getValue();
        }));
  }
  if (llvm::all_of(elements, llvm::IsaPred<FloatAttr>)) {
    return DenseF64ArrayAttr::get(
        context, llvm::map_to_vector(elements, [](Attribute element) {
          return cast<FloatAttr>(element).getValueAsDouble();
        }));
  }
  return ArrayAttr::get(context, elements);
}

/// argument ::= `%x` | `none` | `[` argument (`,` argument)* `]` | attribute
static ParseResult parseArgument(OpAsmParser &parser, Operands &operands,
                                 Attribute &argument) {
  OptionalParseResult operand = parseOptionalMarker(parser, operands);
  if (operand.has_value()) {
    argument = OperandAttr::get(parser.getContext());
    return *operand;
  }
  if (succeeded(parser.parseOptionalKeyword("none"))) {
    argument = UnitAttr::get(parser.getContext());
    return success();
  }
  if (failed(parser.parseOptionalLSquare())) {
    return parser.parseAttribute(argument);
  }
  SmallVector<Attribute> elements;
  if (succeeded(parser.parseOptionalRSquare())) {
    argument = specificList(parser.getContext(), elements);
    return success();
  }
  if (parser.parseCommaSeparatedList([&]() {
        return parseArgument(parser, operands, elements.emplace_back());
      }) ||
      parser.parseRSquare()) {
    return failure();
  }
  argument = specificList(parser.getContext(), elements);
  return success();
}

/// `(` argument (`,` argument)* `)`, operands in their places.
static ParseResult parseCallArguments(OpAsmParser &parser, Operands &operands,
                                      ArrayAttr &arguments) {
  SmallVector<Attribute> parsed;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() {
        return parseArgument(parser, operands, parsed.emplace_back());
      })) {
    return failure();
  }
  arguments = ArrayAttr::get(parser.getContext(), parsed);
  return success();
}

/// Prints one argument; takes operands from the front of `operands`.
static void printArgument(OpAsmPrinter &printer, OperandRange &operands,
                          Attribute argument) {
  auto printList = [&](auto elements, auto printElement) {
    printer << "[";
    llvm::interleaveComma(elements, printer, printElement);
    printer << "]";
  };
  Builder builder(argument.getContext());
  if (isa<OperandAttr>(argument) && !operands.empty()) {
    printer << operands.front();
    operands = operands.drop_front();
  } else if (isa<UnitAttr>(argument)) {
    printer << "none";
  } else if (auto list = dyn_cast<ArrayAttr>(argument)) {
    printList(list, [&](Attribute element) {
      printArgument(printer, operands, element);
    });
  } else if (auto list = dyn_cast<DenseI64ArrayAttr>(argument)) {
    printList(list.asArrayRef(), [&](int64_t element) { printer << element; });
  } else if (auto list = dyn_cast<DenseF64ArrayAttr>(argument)) {
    printList(list.asArrayRef(), [&](double element) {
      printer.printAttributeWithoutType(builder.getF64FloatAttr(element));
    });
  } else if (auto list = dyn_cast<DenseBoolArrayAttr>(argument)) {
    printList(list.asArrayRef(),
              [&](bool element) { printer << (element ? "true" : "false"); });
  } else if (auto real = dyn_cast<FloatAttr>(argument);
             real && !real.getValue().isFinite()) {
    printer.printAttribute(argument); // hexadecimal, which needs its type
  } else {
    printer.printAttributeWithoutType(argument);
  }
}

static void printCallArguments(OpAsmPrinter &printer, AtenOp,
                               OperandRange operands, ArrayAttr arguments) {
  printer << "(";
  llvm::interleaveComma(arguments, printer, [&](Attribute argument) {
    printArgument(printer, operands, argument);
  });
  printer << ")";
}

//===----------------------------------------------------------------------===//
// AtenOp
//===----------------------------------------------------------------------===//

/// The number of operand markers in `argument`; absent for an attribute of
/// another kind than the operation's description lists.
static std::optional<size_t> countMarkers(Attribute argument) {
  if (isa<OperandAttr>(argument)) {
    return 1;
  }
  if (auto list = dyn_cast<ArrayAttr>(argument)) {
    if (!llvm::all_of(list, llvm::IsaPred<OperandAttr, UnitAttr>)) {
      return std::nullopt;
    }
    return llvm::count_if(list, llvm::IsaPred<OperandAttr>);
  }
  bool known = isa<UnitAttr, BoolAttr, StringAttr, TypeAttr, DenseI64ArrayAttr,
                   DenseF64ArrayAttr, DenseBoolArrayAttr, MemoryFormatAttr,
                   StridedAttr, DeviceAttr>(argument);
  if (auto integer = dyn_cast<IntegerAttr>(argument)) {
    known |= integer.getType().isInteger(64);
  } else if (auto real = dyn_cast<FloatAttr>(argument)) {
    known = real.getType().isF64();
  }
  return known ? std::optional<size_t>(0) : std::nullopt;
}

LogicalResult AtenOp::verify() {
  size_t markers = 0;
  for (auto [index, argument] : llvm::enumerate(getArguments())) {
    std::optional<size_t> count = countMarkers(argument);
    // aten_c3
    if (!count) {
      return emitOpError() << "argument " << index
                           << ": expected an operator argument, got "
                           << argument;
    }
    markers += *count;
  }
  // aten_c1
  if (markers != getInputs().size()) {
    return emitOpError() << "expected one operand per operand marker, got "
                         << getInputs().size() << " operands for " << markers
                         << " markers";
  }
  // aten_c2
  if ((getEffect() == OperatorEffect::Random) != getRandomId().has_value()) {
    return emitOpError() << "expected exactly a random operator to have a "
                            "random id, got effect "
                         << stringifyOperatorEffect(getEffect())
                         << (getRandomId() ? " with one" : " without");
  }
  // aten_c4
  int64_t previous = -1;
  for (int64_t position : getAbsent().value_or(ArrayRef<int64_t>())) {
    int64_t last = getNumResults() + getAbsent()->size() - 1;
    if (position <= previous || position > last) {
      return emitOpError() << "expected absent results to rise from 0 to "
                           << last << ", got " << position;
    }
    previous = position;
  }
  return success();
}

void AtenOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (getEffect() == OperatorEffect::Unknown) {
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
  }
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

static RankedTensorType tensorTypeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

LogicalResult AttentionOp::verify() {
  // attention_c1
  for (Value tensor : {getQuery(), getKey(), getValue()}) {
    if (tensorTypeOf(tensor).getRank() != 4) {
      return emitOpError() << "expected [batch, heads, length, width], got "
                           << tensor.getType();
    }
  }
  // attention_c2
  ArrayRef<int64_t> query = tensorTypeOf(getQuery()).getShape();
  ArrayRef<int64_t> value = tensorTypeOf(getValue()).getShape();
  SmallVector<int64_t> expected(query);
  expected[3] = value[3];
  if (tensorTypeOf(getOutput()).getShape() != ArrayRef<int64_t>(expected)) {
    return emitOpError() << "expected an output of [" << expected << "], got "
                         << getOutput().getType();
  }
  return success();
}

LogicalResult AttentionBackwardOp::verify() {
  // attention_backward_c1
  auto forward = getOutput().getDefiningOp<AttentionOp>();
  bool matches =
      forward && getSaved() == forward.getSaved() &&
      getOutput() == forward.getOutput() && getQuery() == forward.getQuery() &&
      getKey() == forward.getKey() && getValue() == forward.getValue() &&
      getMask() == forward.getMask() && getCausal() == forward.getCausal() &&
      getScaleAttr() == forward.getScaleAttr();
  if (!matches) {
    return emitOpError() << "expected output and saved to come from one "
                            "sfsdp.attention with the same operands and "
                            "attributes, got another source";
  }
  // attention_backward_c2
  for (auto [gradient, tensor] : {std::pair(getQueryGradient(), getQuery()),
                                  std::pair(getKeyGradient(), getKey()),
                                  std::pair(getValueGradient(), getValue())}) {
    RankedTensorType got = tensorTypeOf(gradient);
    RankedTensorType expected = tensorTypeOf(tensor);
    if (got.getShape() != expected.getShape() ||
        got.getElementType() != expected.getElementType()) {
      return emitOpError() << "expected a gradient like " << expected
                           << ", got " << got;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

LogicalResult ScalarComputeOp::verify() {
  // scalar_compute_c1
  size_t expected = getFunction() == ScalarFunction::Neg ? 1 : 2;
  if (getOperands().size() != expected) {
    return emitOpError() << "expected " << expected << " operands for "
                         << stringifyScalarFunction(getFunction()) << ", got "
                         << getOperands().size();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

LogicalResult LocalChunkOp::verify() {
  // local_chunk_c1
  MeshAttr mesh = meshOf(*this);
  std::optional<int64_t> ranks =
      mesh ? mesh.axisSize(getAxisAttr()) : std::optional<int64_t>();
  if (!ranks) {
    return emitOpError() << "expected an axis of the module's mesh, got "
                         << getAxisAttr();
  }
  // local_chunk_c2
  auto full = cast<RankedTensorType>(getFull().getType());
  auto chunk = cast<RankedTensorType>(getChunk().getType());
  SmallVector<int64_t> expected(full.getShape());
  if (!expected.empty()) {
    expected[0] = chunkOf(expected[0], *ranks);
  }
  if (expected.empty() || chunk.getShape() != ArrayRef<int64_t>(expected) ||
      full.getElementType() != chunk.getElementType() || !isContiguous(full) ||
      !isContiguous(chunk)) {
    return emitOpError() << "expected a contiguous chunk of [" << expected
                         << "] of a contiguous tensor, got " << chunk << " of "
                         << full;
  }
  return success();
}

#define GET_OP_CLASSES
#include "dialect/SfsdpOps.cpp.inc"
