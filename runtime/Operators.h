//===- Operators.h - Operators that a plan may call -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operator name in a file is input: some operators read and write files, or
// change the state of the process. A plan may call pure tensor operators that
// are listed here, in-place forms of them, the runtime's own kernels, and what
// the user allows by name.
//
// Tested by test/unit/runtime/OperatorsTest.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef SFSDP_RUNTIME_OPERATORS_H
#define SFSDP_RUNTIME_OPERATORS_H

#include "runtime/Status.h"

#include <set>
#include <string>

namespace sfsdp::runtime {

class OperatorList {
public:
  /// Adds the operator that `schema` ("mylib::foo(Tensor x) -> Tensor")
  /// declares; all its overloads.
  Status allow(const std::string &schema);

  /// `name` is qualified: "aten::mm".
  bool allows(const std::string &name) const;

private:
  std::set<std::string> users;
};

} // namespace sfsdp::runtime

#endif // SFSDP_RUNTIME_OPERATORS_H
