//===- SfsdpEnums.td - Closed sets of the dialect ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/dialect/; the examples of descriptions by
// test/dialect/description-examples.test.

#ifndef SFSDP_ENUMS_TD
#define SFSDP_ENUMS_TD

include "dialect/SfsdpDialect.td"
include "mlir/IR/EnumAttr.td"

class Sfsdp_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::sfsdp";
  let genSpecializedAttr = 0;
}

def Sfsdp_Phase : Sfsdp_Enum<"Phase", "part of the training step", [
  I32EnumAttrCase<"Forward", 0, "forward">,
  I32EnumAttrCase<"Backward", 1, "backward">,
  I32EnumAttrCase<"Optimizer", 2, "optimizer">
]>;

def Sfsdp_RoleKind : Sfsdp_Enum<"RoleKind", "what a value is to the step", [
  I32EnumAttrCase<"Parameter", 0, "parameter">,
  I32EnumAttrCase<"Buffer", 1, "buffer">,
  I32EnumAttrCase<"Constant", 2, "constant">,
  I32EnumAttrCase<"Input", 3, "input">,
  I32EnumAttrCase<"State", 4, "state">,
  I32EnumAttrCase<"HyperParameter", 5, "hyper_parameter">,
  I32EnumAttrCase<"Loss", 6, "loss">,
  I32EnumAttrCase<"Gradient", 7, "gradient">,
  I32EnumAttrCase<"Output", 8, "output">,
  I32EnumAttrCase<"Accumulator", 9, "accumulator">,
  I32EnumAttrCase<"GradientNorm", 10, "gradient_norm">,
  I32EnumAttrCase<"ChunkNorms", 11, "chunk_norms">,
  I32EnumAttrCase<"Applied", 12, "applied">
]>;

def Sfsdp_OperatorEffect
    : Sfsdp_Enum<"OperatorEffect", "what an operator does besides its results", [
  I32EnumAttrCase<"Pure", 0, "pure">,
  I32EnumAttrCase<"Random", 1, "random">,
  I32EnumAttrCase<"Unknown", 2, "unknown">
]>;
def Sfsdp_OperatorEffectAttr
    : EnumAttr<Sfsdp_Dialect, Sfsdp_OperatorEffect, "effect"> {
  let assemblyFormat = "$value";
}

def Sfsdp_ReduceKind : Sfsdp_Enum<"ReduceKind", "how ranks are combined", [
  I32EnumAttrCase<"Sum", 0, "sum">,
  I32EnumAttrCase<"Avg", 1, "avg">
]>;
def Sfsdp_ReduceKindAttr : EnumAttr<Sfsdp_Dialect, Sfsdp_ReduceKind, "reduce"> {
  let assemblyFormat = "$value";
}

def Sfsdp_ReductionOrder
    : Sfsdp_Enum<"ReductionOrder", "order of the additions of a reduction", [
  I32EnumAttrCase<"Ordered", 0, "ordered">,
  I32EnumAttrCase<"Backend", 1, "backend">
]>;
def Sfsdp_ReductionOrderAttr
    : EnumAttr<Sfsdp_Dialect, Sfsdp_ReductionOrder, "order"> {
  let assemblyFormat = "$value";
}

def Sfsdp_MemoryFormat : Sfsdp_Enum<"MemoryFormat", "PyTorch's memory formats", [
  I32EnumAttrCase<"Contiguous", 0, "contiguous">,
  I32EnumAttrCase<"Preserve", 1, "preserve">,
  I32EnumAttrCase<"ChannelsLast", 2, "channels_last">,
  I32EnumAttrCase<"ChannelsLast3d", 3, "channels_last_3d">
]>;
def Sfsdp_MemoryFormatAttr
    : EnumAttr<Sfsdp_Dialect, Sfsdp_MemoryFormat, "memory_format"> {
  let summary = "A memory format as operator argument";
  let description = [{
    ```mlir
    #sfsdp.memory_format<contiguous>
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Sfsdp_ScalarFunction
    : Sfsdp_Enum<"ScalarFunction", "arithmetic on host scalars", [
  I32EnumAttrCase<"Add", 0, "add">,
  I32EnumAttrCase<"Sub", 1, "sub">,
  I32EnumAttrCase<"Mul", 2, "mul">,
  I32EnumAttrCase<"Div", 3, "div">,
  I32EnumAttrCase<"Pow", 4, "pow">,
  I32EnumAttrCase<"Neg", 5, "neg">
]>;
def Sfsdp_ScalarFunctionAttr
    : EnumAttr<Sfsdp_Dialect, Sfsdp_ScalarFunction, "function"> {
  let assemblyFormat = "$value";
}

#endif // SFSDP_ENUMS_TD
