//===- UpdateTypes.h - How optimizer updates print their types --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `custom` parts of the assembly formats in SfsdpOptimizers.td: the tensors
// of an update have one type, which stands once.
//
// Tested by test/dialect/optimizers.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_DIALECT_UPDATETYPES_H
#define SFSDP_DIALECT_UPDATETYPES_H

#include "mlir/IR/OpImplementation.h"

namespace mlir::sfsdp {

/// One type for a list of values.
template <typename... Types>
ParseResult parseOneType(OpAsmParser &parser, Types &...types) {
  Type type;
  if (parser.parseType(type)) {
    return failure();
  }
  ((types = type), ...);
  return success();
}

template <typename... Types>
void printOneType(OpAsmPrinter &printer, Operation *, Type first, Types...) {
  printer << first;
}

/// One type, also for the momentum buffer and its new value if there is one.
inline ParseResult
parseSgdTypes(OpAsmParser &parser,
              std::optional<OpAsmParser::UnresolvedOperand> buffer,
              Type &parameter, Type &gradient, Type &bufferType,
              Type &newParameter, Type &newBufferType) {
  if (parseOneType(parser, parameter, gradient, newParameter)) {
    return failure();
  }
  if (buffer) {
    bufferType = newBufferType = parameter;
  }
  return success();
}

inline void printSgdTypes(OpAsmPrinter &printer, Operation *, Value,
                          Type parameter, Type, Type, Type, Type) {
  printer << parameter;
}

} // namespace mlir::sfsdp

#endif // SFSDP_DIALECT_UPDATETYPES_H
