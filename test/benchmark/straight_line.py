# ===- straight_line.py - A plan's kernels as plain C++ --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `straight_line.py STEP.plan.json STEP.cpp` writes a function that calls the
# same operators in the same order through LibTorch's typed C++ interface, with
# local variables for values and constants in place: what a person would write
# by hand for this one step. For plans of one rank without optimizer.

import json
import sys

import torch

ATTENTION = {
    "sfsdp::attention": "_scaled_dot_product_flash_attention_for_cpu",
    "sfsdp::attention_backward": (
        "_scaled_dot_product_flash_attention_for_cpu_backward"
    ),
}
SCALAR_TYPES = {
    "f32": "at::kFloat",
    "f64": "at::kDouble",
    "bf16": "at::kBFloat16",
    "f16": "at::kHalf",
    "i64": "at::kLong",
    "i32": "at::kInt",
    "bool": "at::kBool",
    torch.float32: "at::kFloat",
    torch.bfloat16: "at::kBFloat16",
    torch.int64: "at::kLong",
    torch.bool: "at::kBool",
}
MEMORY_FORMATS = {
    "contiguous": "at::MemoryFormat::Contiguous",
    "preserve": "at::MemoryFormat::Preserve",
    torch.contiguous_format: "at::MemoryFormat::Contiguous",
    torch.preserve_format: "at::MemoryFormat::Preserve",
}

# A list that fits formals of both kinds, int[] and SymInt[].
INTEGERS = """
struct Integers {
  std::vector<int64_t> plain;
  std::vector<c10::SymInt> symbolic;
  Integers(std::vector<int64_t> values)
      : plain(values), symbolic(values.begin(), values.end()) {}
  operator at::IntArrayRef() const { return plain; }
  operator at::OptionalIntArrayRef() const { return at::IntArrayRef(plain); }
  operator c10::SymIntArrayRef() const { return symbolic; }
  operator at::OptionalSymIntArrayRef() const {
    return c10::SymIntArrayRef(symbolic);
  }
};
"""


class StraightLine:
    """Writes one plan as C++."""

    def __init__(self, plan):
        self.plan = plan
        self.headers = set()
        self.constants = []
        self.lines = []

    def write(self):
        (program,) = self.plan["programs"]
        for instruction in program["instructions"]:
            if "call" in instruction:
                self.call(instruction)
            elif "free" in instruction:
                self.free(instruction["free"])
            else:
                raise ValueError("expected a plan without collectives")
        return "\n".join(self.text()) + "\n"

    def text(self):
        yield "#include <ATen/core/Tensor.h>"
        yield "#include <ATen/core/List.h>"
        yield "#include <ATen/ScalarOps.h>"
        for name in sorted(self.headers):
            yield f"#include <ATen/ops/{name}_ops.h>"
        yield INTEGERS
        yield 'extern "C" void runStep(at::Tensor *arguments) {'
        for index, argument in enumerate(self.plan["arguments"]):
            name = name_of(argument["value"])
            yield f"  at::Tensor &{name} = arguments[{index}];"
        given = {argument["value"] for argument in self.plan["arguments"]}
        for value in range(len(self.plan["values"])):
            if f"%{value}" not in given:
                yield f"  at::Tensor v{value};"
        yield from self.constants
        yield from self.lines
        yield "}"

    def free(self, storage):
        for index, value in enumerate(self.plan["values"]):
            if value["storage"] == storage:
                self.lines.append(f"  v{index} = at::Tensor();")

    def call(self, instruction):
        qualified = instruction["call"]
        name = ATTENTION.get(qualified, qualified.removeprefix("aten::"))
        overload = instruction.get("overload", "")
        schema = schema_of(name, overload)
        given = self.given_arguments(instruction, schema)
        arguments = ", ".join(
            self.argument(formal, value)
            for formal, value in zip(schema.arguments, given)
        )
        function = f"{name}_{overload}" if overload else name
        self.headers.add(name)
        call = f"at::_ops::{function}::call({arguments})"
        self.lines += assignment(instruction["results"], schema, call)

    def given_arguments(self, instruction, schema):
        given = list(instruction["arguments"])
        if instruction["call"] == "sfsdp::attention":
            query, key, value, mask, dropout, causal, *scale = given
            rest = scale[0] if scale else None
            return [query, key, value, dropout, causal, mask, rest]
        if instruction["call"] == "sfsdp::attention_backward":
            *tensors, mask, dropout, causal = given[:9]
            rest = given[9] if len(given) > 9 else None
            return [*tensors, dropout, causal, mask, rest]
        missing = schema.arguments[len(given) :]
        return given + [formal.default_value for formal in missing]

    def argument(self, formal, value):
        """C++ text of one argument."""
        kind = str(formal.real_type)
        optional = kind.startswith("Optional[")
        inner = kind[len("Optional[") : -1] if optional else kind
        if value is None:
            return "std::nullopt"
        if isinstance(value, dict):
            ((tag, value),) = value.items()
            if tag == "device":
                return "at::Device(at::kCPU)"
        return self.typed(inner, value)

    def typed(self, kind, value):
        if isinstance(value, str) and value.startswith("%"):
            return name_of(value)
        if kind == "Tensor":
            return self.number_as_tensor(value)
        if kind in ("List[Tensor]", "List[Optional[Tensor]]"):
            return self.tensor_list(kind, value)
        if kind.startswith("List["):
            return self.constant_list(kind[5:-1], value)
        if kind == "ScalarType":
            return SCALAR_TYPES[value]
        if kind == "MemoryFormat":
            return MEMORY_FORMATS[value]
        if kind == "Layout":
            return "at::kStrided"
        if kind == "number":
            return f"at::Scalar({number(value)})"
        return number(value)

    def number_as_tensor(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(
            f"  static const at::Tensor {name} = "
            f"at::native::wrapped_scalar_tensor({number(value)});"
        )
        return name

    def tensor_list(self, kind, values):
        names = [name_of(v) if v else "std::nullopt" for v in values]
        if kind == "List[Tensor]":
            return f"at::TensorList({{{', '.join(names)}}})"
        items = ", ".join(names)
        return f"c10::List<std::optional<at::Tensor>>({{{items}}})"

    def constant_list(self, kind, values):
        items = ", ".join(map(number, values))
        if kind == "bool":
            return f"std::array<bool, {len(values)}>{{{items}}}"
        name = f"c{len(self.constants)}"
        self.constants.append(f"  static const Integers {name}({{{items}}});")
        return name


def schema_of(name, overload):
    packet = getattr(torch.ops.aten, name)
    return getattr(packet, overload or "default")._schema


def name_of(value):
    return f"v{value.removeprefix('%')}"


def number(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


def assignment(results, schema, call):
    """Lines that run `call` and keep its results."""
    names = [name_of(value) if value else "std::ignore" for value in results]
    if (
        len(schema.returns) == 1
        and str(schema.returns[0].type) == "List[Tensor]"
    ):
        return (
            ["  {", f"    auto list = {call};"]
            + [
                f"    {name} = list[{index}];"
                for index, name in enumerate(names)
                if name != "std::ignore"
            ]
            + ["  }"]
        )
    if len(schema.returns) == 1:
        return [f"  {names[0]} = {call};"]
    ignored = len(schema.returns) - len(names)
    names += ["std::ignore"] * ignored
    return [f"  std::tie({', '.join(names)}) = {call};"]


def main(plan_path, output_path):
    with open(plan_path) as file:
        plan = json.load(file)
    with open(output_path, "w") as file:
        file.write(StraightLine(plan).write())


if __name__ == "__main__":
    main(*sys.argv[1:])
