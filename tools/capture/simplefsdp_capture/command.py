# ===- command.py - The capture command ------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Parses arguments, builds the model and calls `capture`. Exit codes: 0
# success, 1 a model that can't be captured, 2 wrong usage.
# Tested by test/unit/capture/test_command.py.
"""The command ``python -m simplefsdp_capture``."""

import argparse
import contextlib
import sys
import warnings

import torch

from .capture import capture
from .errors import CaptureError, UsageError
from .fake import fake_weights
from .models import BUILT_IN, build, configure
from .models.user import build_user_model, find_function
from .precision import PARAM_DTYPES


def main(arguments=None):
    """Runs the command and returns its exit code."""
    options = _parser().parse_args(arguments)
    warnings.filterwarnings("ignore", module="torch")
    try:
        model, example_inputs = _build(options)
        manifest = capture(
            model,
            example_inputs,
            options.output,
            param_dtype=options.param_dtype,
            train=not options.eval,
        )
    except CaptureError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    print(_summary(options.output, manifest))
    return 0


class _Parser(argparse.ArgumentParser):
    """Prints wrong usage as other errors are printed."""

    def error(self, message):
        print(f"error: {message}; see --help", file=sys.stderr)
        sys.exit(2)


def _parser():
    parser = _Parser(
        prog="simplefsdp_capture",
        description="Captures the training step of a model as a .pt2 file.",
    )
    parser.add_argument(
        "model",
        metavar="MODEL",
        help=f"{', '.join(BUILT_IN)}, or FILE.py:FUNCTION or MODULE:FUNCTION "
        "naming a function that returns (model, example_inputs)",
    )
    parser.add_argument("--size", help="size of a built-in model")
    parser.add_argument("--batch", type=int, metavar="B")
    parser.add_argument("--seq", type=int, metavar="L", help="tokens per row")
    parser.add_argument(
        "--param-dtype",
        choices=PARAM_DTYPES,
        help="cast every parameter to this dtype where it is read",
    )
    parser.add_argument(
        "--fake",
        action="store_true",
        help="capture shapes only: no memory for weights, none in the file",
    )
    parser.add_argument(
        "--eval",
        action="store_true",
        help="capture the forward alone, in evaluation mode",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="of initial weights"
    )
    parser.add_argument("-o", "--output", required=True, metavar="STEP.pt2")
    return parser


def _build(options):
    """Builds (model, example_inputs) with seeded, possibly fake weights."""
    torch.manual_seed(options.seed)
    fake = fake_weights() if options.fake else contextlib.nullcontext()
    if ":" in options.model:
        function = find_function(options.model)
        given = {
            name: getattr(options, name)
            for name in ("size", "batch", "seq")
            if getattr(options, name) is not None
        }
        with fake:
            return build_user_model(options.model, function, given)
    entry, config = configure(
        options.model, options.size, options.batch, options.seq, options.fake
    )
    with fake:
        return build(entry, config)


def _summary(path, manifest):
    """One line: the file, its parameters, inputs and kind."""
    elements = sum(
        torch.Size(parameter["shape"]).numel()
        for parameter in manifest["parameters"]
    )
    inputs = ", ".join(
        f"{entry['name']}: {entry['dtype']} {entry['shape']}"
        for entry in manifest["inputs"]
    )
    kind = "training step" if manifest["train"] else "forward"
    kind += " with fake weights" if manifest["fake"] else ""
    return f"{path}: {kind}, {elements:,} parameter elements, {inputs}"
