# ===- failures.py - Explaining why a model can't be traced ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A failed tracing ends in one of many exceptions of PyTorch, often wrapped.
# The user wants to know three things: which module, which line, and why.
# The module is found in the frames of the traceback, whose `self` it is, or by
# the node that was being run when an exported graph failed.
# Tested by test/unit/capture/test_refusals.py.
"""Explaining why a model can't be traced."""

import contextlib
import io
import logging
import re
import sys
import traceback

from torch import fx, nn

from .errors import CaptureError
from .scope import (
    innermost_module,
    is_user_file,
    portable_path,
    source_line,
)

_DATA_DEPENDENT = {
    "GuardOnDataDependentSymNode",
    "PendingUnbackedSymbolNotFound",
    "DataDependentOutputException",
    "DynamicOutputShapeException",
}


_VALUES_DECIDE = (
    "control flow, a number or a size depends on the values of a tensor, and a "
    "graph has one flow and fixed sizes; choose with torch.where, keep numbers "
    "as tensors (no int(), float(), .item()), or decide outside of forward"
)

# What matrix products and convolutions say of operands of different types.
_TYPES_DIFFER = re.compile(r"dtype|(input|weight|bias) type", re.IGNORECASE)


def module_place(fqn, line):
    """``module 'a.b' at file:line`` of a node's FQN and source line."""
    name = f"module '{fqn}'" if fqn else "the model"
    return f"{name} at {line}" if line else name


@contextlib.contextmanager
def explained(model, param_dtype=None):
    """Turns any exception of tracing ``model`` into a CaptureError.

    What torch prints and logs about the failure is dropped; what a successful
    tracing prints is passed on.
    """
    fqns = {id(module): name for name, module in model.named_modules()}
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stderr(printed):
            yield
    except Exception as error:
        raise _explain(error, fqns, param_dtype) from error
    finally:
        logging.disable(disabled)
    sys.stderr.write(printed.getvalue())


def _explain(error, fqns, param_dtype):
    chain = list(_causes(error))
    for cause in chain:
        if isinstance(cause, CaptureError):
            return CaptureError(f"can't capture {_located(cause, chain, fqns)}")
    if any(type(cause).__name__ in _DATA_DEPENDENT for cause in chain):
        return CaptureError(
            f"can't capture {_located(_VALUES_DECIDE, chain, fqns)}"
        )
    reason = _first_line(error)
    if param_dtype and _TYPES_DIFFER.search(str(error)):
        reason += (
            f"; with param_dtype={param_dtype} parameters are read in that "
            "dtype: cast floating inputs to it in forward"
        )
    return CaptureError(f"can't capture {_located(reason, chain, fqns)}")


def _causes(error):
    """The exception and everything it was raised from, outermost first."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _located(reason, chain, fqns):
    """``module 'a.b' at file:line: reason``, as far as it is known."""
    places = (_place(cause, fqns) for cause in reversed(chain))
    place = next(filter(None, places), "the model")
    return f"{place}: {reason}"


def _place(error, fqns):
    module, line, node = None, None, None
    for frame, number in traceback.walk_tb(error.__traceback__):
        owner = frame.f_locals.get("self")
        if isinstance(owner, fx.Interpreter):
            node = frame.f_locals.get("node", node)
        if isinstance(owner, nn.Module) and id(owner) in fqns:
            module = owner
        path = frame.f_code.co_filename
        if module is not None and is_user_file(path):
            line = f"{portable_path(path)}:{number}"
    if module is None and isinstance(node, fx.Node):
        return module_place(innermost_module(node), source_line(node))
    if module is None:
        return ""
    return module_place(fqns[id(module)] or type(module).__name__, line)


def _first_line(error):
    lines = [line.strip() for line in str(error).splitlines()]
    text = next((line for line in lines if line), type(error).__name__)
    return text.rstrip(".")
