# ===- compare.py - Exact comparison of two training runs ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Equality here is equality of bits: NaN equals the same NaN, and 0.0 differs
# from -0.0. A message names the first tensor that differs, how many elements
# do, and the first of them.
# Tested by test/e2e/reference-agrees.py.

import sys

import torch

_INTEGER_OF_WIDTH = {
    1: torch.uint8,
    2: torch.int16,
    4: torch.int32,
    8: torch.int64,
}


def bits(tensor):
    """The tensor's bytes as integers of the same width."""
    return tensor.contiguous().view(_INTEGER_OF_WIDTH[tensor.element_size()])


def tensor_difference(expected, actual):
    """How two tensors differ, or None when all bits are equal."""
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return (
            f"expected {expected.dtype} {list(expected.shape)}, "
            f"got {actual.dtype} {list(actual.shape)}"
        )
    different = bits(expected) != bits(actual)
    count = int(different.sum())
    if count == 0:
        return None
    first = tuple(different.nonzero()[0].tolist())
    return (
        f"{count} of {expected.numel()} elements differ, first at "
        f"{list(first)}: expected {_show(expected, first)}, "
        f"got {_show(actual, first)}"
    )


def _show(tensor, index):
    element = tensor[index]
    width = 2 * element.element_size()
    pattern = int(bits(element)) & ((1 << (4 * width)) - 1)
    return f"{element.item()!r} (0x{pattern:0{width}x})"


def difference(expected, actual):
    """How two runs (`Trained`) differ, or None when they are equal.

    Losses first, then gradient norms, then tensors in the order of `expected`.
    """
    if len(expected.losses) != len(actual.losses):
        return (
            f"expected {len(expected.losses)} steps, got {len(actual.losses)}"
        )
    for step, pair in enumerate(zip(expected.losses, actual.losses), 1):
        found = tensor_difference(*pair)
        if found:
            return f"loss of step {step}: {found}"
    if len(expected.norms) != len(actual.norms):
        return f"expected {len(expected.norms)} norms, got {len(actual.norms)}"
    for step, pair in enumerate(zip(expected.norms, actual.norms), 1):
        found = tensor_difference(*pair)
        if found:
            return f"gradient norm of step {step}: {found}"
    if set(expected.tensors) != set(actual.tensors):
        missing = sorted(set(expected.tensors) - set(actual.tensors))
        extra = sorted(set(actual.tensors) - set(expected.tensors))
        return f"missing tensors {missing}, unexpected tensors {extra}"
    for name, tensor in expected.tensors.items():
        found = tensor_difference(tensor, actual.tensors[name])
        if found:
            return f"{name}: {found}"
    return None


class Checks:
    """Collects failed expectations; leaving it with any exits with code 1."""

    def __init__(self):
        self.made = 0
        self.failed = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if kind is not None:
            return False
        print(f"{self.made} checks, {self.failed} failed")
        if self.failed or not self.made:
            sys.exit(1)
        return False

    def that(self, holds, message):
        """Expects `holds`; `message` says what was expected and what came."""
        self.made += 1
        if not holds:
            self.failed += 1
            print(f"failed: {message}")

    def same_run(self, name, expected, actual):
        """Expects two runs to be equal bit for bit."""
        found = difference(expected, actual)
        self.that(found is None, f"{name}: {found}")
