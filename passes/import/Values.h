//===- Values.h - Tensors of a graph by name ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/unit/passes/import/CapturedStepTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_PASSES_IMPORT_VALUES_H
#define SFSDP_PASSES_IMPORT_VALUES_H

#include "passes/import/CapturedStep.h"

namespace sfsdp::exported {

/// The tensors defined so far. Borrows from the program.
class ValueTable {
public:
  explicit ValueTable(const Program &program) : program(program) {}

  /// Defines `name`, which must have usable metadata and be new.
  Expected<ValueId> define(const std::string &name);

  /// The value of that name; an error when none is defined so far.
  Expected<ValueId> find(const std::string &name) const;

  /// Corrects the element type that was captured for a value.
  void setDType(ValueId id, runtime::DType dtype) {
    values[id].layout.dtype = dtype;
  }

  /// References to values are valid until the next definition.
  const CapturedValue &operator[](ValueId id) const { return values[id]; }

  /// Elements from the start of the value's storage to its start. As captured;
  /// archives of older recipes have 0 throughout.
  int64_t capturedOffset(ValueId id) const;

  std::vector<CapturedValue> take() { return std::move(values); }

private:
  const Program &program;
  std::vector<CapturedValue> values;
  std::unordered_map<std::string_view, ValueId> ids;
};

/// "s0 (2 to 10)", "u1" for a symbol without range.
std::string describeSymbol(const Program &program, const Symbol &symbol);

/// "f32 [2, 3] strides [3, 1]"
std::string describeLayout(const rules::TensorLayout &layout);

} // namespace sfsdp::exported

#endif // SFSDP_PASSES_IMPORT_VALUES_H
