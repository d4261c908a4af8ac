//===- DirectCall.cpp - Operators called without a stack ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A signature is recognised by the schema, and confirmed by LibTorch, which
// compares C++ types when a handle becomes a typed one.
//
// Tested by test/unit/runtime/ExecutorTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "runtime/DirectCall.h"

#include <ATen/core/jit_type.h>
#include <algorithm>

using namespace sfsdp::runtime;

namespace {

/// One letter per argument: T tensor, S scalar, I int, L list of ints, ? other.
std::string signatureOf(const c10::FunctionSchema &schema) {
  std::string letters;
  for (const c10::Argument &argument : schema.arguments()) {
    const c10::AliasInfo *alias = argument.alias_info();
    const auto *list = argument.type()->castRaw<c10::ListType>();
    bool isInts = list &&
                  list->getElementType()->kind() == c10::TypeKind::IntType &&
                  !argument.N();
    switch (argument.type()->kind()) {
    case c10::TypeKind::TensorType:
      letters += alias && alias->isWrite() ? '?' : 'T';
      break;
    case c10::TypeKind::NumberType:
      letters += 'S';
      break;
    case c10::TypeKind::IntType:
      letters += 'I';
      break;
    default:
      letters += isInts ? 'L' : '?';
    }
  }
  bool returnsTensor =
      schema.returns().size() == 1 &&
      schema.returns()[0].type()->kind() == c10::TypeKind::TensorType;
  return returnsTensor ? letters : "?";
}

} // namespace

std::optional<DirectCall>
DirectCall::make(const c10::OperatorHandle &handle,
                 const std::vector<ValueId> &tensors,
                 const std::vector<c10::IValue> &arguments) {
  std::string signature = signatureOf(handle.schema());
  // A number may stand where a tensor is expected; such calls keep the stack.
  auto tensorCount = std::count(signature.begin(), signature.end(), 'T');
  if (static_cast<size_t>(tensorCount) != tensors.size()) {
    return std::nullopt;
  }
  std::optional<Target> target;
  try {
    if (signature == "T") {
      target = handle.typed<at::Tensor(const at::Tensor &)>();
    } else if (signature == "TT") {
      target =
          handle.typed<at::Tensor(const at::Tensor &, const at::Tensor &)>();
    } else if (signature == "TTS") {
      target = handle.typed<at::Tensor(const at::Tensor &, const at::Tensor &,
                                       const at::Scalar &)>();
    } else if (signature == "TS") {
      target =
          handle.typed<at::Tensor(const at::Tensor &, const at::Scalar &)>();
    } else if (signature == "TL") {
      target =
          handle.typed<at::Tensor(const at::Tensor &, c10::SymIntArrayRef)>();
    } else if (signature == "TII") {
      target = handle.typed<at::Tensor(const at::Tensor &, int64_t, int64_t)>();
    }
  } catch (const c10::Error &) {
    return std::nullopt; // an operator whose C++ types differ
  }
  if (!target) {
    return std::nullopt;
  }
  DirectCall call(std::move(*target));
  for (size_t index = 0; index < tensors.size(); ++index) {
    call.operands[index] = tensors[index];
  }
  const c10::IValue &last = arguments.back();
  if (signature.ends_with('S')) {
    call.scalar = last.toScalar();
  } else if (signature == "TL") {
    for (int64_t size : last.toIntVector()) {
      call.sizes.emplace_back(size);
    }
  } else if (signature == "TII") {
    call.dims[0] = arguments[1].toInt();
    call.dims[1] = last.toInt();
  }
  return call;
}
