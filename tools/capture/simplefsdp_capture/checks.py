# ===- checks.py - What can't be captured, refused by name -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each check raises a CaptureError that names the place, what is expected and
# what to do. They stand where a wrong capture would otherwise be silent.
# Tested by test/unit/capture/test_refusals.py.
"""What can't be captured, refused by name."""

import contextlib
import itertools
import keyword
from unittest import mock

import torch
import torch.utils._pytree as pytree
import torch.utils.checkpoint
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from .errors import CaptureError
from .failures import module_place
from .fake import is_fake
from .names import dtype_name
from .scope import innermost_module, source_line


# Class of a wrapper: the attribute that holds the plain model.
_WRAPPERS = {
    "OptimizedModule": "_orig_mod",
    "DistributedDataParallel": "module",
}


def check_model(model):
    """Refuses what is no module, and modules wrapped for another purpose."""
    kind = type(model).__name__
    if not isinstance(model, torch.nn.Module):
        raise CaptureError(
            f"expected model to be a torch.nn.Module, got {kind}"
        )
    if kind in _WRAPPERS:
        raise CaptureError(
            f"model is wrapped by {kind}: expected the plain model; pass "
            f"model.{_WRAPPERS[kind]}"
        )
    _check_names(model)


def _check_names(model):
    """Refuses names that torch.export can't write as Python code."""
    named = (
        model.named_modules(remove_duplicate=False),
        model.named_parameters(remove_duplicate=False),
        model.named_buffers(remove_duplicate=False),
    )
    for name, _ in itertools.chain(*named):
        part = name.rpartition(".")[2]
        if keyword.iskeyword(part) or '"' in part:
            raise CaptureError(
                f"name '{name}': expected no Python keyword and no quote in "
                "it, as torch.export writes names into Python code; rename it"
            )


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
        _check_plain(f"input '{path}'", leaf)
        _check_static(path, leaf)


def _check_plain(what, tensor):
    if is_traceable_wrapper_subclass(tensor):
        raise CaptureError(
            f"{what} is a {type(tensor).__name__}: expected a plain tensor; "
            "capture the unsharded model, sharding is the compiler's"
        )
    if tensor.device.type != "cpu":
        raise CaptureError(
            f"{what} is on {tensor.device}: expected cpu; capture on the CPU "
            "(with fake_weights() if it is large), the compiler chooses the "
            "device"
        )


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
    """Refuses parameters and buffers that the archive can't hold.

    These are sharded ones, ones elsewhere than in CPU memory, different
    parameters that share memory, and constants without bytes.
    """
    owners = {}
    for fqn, parameter in state.parameters.items():
        _check_plain(f"parameter '{fqn}'", parameter)
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
        _check_plain(f"buffer '{fqn}'", buffer)
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
            if _is_symbolic(value):
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
    symbols = (torch.SymInt, torch.SymFloat, torch.SymBool)
    sizes = value.shape if isinstance(value, torch.Tensor) else [value]
    return any(isinstance(size, symbols) for size in sizes)


def _data_dependent(node):
    place = module_place(innermost_module(node), source_line(node))
    return (
        f"can't capture {place}: the result of {node.target} is a number or "
        "has a size that depends on the values of a tensor, and a graph has "
        "fixed sizes; keep it a tensor of fixed size, for example by "
        "torch.where or a mask to multiply with"
    )


def check_graph(graph, roles, train, cast, param_dtype):
    """Refuses what the finished graph lacks or can't hold.

    Parameters whose FQN is in ``cast`` must be read through a cast to
    ``param_dtype``.
    """
    if train and not roles.gradients:
        raise CaptureError(
            "the loss depends on no trainable parameter: nothing to train; "
            "use train=False (--eval) to capture the forward alone"
        )
    for fqn, node in roles.parameters.items():
        if fqn in cast:
            _check_cast(fqn, node, param_dtype)
    for node in graph.nodes:
        _check_operand_dtypes(node)
        if isinstance(node.target, torch._ops.HigherOrderOperator):
            fqn = (node.meta.get("custom") or {}).get("fqn")
            raise CaptureError(
                f"can't capture {module_place(fqn, source_line(node))}: "
                f"operator '{node.target.name()}' runs a graph of its own; "
                "rewrite it with tensor operators"
            )


def _check_cast(fqn, node, param_dtype):
    for user in node.users:
        if user.target is not torch.ops.aten._to_copy.default:
            module = (user.meta.get("custom") or {}).get("fqn")
            raise CaptureError(
                f"can't capture {module_place(module, source_line(user))}: "
                f"parameter '{fqn}' is read other than as an attribute of "
                f"its module, so param_dtype={param_dtype} has no "
                "effect there; read it by its name, or capture without "
                "param_dtype"
            )


# Operators whose kernels want one dtype; tracing doesn't check it.
_ONE_DTYPE = {"mm", "addmm", "bmm", "baddbmm", "convolution"}


def _check_operand_dtypes(node):
    if getattr(node.target, "_opname", None) not in _ONE_DTYPE:
        return
    values = [operand.meta["val"] for operand in node.all_input_nodes]
    dtypes = {dtype_name(value.dtype): None for value in values}
    if len(dtypes) > 1:
        fqn = (node.meta.get("custom") or {}).get("fqn")
        raise CaptureError(
            f"can't capture {module_place(fqn, source_line(node))}: "
            f"{node.target} gets {' and '.join(dtypes)}, expected one dtype; "
            "cast the floating inputs in forward to the dtype of the weight "
            "they meet"
        )


@contextlib.contextmanager
def refused_regions(train):
    """Inside, entering a region that export would drop is a CaptureError.

    Export records the forward operators of a checkpointed region and of a
    custom autograd function, but not that memory is saved or what backward
    does: the gradients of the latter would be wrong.
    """

    def refuse_checkpoint(*args, **kwargs):
        raise CaptureError(
            "torch.utils.checkpoint regions can't be captured; call the "
            "region directly, recomputation is an option of the compiler "
            "(recompute=block)"
        )

    checkpoint = torch.utils.checkpoint
    with contextlib.ExitStack() as stack:
        for name in _CHECKPOINT_ENTRIES:
            if hasattr(checkpoint, name):
                stack.enter_context(
                    mock.patch.object(checkpoint, name, refuse_checkpoint)
                )
        stack.enter_context(
            mock.patch.object(
                checkpoint.CheckpointFunction, "apply", refuse_checkpoint
            )
        )
        if train:
            stack.enter_context(_refused_autograd_functions())
        yield


_CHECKPOINT_ENTRIES = (
    "_checkpoint_without_reentrant_generator",
    "_checkpoint_without_reentrant_generator_impl",
)


def _refused_autograd_functions():
    original = torch.autograd.Function.__dict__["apply"]

    @classmethod
    def apply(cls, *args, **kwargs):
        if cls.__module__.split(".")[0] != "torch":
            raise CaptureError(
                f"custom autograd function '{cls.__qualname__}' can't be "
                "captured, its backward is Python; write it with "
                "differentiable operators, or as an operator of its own by "
                "torch.library.custom_op"
            )
        return original.__get__(None, cls)(*args, **kwargs)

    return mock.patch.object(torch.autograd.Function, "apply", apply)
