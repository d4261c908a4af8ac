#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records which layouts PyTorch's operators return on a CPU.

    make_layout_fixtures.py [--only FAMILY] [GRAPH.pt2 ...]

runs the calls of layout_cases.py, and every distinct operator call of the given
graphs, and writes test/Inputs/rules/FAMILY.json and captured-calls.json (left
alone when no graph is given). A file is a list of
[operator, arguments, results]:

    ["slice.Tensor", ["f32[4,6]", 1, 2, 6], ["f32[4,4|6,1]@0+2"]]

A tensor is DTYPE[SIZES], followed by |STRIDES inside the brackets unless it is
row-major. A result that shares the storage of argument I, O elements on, ends
in @I+O; @? says that strides where a size is 1, and the storage, are not
certain, because the call was too large to run or a kernel leaves them to
chance. null is None among arguments, an absent result among results, and
"PyTorch refuses this" in place of results. Arguments at the end that have their
default are left out; other kinds of arguments are one-key objects.

Tested by test/unit/passes/rules/LayoutFixtureTest.cpp, which replays the files.
"""

import argparse
import json
import math
import pathlib
import sys
import zipfile

import torch

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "Inputs" / "rules"

DTYPES = {
    "i1": torch.bool,
    "ui8": torch.uint8,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "complex<f32>": torch.complex64,
    "complex<f64>": torch.complex128,
}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
FORMAT_NAMES = {
    torch.contiguous_format: "contiguous",
    torch.preserve_format: "preserve",
    torch.channels_last: "channels_last",
    torch.channels_last_3d: "channels_last_3d",
}
# Above this a captured call is not run, and its aliases stay unknown.
LARGEST_RUN_BYTES = 1 << 26


class Layout:
    """A tensor argument that does not exist yet."""

    def __init__(self, dtype, sizes, strides=None, offset=0, fill=1):
        self.dtype = DTYPES[dtype] if isinstance(dtype, str) else dtype
        self.sizes = tuple(sizes)
        self.strides = row_major(sizes) if strides is None else tuple(strides)
        self.offset = offset
        self.fill = fill

    def make(self):
        """The tensor, filled with `fill`: 0 for what is used as an index."""
        span = self.offset + 1
        if 0 not in self.sizes:
            for size, stride in zip(self.sizes, self.strides):
                span += (size - 1) * stride
        storage = torch.full((span,), self.fill, dtype=self.dtype)
        return storage.as_strided(self.sizes, self.strides, self.offset)

    def bytes(self):
        return math.prod(self.sizes) * self.dtype.itemsize

    def __str__(self):
        return tensor_text(self.dtype, self.sizes, self.strides)


def row_major(sizes):
    strides = [1] * len(sizes)
    for dim in reversed(range(len(sizes) - 1)):
        strides[dim] = strides[dim + 1] * max(sizes[dim + 1], 1)
    return tuple(strides)


def tensor_text(dtype, sizes, strides):
    text = ",".join(map(str, sizes))
    if tuple(strides) != row_major(sizes):
        text += "|" + ",".join(map(str, strides))
    return f"{DTYPE_NAMES[dtype]}[{text}]"


def argument_json(value):
    if isinstance(value, Layout):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [argument_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value).replace("inf", "Infinity")}
    if isinstance(value, str):
        return {"str": value}
    if isinstance(value, torch.dtype):
        return {"dtype": DTYPE_NAMES[value]}
    if isinstance(value, torch.memory_format):
        return {"memory_format": FORMAT_NAMES[value]}
    if isinstance(value, torch.layout):
        return {"layout": "strided"}
    if isinstance(value, torch.device):
        return {"device": "cpu"}
    return value


def overload(name):
    operator, _, overload_name = name.partition(".")
    return getattr(getattr(torch.ops.aten, operator), overload_name)


def materialize(value):
    if isinstance(value, Layout):
        return value.make()
    if isinstance(value, (list, tuple)):
        return [materialize(item) for item in value]
    return value


def result_json(result, tensors):
    """`tensors`: the tensor arguments by index."""
    if result is None or not isinstance(result, torch.Tensor):
        return None
    text = tensor_text(result.dtype, result.shape, result.stride())
    for index, tensor in tensors.items():
        if torch._C._is_alias_of(tensor, result):
            offset = result.storage_offset() - tensor.storage_offset()
            return f"{text}@{index}+{offset}"
    return text


def run(name, arguments):
    """The results' JSON. Raises what PyTorch raises."""
    operator = overload(name)
    values = [materialize(argument) for argument in arguments]
    positional, keywords = [], {}
    for parameter, value in zip(operator._schema.arguments, values):
        if parameter.kwarg_only:
            keywords[parameter.name] = value
        else:
            positional.append(value)
    with torch.no_grad():
        results = operator(*positional, **keywords)
    tensors = {
        index: value
        for index, value in enumerate(values)
        if isinstance(value, torch.Tensor)
    }
    if results is None:
        return []
    if isinstance(results, torch.Tensor):
        results = [results]
    return [result_json(result, tensors) for result in results]


