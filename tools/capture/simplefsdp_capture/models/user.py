# ===- user.py - Loading the user's own model ------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `FILE.py:FUNCTION` or `MODULE:FUNCTION` names a function that returns
# (model, example_inputs); options of the command reach it as keyword
# arguments of the same name.
# Tested by test/unit/capture/test_command.py.
"""Loading the user's own model."""

import importlib
import importlib.util
import inspect
import os
import sys

from ..errors import CaptureError


def find_function(spec):
    """Returns the function that ``FILE.py:FUNCTION`` or ``MODULE:F`` names."""
    place, _, name = spec.rpartition(":")
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
            raise CaptureError(
                f"{spec} takes no parameter '{option}': add one to the "
                f"function or leave --{option} out"
            )
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
    spec.loader.exec_module(module)
    return module


def _load_module(name):
    sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and name.startswith(error.name):
            raise CaptureError(f"no module named '{name}'") from None
        raise
