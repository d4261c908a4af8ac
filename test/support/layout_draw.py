# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random layouts for make_layout_fixtures.py, the same in every run.

Tested by test/unit/passes/rules/LayoutFixtureTest.cpp.
"""

import random

from make_layout_fixtures import Layout

SHAPES = [
    (),
    (1,),
    (3,),
    (0,),
    (2, 3),
    (1, 3),
    (3, 1),
    (0, 3),
    (2, 3, 4),
    (2, 1, 4),
    (1, 1, 1),
    (2, 0, 4),
    (2, 3, 4, 5),
    (1, 3, 1, 5),
    (2, 1, 4, 5),
    (2, 3, 2, 2, 3),
]
FLOATS = ["f32", "bf16", "f16", "f64"]
INTEGERS = ["i64", "i32", "ui8", "i8", "i16", "i1"]


class Draw:
    """Random layouts."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def dtype(self):
        return self.random.choice(FLOATS + ["f32"] * 3 + INTEGERS)

    def float(self):
        return self.random.choice(FLOATS + ["f32"] * 3)

    def integer(self):
        return self.random.choice(INTEGERS)

    def shape(self, least=0, most=5):
        fitting = [shape for shape in SHAPES if least <= len(shape) <= most]
        return self.random.choice(fitting)

    def strides(self, sizes):
        """Row-major, permuted, sliced, expanded, or odd."""
        kind = self.random.choice(["rows", "permuted", "permuted", "sliced"])
        order = list(range(len(sizes)))
        if kind == "permuted":
            self.random.shuffle(order)
        if len(sizes) == 4 and self.random.random() < 0.2:
            order = [0, 2, 3, 1]
        strides, stride = [0] * len(sizes), 1
        for dim in reversed(order):
            if kind == "sliced" and self.random.random() < 0.4:
                stride *= 2
            strides[dim] = stride
            stride *= max(sizes[dim], 1)
        for dim, size in enumerate(sizes):
            if self.random.random() < 0.1:
                strides[dim] = 0
            elif size == 1 and self.random.random() < 0.3:
                strides[dim] = self.random.choice([1, 2, 7, 100])
        return strides

    def layout(self, dtype=None, sizes=None, fill=1):
        sizes = self.shape() if sizes is None else sizes
        offset = self.random.choice([0, 0, 3])
        dtype = self.dtype() if dtype is None else dtype
        return Layout(dtype, sizes, self.strides(sizes), offset, fill)

    def broadcastable(self, sizes):
        """A shape that broadcasts to `sizes`."""
        start = self.random.choice([0, 0, 0, len(sizes)])
        start = start or self.random.randrange(len(sizes) + 1)
        start = self.random.choice([0, start])
        return tuple(
            1 if self.random.random() < 0.2 else size for size in sizes[start:]
        )

    def number(self):
        return self.random.choice([2, 3, 2.5, 0.5, True])

    def dim(self, sizes):
        rank = max(len(sizes), 1)
        return self.random.randrange(-rank, rank)

    def dims(self, sizes):
        count = self.random.randrange(len(sizes) + 1)
        dims = self.random.sample(range(len(sizes)), count)
        return [dim - self.random.choice([0, len(sizes)]) for dim in dims]

    def pick(self, *options):
        return self.random.choice(options)
