# ===- capture.py - Capturing a training step ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The whole way from a module and example inputs to an archive, in the order
# in which it is done.
# Tested by test/unit/capture.
"""Capturing a training step."""

import contextlib

import torch
import torch.utils._pytree as pytree

from .archive import save_program
from .checks import (
    check_forward,
    check_graph,
    check_inputs,
    check_model,
    check_state,
    refused_regions,
)
from .failures import explained
from .joint import export_forward, trace_joint
from .manifest import make_manifest
from .names import bind_inputs, input_paths, output_paths, read_state
from .precision import (
    cast_parameters_on_read,
    parameters_to_cast,
    parse_param_dtype,
)
from .scope import finish_scopes
from .signature import assign_roles, lift_constants, make_program


def capture(model, example_inputs, path, param_dtype=None, train=True):
    """Saves the training step of ``model`` as an archive.

    The archive holds the joint forward and backward graph of one unsharded
    replica, its weights, and a manifest (see ``manifest.py``). Running it
    operator by operator gives eager's loss and gradients bit for bit.

    ``model.forward`` returns the loss, a floating scalar, or a structure
    whose first leaf is the loss; other outputs must be detached.
    ``example_inputs`` is a tuple of arguments or a dict of keyword arguments;
    their shapes are fixed in the graph. With ``param_dtype`` ("bf16", "f16"
    or the torch dtype) every read of a floating parameter is cast, except
    those of batch norms. With
    ``train=False`` the model runs in evaluation mode and the graph is the
    forward alone; with ``train=True`` its modes are left as they are.
    Parameters may be fake (see ``fake_weights``): then shapes only are saved.

    The model is left as it was. Returns the manifest. Raises CaptureError,
    and writes nothing, when the step can't be captured.
    """
    dtype_name, dtype = parse_param_dtype(param_dtype)
    check_model(model)
    args, kwargs = bind_inputs(model, example_inputs)
    in_paths = input_paths(model, args, kwargs)
    state = read_state(model)
    check_inputs(in_paths, args, kwargs)
    check_state(state)
    args, kwargs = pytree.tree_map_only(
        torch.Tensor, _independent, (args, kwargs)
    )

    with contextlib.ExitStack() as stack:
        stack.enter_context(_unchanged(model))
        stack.enter_context(cast_parameters_on_read(model, dtype))
        if not train:
            stack.enter_context(_evaluation(model))
        with explained(model, dtype_name), refused_regions(train):
            exported = export_forward(model, args, kwargs)
        out_paths = output_paths(exported.call_spec.out_spec)
        check_forward(exported, out_paths)
        with explained(model, dtype_name):
            joint = trace_joint(exported, args, kwargs, state.aliases)

    constants = {**exported.constants, **lift_constants(joint)}
    roles = assign_roles(joint.graph, state, in_paths, out_paths)
    cast = parameters_to_cast(model, dtype)
    check_graph(joint.graph, roles, train, cast, dtype_name)
    finish_scopes(joint.graph)
    manifest = make_manifest(joint.graph, roles, state, dtype_name, train)
    program = make_program(joint, roles, state, constants)
    save_program(program, manifest, path)
    return manifest


def _independent(tensor):
    """A contiguous copy, so that no two inputs share memory."""
    return tensor.detach().clone(memory_format=torch.contiguous_format)


@contextlib.contextmanager
def _unchanged(model):
    """Undoes what tracing forward assigned to attributes and buffers."""
    saved = [
        (members, dict(members))
        for module in model.modules()
        for members in (module._parameters, module._buffers, vars(module))
    ]
    try:
        yield
    finally:
        for members, before in saved:
            members.clear()
            members.update(before)


@contextlib.contextmanager
def _evaluation(model):
    """Evaluation mode without gradients; restores modes and flags on exit."""
    modes = [(module, module.training) for module in model.modules()]
    trainable = [p for p in model.parameters() if p.requires_grad]
    model.eval()
    for parameter in trainable:
        parameter.requires_grad_(False)
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in modes:
            module.training = training
        for parameter in trainable:
            parameter.requires_grad_(True)
