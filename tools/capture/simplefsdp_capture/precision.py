# ===- precision.py - Reading parameters in a lower precision --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Mixed precision as SimpleFSDP does it: the parameter stays f32, and every
# read of it goes through a cast. Autograd then casts each gradient back and
# adds the gradients of several reads in f32. Swapping the class of a module
# for one whose parameters are properties puts the cast exactly at the read,
# keeps all names, and lets the model's own code see the lower precision.
# Batch norms are left out: PyTorch's kernels want scale and shift in the dtype
# of the running statistics, which stay as they are.
# Tested by test/unit/capture/test_precision.py.
"""Reading parameters in a lower precision."""

import contextlib

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from .errors import CaptureError

PARAM_DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}


def parse_param_dtype(param_dtype):
    """Returns (name, torch dtype) of ``None``, a name or a torch dtype."""
    if param_dtype is None:
        return None, None
    for name, dtype in PARAM_DTYPES.items():
        if param_dtype in (name, dtype):
            return name, dtype
    raise CaptureError(
        f"unknown param_dtype '{param_dtype}': expected one of "
        f"{', '.join(PARAM_DTYPES)}, or none to read parameters as stored"
    )


@contextlib.contextmanager
def cast_parameters_on_read(model, dtype):
    """Inside, reading a floating parameter of ``model`` casts it to ``dtype``.

    Parameters already in ``dtype`` and those of batch norms are left alone, and
    so is everything when ``dtype`` is None. Classes are restored on exit, also after an error.
    """
    swapped = []
    try:
        for module in model.modules() if dtype else ():
            names = _names_to_cast(module, dtype)
            if names:
                swapped.append((module, module.__class__))
                module.__class__ = _casting_class(module, names, dtype)
        yield
    finally:
        for module, original in swapped:
            module.__class__ = original


def parameters_to_cast(model, dtype):
    """FQNs, under every name, of the parameters whose reads are cast."""
    return {
        f"{prefix}.{name}" if prefix else name
        for prefix, module in model.named_modules(remove_duplicate=False)
        for name in (_names_to_cast(module, dtype) if dtype else ())
    }


def _names_to_cast(module, dtype):
    if isinstance(module, _BatchNorm):
        return []
    return [
        name
        for name, parameter in module._parameters.items()
        if parameter is not None
        and parameter.is_floating_point()
        and parameter.dtype != dtype
    ]


def _casting_class(module, names, dtype):
    original = module.__class__
    members = {name: _casting_property(name, dtype) for name in names}
    members["__module__"] = original.__module__
    members["__qualname__"] = original.__qualname__
    return type(original.__name__, (original,), members)


def _casting_property(name, dtype):
    def read(self):
        return self._parameters[name].to(dtype)

    return property(read)
