# ===- joint.py - From a module to its joint forward and backward graph ----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Two tracings: torch.export turns the module into an operator graph (only
# this one understands control flow on Python values and mask code on data),
# and AOTAutograd differentiates that. Its table of decompositions is empty,
# so the graph keeps the operators that eager PyTorch runs. torch.export's own
# joint graph is not used: under default attention its gradients are wrong.
# Tested by test/unit/capture/test_bitwise.py.
"""From a module to its joint forward and backward graph."""

import contextlib

import torch
import torch.fx.traceback
from torch._functorch.aot_autograd import aot_export_joint_with_descriptors

from .scope import recorded_user_lines, tag_modules


def export_forward(model, args, kwargs):
    """Exports the forward of ``model`` as an ExportedProgram."""
    with recorded_user_lines():
        return torch.export.export(model, args, kwargs, strict=False)


def trace_joint(exported, args, kwargs, aliases):
    """Differentiates an exported forward.

    ``aliases`` maps each further name of a tied tensor to its first name;
    reads go to the first, so that autograd adds the gradients of all reads in
    eager's order. Returns a GraphModule whose placeholders and output carry
    AOTAutograd's descriptors in ``meta["desc"]``.
    """
    tag_modules(exported.graph)
    module = exported.module(check_guards=False)
    _read_first_names(module, aliases)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_whole_silu_backward())
        stack.enter_context(torch.fx.traceback.preserve_node_meta())
        joint = aot_export_joint_with_descriptors(
            stack, module, args, kwargs, decompositions={}
        )
        return joint.graph_module


def _read_first_names(module, aliases):
    for node in module.graph.nodes:
        if node.op == "get_attr" and node.target in aliases:
            node.target = aliases[node.target]
    module.recompile()


def _whole_silu_backward():
    """Keeps silu_backward one operator, as eager runs it.

    The override is private to PyTorch; without it the graph is still right,
    only longer.
    """
    try:
        from torch.export.exported_program import (
            _override_composite_implicit_decomp as override,
        )
    except ImportError:
        return contextlib.nullcontext()
    silu_backward = torch.ops.aten.silu_backward.default
    return override({silu_backward: lambda *args, **kwargs: NotImplemented})
