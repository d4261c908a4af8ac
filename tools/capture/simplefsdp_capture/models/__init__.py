# ===- __init__.py - Registry of the built-in models -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One entry per model; a model is a module with `SIZES` and
# `example_inputs(config)`.
# Tested by test/unit/capture/test_models.py.
"""Registry of the built-in models."""

from dataclasses import dataclass, fields, replace
from types import ModuleType

from ..errors import UsageError
from . import gpt2, llama, lora, mlp, resnet18, transformer, vit


@dataclass(frozen=True)
class BuiltIn:
    """A built-in model: its module, class and sizes that must be fake."""

    module: ModuleType
    model: type
    default_size: str
    fake_only: tuple = ()


BUILT_IN = {
    "llama": BuiltIn(llama, llama.Llama, "tiny", ("8b", "70b", "405b")),
    "lora": BuiltIn(lora, lora.Lora, "tiny", ("8b", "70b", "405b")),
    "gpt2": BuiltIn(gpt2, gpt2.Gpt2, "tiny"),
    "transformer": BuiltIn(transformer, transformer.Transformer, "tiny"),
    "vit": BuiltIn(vit, vit.Vit, "tiny"),
    "resnet18": BuiltIn(resnet18, resnet18.Resnet18, "tiny"),
    "mlp": BuiltIn(mlp, mlp.Mlp, "tiny"),
}


def configure(name, size=None, batch=None, seq=None, fake=False):
    """Returns (BuiltIn, config) of a built-in model, or raises UsageError.

    ``batch`` and ``seq`` replace the size's defaults; they are refused for a
    model without that dimension.
    """
    if name not in BUILT_IN:
        raise UsageError(_unknown(name))
    entry = BUILT_IN[name]
    size = size or entry.default_size
    if size not in entry.module.SIZES:
        raise UsageError(
            f"unknown size '{size}' of model '{name}': expected one of "
            f"{', '.join(entry.module.SIZES)}"
        )
    if size in entry.fake_only and not fake:
        raise UsageError(
            f"size '{size}' of model '{name}' is too large to build with "
            "real weights: pass --fake to capture shapes only"
        )
    config = entry.module.SIZES[size]
    for option, value in (("batch", batch), ("seq", seq)):
        if value is not None:
            config = _override(name, config, option, value)
    return entry, config


def _unknown(name):
    if name.endswith(".py"):
        return (
            f"model '{name}' names no function: expected {name}:FUNCTION, "
            "which returns (model, example_inputs)"
        )
    return (
        f"unknown model '{name}': expected one of {', '.join(BUILT_IN)}, or "
        "FILE.py:FUNCTION or MODULE:FUNCTION for a model of your own"
    )


def _override(name, config, option, value):
    if option not in {field.name for field in fields(config)}:
        raise UsageError(f"model '{name}' has no --{option}: leave it out")
    if value < 1:
        raise UsageError(f"--{option} must be at least 1, got {value}")
    return replace(config, **{option: value})


def build(entry, config):
    """Builds (model, example_inputs) of a configured built-in model."""
    return entry.model(config), entry.module.example_inputs(config)
