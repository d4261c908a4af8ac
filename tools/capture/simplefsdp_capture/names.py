# ===- names.py - Names of parameters, buffers, inputs and outputs ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The graph's placeholders get readable names, and everything a user names in
# Python (a parameter by FQN, an input by its dotted path under the name of
# forward's parameter) is known under exactly that name.
# Tested by test/unit/capture/test_manifest.py.
"""Names of parameters, buffers, inputs and outputs."""

import inspect
import re
from dataclasses import dataclass

import torch
import torch.utils._pytree as pytree

from .errors import CaptureError


@dataclass(frozen=True)
class State:
    """Parameters and buffers of a module, each tensor under its first name.

    ``aliases`` maps every further name of a tied tensor to its first name;
    ``persistent`` holds the buffers that belong to the state dict.
    """

    parameters: dict
    buffers: dict
    aliases: dict
    persistent: set

    def aliases_of(self, fqn):
        """The further names of the tensor called ``fqn``."""
        return [a for a, first in self.aliases.items() if first == fqn]


def read_state(model):
    """Collects the State of ``model`` in registration order."""
    aliases = {}
    parameters = _first_names(
        model.named_parameters(remove_duplicate=False), aliases
    )
    buffers = _first_names(
        model.named_buffers(remove_duplicate=False), aliases
    )
    transient = {
        f"{prefix}.{name}" if prefix else name
        for prefix, module in model.named_modules(remove_duplicate=False)
        for name in module._non_persistent_buffers_set
    }
    return State(parameters, buffers, aliases, set(buffers) - transient)


def _first_names(named_tensors, aliases):
    first_names, tensors = {}, {}
    for name, tensor in named_tensors:
        first = first_names.setdefault(id(tensor), name)
        if first == name:
            tensors[name] = tensor
        else:
            aliases[name] = first
    return tensors


def bind_inputs(model, example_inputs):
    """Splits example inputs into (args, kwargs) of ``model.forward``."""
    if isinstance(example_inputs, dict):
        args, kwargs = (), dict(example_inputs)
    elif isinstance(example_inputs, (tuple, list)):
        args, kwargs = tuple(example_inputs), {}
    else:
        raise CaptureError(
            "expected example_inputs to be a tuple or list of arguments or a "
            f"dict of keyword arguments, got {type(example_inputs).__name__}"
        )
    try:
        inspect.signature(model.forward).bind(*args, **kwargs)
    except TypeError as error:
        raise CaptureError(
            f"example_inputs do not fit {type(model).__name__}.forward: "
            f"{error}"
        ) from None
    return args, kwargs


def input_paths(model, args, kwargs):
    """Dotted Python paths of all leaves of (args, kwargs), in flat order."""
    signature = inspect.signature(model.forward)
    bound = signature.bind(*args, **kwargs).arguments
    names = []
    for name in bound:
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            names += [f"{name}.{index}" for index in range(len(bound[name]))]
        elif kind is not inspect.Parameter.VAR_KEYWORD:
            names.append(name)
    positional = names[: len(args)]
    leaves, _ = pytree.tree_flatten_with_path((args, kwargs))
    paths = []
    for (container, first, *rest), _ in leaves:
        is_keyword = container.idx == 1
        root = first.key if is_keyword else positional[first.idx]
        paths.append(".".join([root, *map(key_text, rest)]))
    return paths


def output_paths(out_spec):
    """Dotted Python paths of all leaves of forward's result."""
    leaf_count = out_spec.num_leaves
    result = pytree.tree_unflatten(list(range(leaf_count)), out_spec)
    leaves, _ = pytree.tree_flatten_with_path(result)
    return [".".join(map(key_text, path)) for path, _ in leaves]


def key_text(key):
    """One step of a pytree path: an index, a key or an attribute name."""
    for attribute in ("idx", "key", "name"):
        if hasattr(key, attribute):
            return str(getattr(key, attribute))
    return str(key)


def rename_placeholder(node, prefix, name):
    """Gives a placeholder the readable name ``<prefix><name>``."""
    node._rename(prefix + re.sub(r"\W", "_", name))
    node.target = node.name


_SHORT_DTYPES = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.int16: "i16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.bool: "bool",
    torch.complex64: "c64",
    torch.complex128: "c128",
}


def dtype_name(dtype):
    """Short name of a torch dtype, such as ``bf16`` or ``i64``."""
    return _SHORT_DTYPES.get(dtype, str(dtype).removeprefix("torch."))
