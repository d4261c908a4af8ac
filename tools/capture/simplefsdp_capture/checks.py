# ===- checks.py - What can't be captured, refused by name -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each check raises a CaptureError that names the place, what is expected and
# what to do. They stand where a wrong capture would otherwise be silent.
# Tested by test/unit/capture/test_refusals.py.
"""What can't be captured, refused by name."""

import contextlib
from unittest import mock

import torch
import torch.utils._pytree as pytree
import torch.utils.checkpoint

from .errors import CaptureError
from .fake import is_fake
from .scope import source_line


def check_inputs(paths, args, kwargs):
    """Refuses symbolic sizes and differentiable inputs, by name."""
    leaves = pytree.tree_leaves((args, kwargs))
    for path, leaf in zip(paths, leaves, strict=True):
        if not isinstance(leaf, torch.Tensor):
            continue
        if leaf.requires_grad:
            raise CaptureError(
                f"input '{path}' requires a gradient: expected only "
                "parameters to be trained; pass it detached"
            )
        _check_static(path, leaf)


def _check_static(path, tensor):
    for dim, size in enumerate(tensor.shape):
        if isinstance(size, torch.SymInt):
            symbol, bounds = _symbol(size)
            raise CaptureError(_dynamic(path, dim, symbol, bounds))
    for bounds in getattr(tensor, "_dynamo_dynamic_range", None) or ():
        text = f"[{bounds.min}, {bounds.max}]"
        raise CaptureError(_dynamic(path, bounds.dim, "marked dynamic", text))
    for dim in getattr(tensor, "_dynamo_dynamic_indices", None) or ():
        raise CaptureError(_dynamic(path, dim, "marked dynamic", "any size"))


def _symbol(size):
    node = size.node
    bounds = node.shape_env.bound_sympy(node.expr)
    return f"symbol {node.expr}", f"[{bounds.lower}, {bounds.upper}]"


def _dynamic(path, dim, symbol, bounds):
    return (
        f"input '{path}' has a dynamic size in dimension {dim} ({symbol}, "
        f"range {bounds}): expected static shapes; capture once per shape, "
        "the plans can share weights"
    )


def check_state(state):
    """Refuses parameters that share memory and constants without bytes."""
    owners = {}
    for fqn, parameter in state.parameters.items():
        if parameter.numel() == 0 or is_fake(parameter):
            continue
        storage = parameter.untyped_storage().data_ptr()
        other = owners.setdefault(storage, fqn)
        if other != fqn:
            raise CaptureError(
                f"parameters '{other}' and '{fqn}' share memory but are two "
                "objects: tie them by assigning the same nn.Parameter"
            )
    for fqn, buffer in state.buffers.items():
        if fqn not in state.persistent and is_fake(buffer):
            raise CaptureError(
                f"non-persistent buffer '{fqn}' is fake, but its values "
                "belong into the archive: compute it under "
                "simplefsdp_capture.real_tensors()"
            )


def check_forward(exported, out_paths):
    """Refuses a loss that is no floating scalar, and symbolic values."""
    for node in exported.graph.nodes:
        for value in pytree.tree_leaves(node.meta.get("val")):
            if isinstance(value, torch.SymInt) or _is_symbolic(value):
                raise CaptureError(_data_dependent(node))
    output = exported.graph.output_node().args[0]
    if not out_paths:
        raise CaptureError("forward returns nothing: expected the loss")
    loss = output[len(output) - len(out_paths)]
    value = loss.meta.get("val") if isinstance(loss, torch.fx.Node) else loss
    name = f"output '{out_paths[0]}'" if out_paths[0] else "the result"
    if not isinstance(value, torch.Tensor):
        got = type(value).__name__
    elif value.dim() or not value.is_floating_point():
        got = f"{value.dtype} of shape {list(value.shape)}"
    else:
        return
    raise CaptureError(
        f"{name} of forward is not a loss: expected a floating tensor of "
        f"shape [], got {got}; return the loss first"
    )


def _is_symbolic(value):
    return isinstance(value, torch.Tensor) and any(
        isinstance(size, torch.SymInt) for size in value.shape
    )


def _data_dependent(node):
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    fqn = stack[-1][0] if stack else ""
    return (
        f"can't capture module '{fqn}' at {source_line(node)}: the size of "
        f"{node.target}'s result depends on the values of a tensor; a graph "
        "has static shapes"
    )


def check_graph(graph, roles, train):
    """Refuses what the finished graph lacks or can't hold."""
    if train and not roles.gradients:
        raise CaptureError(
            "the loss depends on no trainable parameter: nothing to train; "
            "use train=False (--eval) to capture the forward alone"
        )
    for node in graph.nodes:
        if isinstance(node.target, torch._ops.HigherOrderOperator):
            custom = node.meta.get("custom") or {}
            raise CaptureError(
                f"can't capture module '{custom.get('fqn', '')}' at "
                f"{source_line(node)}: control-flow operator "
                f"'{node.target.name()}' has no sharding; rewrite it with "
                "tensor operators"
            )


@contextlib.contextmanager
def refused_regions(model):
    """Inside, entering a checkpointed region raises a CaptureError.

    Export would drop the region silently and with it the memory it saves.
    """

    def refuse(*args, **kwargs):
        raise CaptureError(
            "torch.utils.checkpoint regions can't be captured: call the "
            "region directly, recomputation is an option of the compiler "
            "(recompute=block)"
        )

    module = torch.utils.checkpoint
    names = [
        name
        for name in (
            "_checkpoint_without_reentrant_generator",
            "_checkpoint_without_reentrant_generator_impl",
        )
        if hasattr(module, name)
    ]
    with contextlib.ExitStack() as stack:
        for name in names:
            stack.enter_context(mock.patch.object(module, name, refuse))
        stack.enter_context(
            mock.patch.object(module.CheckpointFunction, "apply", refuse)
        )
        yield
