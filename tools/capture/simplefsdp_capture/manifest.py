# ===- manifest.py - The archive's simplefsdp.json -------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the export signature can't say: forward's own input names, tie groups,
# random operators, and the precision and kind of the capture.
# Tested by test/unit/capture/test_manifest.py.
"""The archive's manifest, ``extra/simplefsdp.json``.

Keys, all always present; ``graph`` is a name of the graph's placeholder or
node, ``dtype`` is one of f64 f32 f16 bf16 i64 i32 i16 i8 u8 bool c64 c128:

=============  ==============================================================
schema         version of this list, 1
torch          version of torch that captured
inputs         [{name: dotted path under forward's parameter, graph, shape,
               dtype}], in order of the graph's inputs
parameters     [{fqn, graph, shape, dtype, trainable, aliases}], in
               registration order; aliases are the further names of a tied
               parameter
buffers        [{fqn, graph, shape, dtype, persistent, mutated, aliases}]
constants      [{name, graph, shape, dtype}]: tensors made inside forward
gradients      {fqn: graph}; a parameter without gradient is absent
loss           graph name of the loss
outputs        [{name: dotted path in forward's result, graph}], without loss
mutations      {buffer fqn: graph name of its new value}
random         graph names of operators that draw random numbers
param_dtype    null, "bf16" or "f16": the dtype parameters are read in
train          false when captured for evaluation (no gradients)
fake           true when weights have no bytes
=============  ==============================================================
"""

import torch

from .fake import is_fake
from .names import dtype_name

SCHEMA = 1
FILE_NAME = "simplefsdp.json"


def make_manifest(graph, roles, state, param_dtype, train):
    """Builds the manifest as plain lists and dicts."""
    return {
        "schema": SCHEMA,
        "torch": torch.__version__,
        "inputs": [
            {"name": name, **_tensor(node)}
            for name, node in roles.inputs.items()
        ],
        "parameters": [
            {
                "fqn": fqn,
                **_tensor(node),
                "trainable": state.parameters[fqn].requires_grad,
                "aliases": state.aliases_of(fqn),
            }
            for fqn, node in roles.parameters.items()
        ],
        "buffers": [
            {
                "fqn": fqn,
                **_tensor(node),
                "persistent": fqn in state.persistent,
                "mutated": fqn in roles.mutations,
                "aliases": state.aliases_of(fqn),
            }
            for fqn, node in roles.buffers.items()
        ],
        "constants": [
            {"name": name, **_tensor(node)}
            for name, node in roles.constants.items()
        ],
        "gradients": _names(roles.gradients),
        "loss": roles.loss.name,
        "outputs": [
            {"name": name, "graph": node.name}
            for name, node in roles.outputs.items()
        ],
        "mutations": _names(roles.mutations),
        "random": [node.name for node in graph.nodes if is_random(node)],
        "param_dtype": param_dtype,
        "train": train,
        "fake": any(is_fake(p) for p in state.parameters.values()),
    }


def is_random(node):
    """Whether an operator draws numbers (attention with dropout 0 doesn't)."""
    tags = getattr(node.target, "tags", ())
    if torch.Tag.nondeterministic_seeded not in tags:
        return False
    for index, argument in enumerate(node.target._schema.arguments):
        if argument.name in ("dropout_p", "p", "dropout"):
            given = node.args[index] if index < len(node.args) else None
            value = node.kwargs.get(argument.name, given)
            return (argument.default_value if value is None else value) != 0
    return True


def _tensor(node):
    value = node.meta["val"]
    return {
        "graph": node.name,
        "shape": list(value.shape),
        "dtype": dtype_name(value.dtype),
    }


def _names(nodes):
    return {fqn: node.name for fqn, node in nodes.items()}
