# ===- scope.py - Where each node of the joint graph comes from ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each node carries `custom = {fqn, seq, phase, src}`: the module that ran it,
# the forward operator it belongs to (backward operators share the number of
# the forward one), forward or backward, and the user's source line. The FQN
# is set on the forward graph and autograd's tracing copies it to backward.
# Tested by test/unit/capture/test_scope.py.
"""Where each node of the joint graph comes from."""

import contextlib
import os
import re
import sys
import sysconfig
import traceback
from unittest import mock

import torch
from torch.fx.proxy import TracerBase

FORWARD = "fwd"
BACKWARD = "bwd"

_FRAME = re.compile(r'File "(?P<path>[^"]+)", line (?P<line>\d+)')
_TORCH = os.path.dirname(torch.__file__) + os.sep
_PYTHON = sysconfig.get_path("stdlib") + os.sep
_SITE_PACKAGES = sysconfig.get_path("purelib") + os.sep
_CAPTURE = os.path.dirname(__file__) + os.sep
_BUILT_IN_MODELS = os.path.join(_CAPTURE, "models") + os.sep


def is_user_file(path):
    """Whether a source path is neither torch's, the interpreter's nor ours.

    The built-in models and installed model libraries count as the user's.
    """
    if path.startswith((_TORCH, "<")):
        return False
    if path.startswith((_BUILT_IN_MODELS, _SITE_PACKAGES)):
        return True
    return not path.startswith((_CAPTURE, _PYTHON))


@contextlib.contextmanager
def recorded_user_lines():
    """Inside, tracing records the innermost user frame of each operator.

    By itself it keeps frames of methods called ``forward`` only, and so loses
    the line in the functions that these call. The hook is private to PyTorch;
    without it lines are coarser.
    """

    def innermost(tracer, frames):
        names = [frame.name for frame in frames]
        inside = frames[names.index("forward") :] if "forward" in names else []
        users = [frame for frame in inside if is_user_file(frame.filename)]
        return traceback.StackSummary.from_list(users[-1:])

    if not hasattr(TracerBase, "_filter_traceback_frames"):
        yield
        return
    with mock.patch.object(TracerBase, "_filter_traceback_frames", innermost):
        yield


def portable_path(path):
    """``path`` relative to the longest import root that holds it.

    Archives then name the same sources on every machine.
    """
    roots = {os.getcwd(), *(os.path.abspath(root) for root in sys.path)}
    holding = [root for root in roots if path.startswith(root + os.sep)]
    return path[len(max(holding, key=len)) + 1 :] if holding else path


def tag_modules(graph):
    """Puts the FQN of the innermost module into each operator's metadata."""
    for node in graph.nodes:
        if node.op == "call_function":
            node.meta["custom"] = {"fqn": innermost_module(node)}


def innermost_module(node):
    """FQN of the module that ran a node of the exported forward.

    Export appends a call counter to a module that runs again: dropped.
    """
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    return stack[-1][0].split("@")[0] if stack else ""


def finish_scopes(graph):
    """Replaces every operator's metadata by its value and its scope."""
    operators = [node for node in graph.nodes if node.op == "call_function"]
    first = min((_sequence(node) for node in operators), default=0)
    for node in operators:
        node.meta["custom"] = {
            "fqn": _fqn_of(node),
            "seq": _sequence(node) - first,
            "phase": phase_of(node),
            "src": source_line(node),
        }
    for node in graph.nodes:
        kept = ("val", "tensor_meta", "custom")
        node.meta = {key: node.meta[key] for key in kept if key in node.meta}


def phase_of(node):
    """``fwd`` or ``bwd`` of a node that still has its tracing metadata."""
    tagged = node.meta.get("partitioner_tag") == "is_backward"
    if tagged or node.meta.get("autograd_backward"):
        return BACKWARD
    return FORWARD


def source_line(node):
    """``file:line`` of the innermost user frame, or an empty string."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    for path, line in reversed(frames):
        if is_user_file(path):
            return f"{portable_path(path)}:{line}"
    return ""


def _fqn_of(node):
    """A node without FQN (an addition of gradients) takes its operand's."""
    fqn = (node.meta.get("custom") or {}).get("fqn")
    if fqn is None and node.all_input_nodes:
        operand = node.all_input_nodes[0].meta.get("custom") or {}
        fqn = operand.get("fqn")
    return fqn or ""


def _sequence(node):
    """Autograd's number; an addition of gradients has its operand's."""
    if node.meta.get("is_gradient_acc") and node.all_input_nodes:
        return _sequence(node.all_input_nodes[0])
    return node.meta["seq_nr"]
