# ===- random_numbers.py - Eager dropout under our seeds -------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# PyTorch's own kernels draw, from the generator of the process; before each
# draw it is seeded as docs/semantics.md says: from the run's seed, step,
# micro-batch, data rank and the number of the operator in forward's order.
# Tested by test/e2e/dropout.py.

from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten
_DRAWING = (aten.bernoulli_.float, aten.native_dropout.default)
_MASK = (1 << 64) - 1


def scatter_bits(value):
    """SplitMix64 (Steele, Lea, Flood 2014) of a 64-bit number."""
    value = (value + 0x9E3779B97F4A7C15) & _MASK
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
    return value ^ (value >> 31)


def seed_of(seed, *use):
    """The seed of an operator; `use` is step, micro-batch, rank, number."""
    value = scatter_bits(seed)
    for part in use:
        value = scatter_bits(value ^ part)
    return value


class SeededDraws(TorchDispatchMode):
    """Inside, the n-th random operator draws from the seed of its use."""

    def __init__(self, seed, step, micro_batch, rank):
        super().__init__()
        self.use = (seed, step, micro_batch, rank)
        self.drawn = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function in _DRAWING:
            torch.manual_seed(seed_of(*self.use, self.drawn))
            self.drawn += 1
        return function(*args, **(kwargs or {}))


def seeded_by(seed):
    """What `train_eager` takes as `drawing`, for a run of that seed."""
    return lambda *position: SeededDraws(seed, *position)


def one_dropout_operator():
    """Inside, dropout is `native_dropout`, the operator that is captured.

    On a CPU eager PyTorch scales by 1 / (1 - p) rounded to the element type,
    native_dropout by the unrounded number: equal in f32, not in bf16.
    """

    def dropout(x, p=0.5, training=True, inplace=False):
        if not training or p == 0:
            return x
        return torch.native_dropout(x, p, training)[0]

    return mock.patch.object(torch.nn.functional, "dropout", dropout)
