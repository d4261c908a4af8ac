# ===- user.py - Loading the user's own model ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `FILE.py:FUNCTION` or `MODULE:FUNCTION` names a function that returns
# (model, example_inputs); options of the command reach it as keyword
# arguments of the same name.
# Tested by test/unit/capture/test_command.py.
"""Loading the user's own model."""

import contextlib
import importlib
import importlib.util
import inspect
import os
import sys
import traceback

from ..errors import CaptureError, UsageError
from ..scope import is_user_file, portable_path


def find_function(spec):
    """Returns the function that ``FILE.py:FUNCTION`` or ``MODULE:F`` names."""
    place, _, name = spec.rpartition(":")
    if not place or not name:
        raise UsageError(
            f"model '{spec}' names no function: expected FILE.py:FUNCTION or "
            "MODULE:FUNCTION, which returns (model, example_inputs)"
        )
    is_file = place.endswith(".py")
    module = _load_file(place) if is_file else _load_module(place)
    function = getattr(module, name, None)
    if not callable(function):
        raise CaptureError(f"{place} has no function '{name}'")
    return function


def build_user_model(spec, function, options):
    """Calls ``function`` with the given options; checks what it returns."""
    accepted = inspect.signature(function).parameters
    for option in options:
        if option not in accepted:
            raise UsageError(
                f"{spec} takes no parameter '{option}': add one to the "
                f"function or leave --{option} out"
            )
    with _user_code(spec):
        result = function(**options)
    if not isinstance(result, tuple) or len(result) != 2:
        raise CaptureError(
            f"{spec} must return (model, example_inputs), got "
            f"{type(result).__name__}"
        )
    return result


def _load_file(path):
    if not os.path.isfile(path):
        raise CaptureError(f"{path}: no such file")
    path = os.path.abspath(path)
    sys.path.insert(0, os.path.dirname(path))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(name, module)
    with _user_code(path):
        spec.loader.exec_module(module)
    return module


def _load_module(name):
    sys.path.insert(0, os.getcwd())
    with _user_code(name):
        return importlib.import_module(name)


@contextlib.contextmanager
def _user_code(what):
    """Turns an exception of the user's code into one line with its place."""
    try:
        yield
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        users = [frame for frame in frames if is_user_file(frame.filename)]
        place = ""
        if users:
            path = portable_path(users[-1].filename)
            place = f" at {path}:{users[-1].lineno}"
        reason = " ".join(str(error).split())
        raise CaptureError(
            f"{what} failed{place}: {type(error).__name__}: {reason}"
        ) from error
