//===- SfsdpInterfaces.td - What passes ask of an operation -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/dialect/; the examples of descriptions by
// test/dialect/description-examples.test.

#ifndef SFSDP_INTERFACES_TD
#define SFSDP_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Sfsdp_CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::mlir::sfsdp";
  let description = [{
    A collective with k operands and k results: a bucket of k tensors. The
    synchronous form returns the tensors; the start form returns one pending
    value that `sfsdp.wait` turns into them.
  }];
  let methods = [
    InterfaceMethod<"Mesh axes of the group, outermost first.",
      "::mlir::ArrayAttr", "getGroupAxes", (ins), [{}], [{
        return $_op.getAxes();
      }]>,
    InterfaceMethod<"Names of the parameters that the members serve; null if unnamed.",
      "::mlir::ArrayAttr", "getMemberNames", (ins), [{}], [{
        return $_op.getNamesAttr();
      }]>,
    InterfaceMethod<"The tensors that go in.",
      "::mlir::Operation::operand_range", "getMembers", (ins), [{}], [{
        return $_op.getInputs();
      }]>,
    InterfaceMethod<"Types of the tensors that come out, in either form.",
      "::llvm::SmallVector<::mlir::RankedTensorType>", "getMemberResultTypes">,
    InterfaceMethod<"Whether this is the start form.", "bool", "isStart">,
    InterfaceMethod<"Name without prefix and `_start`: \"all_gather\".",
      "::llvm::StringRef", "getCollectiveName">,
    InterfaceMethod<"Whether the values of the ranks are combined.",
      "bool", "isReduction", (ins), [{}], [{
        return $_op.getCollectiveName().contains("reduce");
      }]>,
    InterfaceMethod<
      [{Whether one bucket may hold members of both: same kind, form, group and
        attributes other than names and scope.}],
      "bool", "canShareBucketWith", (ins "::mlir::Operation *":$other)>,
  ];
}

def Sfsdp_InPlaceOpInterface : OpInterface<"InPlaceOpInterface"> {
  let cppNamespace = "::mlir::sfsdp";
  let description = [{
    An operation whose results take the memory of operands: result i overwrites
    a tied operand, which must not be read afterwards.
  }];
  let methods = [
    InterfaceMethod<"The operand that result `index` overwrites.",
      "::mlir::OpOperand &", "getTiedOperand", (ins "unsigned":$index)>,
  ];
}

def Sfsdp_UpdateOpInterface : OpInterface<"UpdateOpInterface"> {
  let cppNamespace = "::mlir::sfsdp";
  let description = [{
    The update of one parameter by an optimizer. Its first result is the
    parameter's new value.
  }];
  let methods = [
    InterfaceMethod<"The old value of the parameter.",
      "::mlir::Value", "getUpdatedParameter", (ins), [{}], [{
        return $_op.getParameter();
      }]>,
    InterfaceMethod<"The operand that moves the parameter.",
      "::mlir::OpOperand &", "getGradientOperand", (ins), [{}], [{
        return $_op.getGradientMutable();
      }]>,
    InterfaceMethod<
      [{The operand that says whether the update is carried out; empty when it
        always is.}],
      "::mlir::MutableOperandRange", "getGuardOperand", (ins), [{}], [{
        return $_op.getGuardMutable();
      }]>,
  ];
}

#endif // SFSDP_INTERFACES_TD
