//===- SfsdpAttrs.cpp - Parsing, printing, checking of attributes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Custom forms where a list of pairs or optional words has no declarative one.
// Each verifier follows the constraint list of its attribute item by item.
//
// Tested by test/dialect/attributes.mlir and attributes-invalid.mlir.
//
//===----------------------------------------------------------------------===//

#include "dialect/Layout.h"
#include "dialect/Sfsdp.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace mlir::sfsdp;

#include "dialect/SfsdpEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/SfsdpAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/SfsdpTypes.cpp.inc"

void SfsdpDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/SfsdpAttrs.cpp.inc"
      >();
}

void SfsdpDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/SfsdpTypes.cpp.inc"
      >();
}

/// Reads `"name" =`.
static ParseResult parseKey(AsmParser &parser, StringAttr &name) {
  return failure(parser.parseAttribute(name) || parser.parseEqual());
}

/// The first of `names` that occurs twice; null if all are distinct.
static StringAttr firstRepeated(ArrayRef<StringAttr> names) {
  llvm::StringSet<> seen;
  for (StringAttr name : names) {
    if (!seen.insert(name.getValue()).second) {
      return name;
    }
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// MeshAttr
//===----------------------------------------------------------------------===//

/// `<` `"dp"` `=` `2` (`,` …)* (`,` `ranks` `=` `[` … `]`)? `>`
Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes, ranks;
  auto parseAxis = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalKeyword("ranks"))) {
      return failure(
          parser.parseEqual() ||
          parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() {
            return parser.parseInteger(ranks.emplace_back());
          }));
    }
    return failure(parseKey(parser, axes.emplace_back()) ||
                   parser.parseInteger(sizes.emplace_back()));
  };
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseAxis)) {
    return {};
  }
  return parser.getChecked<MeshAttr>(location, parser.getContext(), axes, sizes,
                                     ranks);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(
      llvm::zip(getAxes(), getSizes()), printer, [&](auto axis) {
        printer << std::get<0>(axis) << " = " << std::get<1>(axis);
      });
  if (!getRanks().empty()) {
    printer << ", ranks = [";
    llvm::interleaveComma(getRanks(), printer);
    printer << "]";
  }
  printer << ">";
}

/// Ranks are numbered by 32-bit integers everywhere.
static constexpr int64_t kMostRanks = std::numeric_limits<int32_t>::max();

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> axes,
                               ArrayRef<int64_t> sizes,
                               ArrayRef<int64_t> ranks) {
  // mesh_c1
  if (StringAttr repeated = firstRepeated(axes)) {
    return emitError() << "expected distinct mesh axes, got " << repeated
                       << " twice";
  }
  int64_t count = 1;
  for (auto [axis, size] : llvm::zip(axes, sizes)) {
    if (axis.getValue().empty()) {
      return emitError() << "expected mesh axes to have names, got \"\"";
    }
    // mesh_c2
    if (size < 1) {
      return emitError() << "expected mesh axis " << axis
                         << " to have at least 1 rank, got " << size;
    }
    // mesh_c4
    if (size > kMostRanks / count) {
      return emitError() << "expected at most " << kMostRanks
                         << " ranks in the mesh, got " << size << " for axis "
                         << axis << " after " << count;
    }
    count *= size;
  }
  // mesh_c3
  if (ranks.empty()) {
    return success();
  }
  if (static_cast<int64_t>(ranks.size()) != count) {
    return emitError() << "expected ranks to list all " << count
                       << " ranks of the mesh, got " << ranks.size();
  }
  SmallVector<bool> seen(count);
  for (int64_t rank : ranks) {
    if (rank < 0 || rank >= count || seen[rank]) {
      return emitError() << "expected ranks to be a permutation of 0 to "
                         << count - 1 << ", got " << rank
                         << (rank >= 0 && rank < count ? " twice" : "");
    }
    seen[rank] = true;
  }
  return success();
}