class Recorder:
    """Collects the calls of one file, each once."""

    def __init__(self):
        self.lines = {}

    def call(self, name, *arguments, uncertain=()):
        """Records the call; one that PyTorch refuses is left out, because the
        reason may be that it has no kernel for a type. The results of index
        `uncertain` get the mark for that."""
        try:
            results = run(name, arguments)
        except (RuntimeError, IndexError, NotImplementedError):
            return
        for index in uncertain:
            results[index] = results[index] and results[index] + "@?"
        self.add(name, arguments, results)

    def refused(self, name, *arguments):
        """Records a call that PyTorch must refuse."""
        try:
            run(name, arguments)
        except (RuntimeError, IndexError):
            self.add(name, arguments, None)
            return
        raise SystemExit(f"error: {name} accepts {argument_json(arguments)}")

    def add(self, name, arguments, results):
        line = json.dumps([name, argument_json(arguments), results])
        self.lines[line] = name

    def write(self, name):
        ordered = sorted(self.lines, key=lambda line: self.lines[line])
        FOLDER.mkdir(parents=True, exist_ok=True)
        path = FOLDER / f"{name}.json"
        path.write_text("[\n" + ",\n".join(ordered) + "\n]\n")
        return len(ordered)


# ---------------------------------------------------------------------------
# Calls of captured graphs
# ---------------------------------------------------------------------------

# Codes of torch/_export/serde/schema.py.
EXPORT_DTYPES = {
    1: torch.uint8,
    2: torch.int8,
    3: torch.int16,
    4: torch.int32,
    5: torch.int64,
    6: torch.float16,
    7: torch.float32,
    8: torch.float64,
    12: torch.bool,
    13: torch.bfloat16,
}
EXPORT_FORMATS = {
    1: torch.contiguous_format,
    2: torch.channels_last,
    3: torch.channels_last_3d,
    4: torch.preserve_format,
}


def captured_layout(values, name):
    meta = values[name]
    sizes = [size["as_int"] for size in meta["sizes"]]
    strides = [stride["as_int"] for stride in meta["strides"]]
    dtype = EXPORT_DTYPES[meta["dtype"]]
    return Layout(dtype, sizes, strides, fill=0 if is_index(dtype) else 1)


def is_index(dtype):
    return dtype in (torch.int64, torch.int32)


def captured_argument(values, argument):
    ((tag, value),) = argument.items()
    if tag == "as_none":
        return None
    if tag == "as_tensor":
        return captured_layout(values, value["name"])
    if tag == "as_tensors":
        return [captured_layout(values, item["name"]) for item in value]
    if tag == "as_optional_tensors":
        return [captured_argument(values, item) for item in value]
    if tag == "as_scalar_type":
        return EXPORT_DTYPES[value]
    if tag == "as_memory_format":
        return EXPORT_FORMATS[value]
    if tag == "as_layout":
        return torch.strided
    if tag == "as_device":
        return torch.device("cpu")
    if tag == "as_sym_int":
        return value["as_int"]
    if tag == "as_float" and isinstance(value, str):
        return float(value)
    return value


def captured_results(values, outputs):
    results = []
    for output in outputs:
        ((tag, value),) = output.items()
        names = value if tag == "as_tensors" else [value]
        for item in names:
            named = tag != "as_none" and item.get("name") in values
            layout = captured_layout(values, item["name"]) if named else None
            results.append(None if layout is None else str(layout))
    return results


def node_arguments(values, node, operator):
    """Arguments in schema order, without the defaults at the end."""
    given = {item["name"]: item["arg"] for item in node["inputs"]}
    arguments, last = [], 0
    for index, parameter in enumerate(operator._schema.arguments):
        if parameter.name in given:
            arguments.append(captured_argument(values, given[parameter.name]))
            last = index + 1
        else:
            arguments.append(parameter.default_value)
    return arguments[:last]


def is_small(arguments):
    layouts = [item for item in arguments if isinstance(item, Layout)]
    return sum(layout.bytes() for layout in layouts) <= LARGEST_RUN_BYTES


def without_alias(result):
    return result if result is None else result.partition("@")[0]


def record_graph(recorder, path):
    with zipfile.ZipFile(path) as archive:
        (entry,) = [
            name
            for name in archive.namelist()
            if "/models/" in name and name.endswith(".json")
        ]
        graph = json.loads(archive.read(entry))["graph_module"]["graph"]
    values = graph["tensor_values"]
    for node in graph["nodes"]:
        name = node["target"].removeprefix("torch.ops.aten.")
        arguments = node_arguments(values, node, overload(name))
        key = json.dumps([name, argument_json(arguments)])
        if key in recorder.lines:
            continue
        recorder.lines[key] = None
        captured = captured_results(values, node["outputs"])
        results = [result and result + "@?" for result in captured]
        if is_small(arguments):
            results = run(name, arguments)
            report_difference(path, node, captured, results)
        recorder.add(name, arguments, results)


def report_difference(path, node, captured, results):
    """PyTorch's tracing layouts are computed apart from its kernels'."""
    pairs = zip(captured, map(without_alias, results))
    if any(left not in (None, right) for left, right in pairs):
        print(
            f"{pathlib.Path(path).name}: {node['target']}: captured "
            f"{captured}, run {results}",
            file=sys.stderr,
        )


def write_captured(paths):
    recorder = Recorder()
    for path in paths:
        record_graph(recorder, path)
    recorder.lines = {
        line: name for line, name in recorder.lines.items() if name is not None
    }
    count = recorder.write("captured-calls")
    print(f"captured-calls: {count} calls of {len(paths)} graphs")


def main():
    import layout_cases

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graphs", nargs="*", help="archives of torch.export")
    parser.add_argument("--only", help="write this family alone")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    for family, record in layout_cases.FAMILIES.items():
        if options.only not in (None, family):
            continue
        recorder = Recorder()
        record(recorder)
        count = recorder.write(family)
        kinds = len(set(recorder.lines.values()))
        print(f"{family}: {count} calls of {kinds} operators")
    if options.graphs and options.only is None:
        write_captured(options.graphs)


if __name__ == "__main__":
    # So that layout_cases imports this module, not a second copy of it.
    sys.modules["make_layout_fixtures"] = sys.modules["__main__"]
    main()
