# ===- failures.py - Explaining why a model can't be traced ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A failed tracing ends in one of many exceptions of PyTorch, often wrapped.
# The user wants to know three things: which module, which line, and why.
# The module is found in the frames of the traceback, whose `self` it is.
# Tested by test/unit/capture/test_refusals.py.
"""Explaining why a model can't be traced."""

import contextlib
import logging
import traceback

from torch import nn

from .errors import CaptureError
from .scope import is_user_file, portable_path

_DATA_DEPENDENT = {
    "GuardOnDataDependentSymNode",
    "PendingUnbackedSymbolNotFound",
    "UserError",
    "DataDependentOutputException",
    "DynamicOutputShapeException",
}


@contextlib.contextmanager
def explained(model, param_dtype=None):
    """Turns any exception of tracing ``model`` into a CaptureError."""
    fqns = {id(module): name for name, module in model.named_modules()}
    torch_logs = logging.getLogger("torch")
    level = torch_logs.level
    torch_logs.setLevel(logging.CRITICAL)
    try:
        yield
    except Exception as error:
        raise _explain(error, fqns, param_dtype) from error
    finally:
        torch_logs.setLevel(level)


def _explain(error, fqns, param_dtype):
    chain = list(_causes(error))
    for cause in chain:
        if isinstance(cause, CaptureError):
            return CaptureError(_located(cause, chain, fqns))
    reason = _first_line(error)
    if any(type(cause).__name__ in _DATA_DEPENDENT for cause in chain):
        reason = (
            "control flow or a shape depends on the values of a tensor, and "
            f"a graph has one flow and static shapes ({reason})"
        )
    elif param_dtype and "dtype" in str(error).lower():
        reason += (
            f"; with param_dtype={param_dtype} parameters are read in that "
            "dtype: cast floating inputs to it in forward"
        )
    return CaptureError(
        f"can't capture {_located(reason, chain, fqns)}"
    )


def _causes(error):
    """The exception and everything it was raised from, outermost first."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _located(reason, chain, fqns):
    """``module 'a.b' at file:line: reason``, as far as it is known."""
    for cause in reversed(chain):
        place = _place(cause, fqns)
        if place:
            return f"{place}: {reason}"
    return str(reason)


def _place(error, fqns):
    module, line = None, None
    for frame, number in traceback.walk_tb(error.__traceback__):
        owner = frame.f_locals.get("self")
        if isinstance(owner, nn.Module) and id(owner) in fqns:
            module = owner
        path = frame.f_code.co_filename
        if module is not None and is_user_file(path):
            line = f"{portable_path(path)}:{number}"
    if module is None:
        return ""
    name = fqns[id(module)] or type(module).__name__
    return f"module '{name}'" + (f" at {line}" if line else "")


def _first_line(error):
    lines = [line.strip() for line in str(error).splitlines()]
    text = next((line for line in lines if line), type(error).__name__)
    return text.rstrip(".")