std::optional<int64_t> MeshAttr::axisSize(StringRef axis) const {
  for (auto [name, size] : llvm::zip(getAxes(), getSizes())) {
    if (name == axis) {
      return size;
    }
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// PlacementAttr
//===----------------------------------------------------------------------===//

/// `<` (`"dp"` `=` `shard` `(` `0` `)` (`,` …)*)? `>`
Attribute PlacementAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> dims;
  auto parseAxis = [&]() -> ParseResult {
    return failure(parseKey(parser, axes.emplace_back()) ||
                   parser.parseKeyword("shard") || parser.parseLParen() ||
                   parser.parseInteger(dims.emplace_back()) ||
                   parser.parseRParen());
  };
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseAxis)) {
    return {};
  }
  return parser.getChecked<PlacementAttr>(location, parser.getContext(), axes,
                                          dims);
}

void PlacementAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(
      llvm::zip(getAxes(), getDims()), printer, [&](auto axis) {
        printer << std::get<0>(axis) << " = shard(" << std::get<1>(axis) << ")";
      });
  printer << ">";
}

LogicalResult
PlacementAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<StringAttr> axes, ArrayRef<int64_t> dims) {
  // placement_c1
  if (StringAttr repeated = firstRepeated(axes)) {
    return emitError() << "expected each axis once in a placement, got "
                       << repeated << " twice";
  }
  // placement_c2
  for (int64_t dim : dims) {
    if (dim < 0) {
      return emitError() << "expected a split dimension of at least 0, got "
                         << dim;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// RoleAttr
//===----------------------------------------------------------------------===//

/// `<` kind name (`slot` name)? (`also` `[` names `]`)? `frozen`? `>`
Attribute RoleAttr::parse(AsmParser &parser, Type) {
  SMLoc location = parser.getCurrentLocation();
  StringRef keyword;
  StringAttr name, slot;
  SmallVector<StringAttr> aliases;
  if (parser.parseLess() || parser.parseKeyword(&keyword)) {
    return {};
  }
  std::optional<RoleKind> kind = symbolizeRoleKind(keyword);
  if (!kind) {
    parser.emitError(location, "expected a role, got ") << keyword;
    return {};
  }
  if (parser.parseAttribute(name)) {
    return {};
  }
  if (succeeded(parser.parseOptionalKeyword("slot")) &&
      parser.parseAttribute(slot)) {
    return {};
  }
  if (succeeded(parser.parseOptionalKeyword("also")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() {
        return parser.parseAttribute(aliases.emplace_back());
      })) {
    return {};
  }
  bool frozen = succeeded(parser.parseOptionalKeyword("frozen"));
  if (parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<RoleAttr>(location, parser.getContext(), *kind, name,
                                     slot, aliases, frozen);
}

void RoleAttr::print(AsmPrinter &printer) const {
  printer << "<" << stringifyRoleKind(getKind()) << " " << getName();
  if (getSlot()) {
    printer << " slot " << getSlot();
  }
  if (!getAliases().empty()) {
    printer << " also [";
    llvm::interleaveComma(getAliases(), printer);
    printer << "]";
  }
  printer << (getFrozen() ? " frozen>" : ">");
}

LogicalResult RoleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               RoleKind kind, StringAttr name, StringAttr slot,
                               ArrayRef<StringAttr> aliases, bool frozen) {
  // role_c1
  if ((kind == RoleKind::State) != static_cast<bool>(slot)) {
    return emitError()
           << "expected exactly optimizer state to have a slot, got "
           << stringifyRoleKind(kind) << " " << name
           << (slot ? " with one" : " without");
  }
  // role_c2
  if (kind != RoleKind::Parameter && (frozen || !aliases.empty())) {
    return emitError() << "expected only a parameter to be tied or frozen, got "
                       << stringifyRoleKind(kind) << " " << name;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// StridesAttr
//===----------------------------------------------------------------------===//

LogicalResult StridesAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type elementType,
    function_ref<InFlightDiagnostic()> emitError) const {
  // strides_c1
  if (shape.size() != getValues().size()) {
    return emitError() << "expected one stride per dimension, got "
                       << getValues().size() << " strides for " << shape.size()
                       << " dimensions";
  }
  // strides_c2
  for (int64_t stride : getValues()) {
    if (stride < 0) {
      return emitError() << "expected strides of at least 0, got " << stride;
    }
  }
  // strides_c3
  if (ArrayRef<int64_t>(contiguousStrides(shape)) == getValues()) {
    return emitError() << "expected no strides on a contiguous tensor";
  }
  return success();
}
