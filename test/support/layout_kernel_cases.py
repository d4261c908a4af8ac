# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operator calls of reductions, copies, creation, dropout and gathers.

See layout_cases.py.

Tested by test/unit/passes/rules/LayoutFixtureTest.cpp.
"""

import torch
from layout_draw import Draw
from make_layout_fixtures import Layout

# Parameters that tensor factories have between `dtype` and `memory_format`.
PLACE = [torch.strided, torch.device("cpu"), False]
FORMATS = [None, torch.contiguous_format, torch.preserve_format]
IMAGE_FORMATS = [*FORMATS, torch.channels_last, torch.channels_last_3d]


def reductions(record):
    draw = Draw(4)
    for _ in range(30):
        x = draw.layout()
        dims, dim = draw.dims(x.sizes), draw.dim(x.sizes)
        keep = draw.pick(True, False)
        dtype = draw.pick(None, None, torch.float32, torch.int64)
        record.call("sum.dim_IntList", x, dims, keep, dtype)
        record.call("sum.dim_IntList", x, draw.pick(None, [dim]), keep)
        record.call("sum.default", x, dtype)
        record.call("mean.dim", x, dims, keep, dtype)
        record.call("mean.dim", draw.layout("f32", x.sizes), [dim], keep)
        record.call("mean.default", draw.layout(draw.float()))
        for name in ["amax.default", "amin.default"]:
            record.call(name, x, dims, keep)
        for name in ["max.default", "min.default", "any.default"]:
            record.call(name, x)
        record.call("all.default", x)
        for name in ["any.dim", "all.dim", "max.dim", "min.dim"]:
            record.call(name, x, dim, keep)
        for name in ["argmax.default", "argmin.default"]:
            record.call(name, x, draw.pick(None, dim), keep)
        record.call("cumsum.default", x, dim, dtype)
        variance = [draw.layout(draw.float(), x.sizes), dims, 1, keep]
        record.call("var.correction", *variance)
        record.call("var_mean.correction", *variance)
        record.call("std.correction", *variance)
        record.call("std_mean.correction", *variance)
        record.call("prod.default", x, dtype)
        record.call("prod.dim_int", x, dim, keep, dtype)
        record.call("cumprod.default", x, dim, dtype)
        record.call("logsumexp.default", x, dims, keep)
        floats = draw.layout(draw.float(), x.sizes)
        norm = draw.pick(1, 2, float("inf"))
        record.call("linalg_vector_norm.default", floats, norm, dims, keep)
    x = Layout("f32", (2, 3))
    record.refused("sum.dim_IntList", x, [0, 0])
    record.refused("sum.dim_IntList", x, [2])
    record.refused("mean.dim", Layout("i64", (2, 3)), [0])
    record.refused("mean.default", Layout("i1", (2,)))
    record.refused("max.default", Layout("f32", (0,)))
    record.refused("cumsum.default", x, 2)


def copies(record):
    draw = Draw(5)
    for _ in range(40):
        x = draw.layout()
        record.call("clone.default", x, draw.pick(*IMAGE_FORMATS))
        record.call("clone.default", x)
        dtype = draw.pick(None, torch.bfloat16, torch.float32)
        place = draw.pick([None] * 3, PLACE)
        memory_format = draw.pick(*IMAGE_FORMATS)
        record.call("_to_copy.default", x, dtype)
        record.call("_to_copy.default", x, dtype, *place, False, memory_format)
        record.call("lift_fresh_copy.default", x)
        joined(record, draw)
        record.call("constant_pad_nd.default", x, padding(draw, x.sizes), 1)
        windows(record, draw)
        stacked(record, draw)
        record.call("flip.default", x, draw.dims(x.sizes))
        repeats = [draw.pick(0, 1, 2) for _ in x.sizes]
        record.call("repeat.default", x, [*draw.pick([], [2]), *repeats])
        matrices = draw.layout(sizes=draw.shape(2))
        record.call("tril.default", matrices, draw.pick(0, 1))
        record.call("triu.default", matrices)
    x = Layout("f32", (2, 3))
    record.refused("clone.default", x, torch.channels_last)
    record.refused("cat.default", [x, Layout("f32", (3, 2))])
    record.refused("cat.default", [x, Layout("f32", (3,))])
    record.refused("cat.default", [x, x], 2)
    record.refused("cat.default", [Layout("f32", ())])
    record.refused("constant_pad_nd.default", x, [1])
    record.refused("constant_pad_nd.default", x, [-2, -2])
    record.refused("constant_pad_nd.default", x, [0, 0, 0, 0, 1, 1])
    record.refused("tril.default", Layout("f32", (2,)))
    record.refused("repeat.default", x, [2])


def joined(record, draw):
    sizes = list(draw.shape(1))
    dim = draw.dim(sizes)
    dtype = draw.dtype()
    tensors = []
    for _ in range(draw.pick(1, 2, 3)):
        sizes[dim] = draw.pick(0, 1, 2, 3)
        other = dtype if draw.random.random() < 0.8 else None
        tensors.append(draw.layout(other, tuple(sizes)))
    if draw.random.random() < 0.2:
        tensors.insert(0, Layout(dtype, (0,)))
    record.call("cat.default", tensors, dim)


def stacked(record, draw):
    dtype, sizes = draw.dtype(), draw.shape()
    tensors = [draw.layout(dtype, sizes) for _ in range(draw.pick(1, 2, 3))]
    record.call("stack.default", tensors, draw.dim((*sizes, 1)))


def padding(draw, sizes):
    count = draw.random.randrange(len(sizes) + 1)
    choices = draw.pick([0, 1, 2, -1], [0, -1], [0])
    return [draw.random.choice(choices) for _ in range(2 * count)]


def windows(record, draw):
    x = draw.layout(sizes=draw.shape(1))
    dim = draw.random.randrange(len(x.sizes))
    size = x.sizes[dim]
    start = draw.random.randrange(size + 1)
    window = (*x.sizes[:dim], size - start, *x.sizes[dim + 1 :])
    grad = draw.layout(x.dtype, window)
    record.call(
        "slice_backward.default", grad, list(x.sizes), dim, start, size, 1
    )
    record.call("slice_scatter.default", whole(draw, x), grad, dim, start)
    if size > 0:
        row = draw.layout(x.dtype, (*x.sizes[:dim], *x.sizes[dim + 1 :]))
        record.call("select_backward.default", row, list(x.sizes), dim, 0)
        if len(x.sizes) > 1:
            count = min(x.sizes[:2])
            record.call(
                "diagonal_backward.default",
                draw.layout(x.dtype, (*x.sizes[2:], count)),
                list(x.sizes), 0, 0, 1,
            )
        record.call("select_scatter.default", whole(draw, x), row, dim, 0)


def whole(draw, x):
    """Like `x`, at the start of its storage."""
    return Layout(x.dtype, x.sizes, x.strides)


def creation(record):
    draw = Draw(6)
    for _ in range(36):
        sizes = list(draw.shape())
        dtype = draw.pick(None, torch.bfloat16, torch.int64, torch.bool)
        place = draw.pick([], PLACE)
        for name in ["ones", "zeros"]:
            record.call(f"{name}.default", sizes, dtype, *place)
        floats = draw.pick(None, torch.bfloat16, torch.float64)
        for name in ["rand", "randn"]:
            record.call(f"{name}.default", sizes, floats, *place)
        x = draw.layout()
        number = draw.number()
        for name in ["new_ones", "new_zeros", "new_empty"]:
            record.call(f"{name}.default", x, sizes, dtype, *place)
        record.call("new_full.default", x, sizes, number, dtype, *place)
        record.call("full.default", sizes, number, dtype, *place)
        record.call("scalar_tensor.default", number, dtype, *place)
        memory_format = draw.pick(*IMAGE_FORMATS)
        for name in ["ones", "zeros", "empty", "rand", "randn"]:
            name += "_like.default"
            record.call(name, x)
            record.call(name, x, dtype, None, None, None, memory_format)
        record.call("full_like.default", x, number)
        record.call(
            "full_like.default", x, number, dtype, None, None, None,
            memory_format,
        )
        record.call(
            "empty.memory_format", sizes, dtype, None, None, None,
            draw.pick(None, torch.contiguous_format, torch.channels_last),
        )
        order = draw.random.sample(range(len(sizes)), len(sizes))
        record.call("empty_permuted.default", sizes, order, dtype)
        ranges(record, draw, dtype)
        record.call("randint.default", 5, sizes)
        record.call("randint.low", -2, draw.pick(5, 7), sizes, dtype)
        record.call("randperm.default", draw.pick(0, 1, 5))
        record.call("eye.default", draw.pick(0, 1, 5), dtype)
        record.call("linspace.default", 0, number, draw.pick(0, 1, 5), dtype)
    record.refused("ones.default", [-1])
    record.refused("arange.start_step", 0, 5, 0)
    record.refused("arange.start", 5, 0)
    record.refused("empty_permuted.default", [2, 3], [0, 0])
    record.refused("empty_permuted.default", [2, 3], [0])


def ranges(record, draw, dtype):
    start, end = draw.pick(-3, 0, 0.5), draw.pick(0, 1, 7, 2.5, 1024)
    step = draw.pick(1, 2, 3, 0.1, 0.3)
    record.call("arange.default", end, dtype)
    record.call("arange.start", start, end, dtype)
    record.call("arange.start_step", start, end, step, dtype)
    record.call("arange.start_step", end, start, -step)


def dropout(record):
    draw = Draw(7)
    for _ in range(40):
        x = draw.layout(draw.float())
        train = draw.pick(True, True, False, None)
        record.call("native_dropout.default", x, 0.5, train)
        mask = draw.layout("i1", x.sizes)
        record.call("native_dropout_backward.default", x, mask, 2.0)
        probabilities = draw.layout(draw.float())
        record.call("bernoulli.default", probabilities)
        record.call("bernoulli.p", probabilities, 0.5)


def gather(record):
    draw = Draw(8)
    for _ in range(40):
        dtype, kind = draw.dtype(), draw.pick("i64", "i64", "i32")
        table = draw.layout(dtype, (draw.pick(1, 5), draw.pick(0, 1, 4)))
        indices = draw.layout(kind, draw.shape(0, 3), fill=0)
        record.call("embedding.default", table, indices)
        record.call("embedding.default", table, indices, 0, True)
        grad = draw.layout(draw.float(), (*indices.sizes, 4))
        record.call(
            "embedding_dense_backward.default", grad, indices, 5, -1, False
        )
        x = draw.layout(dtype)
        dim = draw.dim(x.sizes)
        picks = draw.layout(kind, draw.pick((), (1,), (3,), (0,)), fill=0)
        record.call("index_select.default", x, dim, picks)
        sizes = tuple(draw.random.randrange(size + 1) for size in x.sizes)
        index = draw.layout("i64", sizes, fill=0)
        record.call("gather.default", x, dim, index)
        record.call("scatter.value", x, dim, index, 1)
        source = draw.layout(dtype, x.sizes)
        record.call("scatter.src", x, dim, index, source)
        record.call("scatter_add.default", x, dim, index, source)
        sorting(record, draw, x, dim)
        if len(x.sizes) > 0:
            every = Layout("i64", (x.sizes[dim],), fill=0)
            record.call("index_add.default", x, dim, every, source)
    table = Layout("f32", (5, 4))
    indices = Layout("i64", (2,), fill=0)
    record.refused("embedding.default", table, table)
    record.refused("embedding.default", Layout("f32", (5,)), indices)
    record.refused("gather.default", table, 2, Layout("i64", (1, 1), fill=0))
    record.refused("gather.default", table, 0, indices)
    record.refused(
        "index_select.default", table, 0, Layout("i64", (1, 1), fill=0)
    )


def sorting(record, draw, x, dim):
    record.call("sort.default", x, dim)
    record.call("sort.stable", x, True, dim)
    record.call("topk.default", x, draw.pick(0, 1, 2), dim)


def indexing(record):
    draw = Draw(9)
    for _ in range(160):
        x = draw.layout(sizes=draw.shape(1))
        indices = index_list(draw, x.sizes)
        if not any(indices):
            continue
        record.call("index.Tensor", x, indices)
        record.call("_unsafe_index.Tensor", x, indices)
        record.call("index_put.default", x, indices, Layout(x.dtype, ()))
    x = Layout("f32", (2, 3))
    two, three = (Layout("i64", (size,), fill=0) for size in (2, 3))
    record.refused("index.Tensor", x, [two, three])
    record.refused("index.Tensor", x, [two, two, two])
    record.refused("index.Tensor", x, [Layout("f32", (2,), fill=0)])


def index_list(draw, sizes):
    shape = draw.pick((2,), (3,), (2, 3), (2, 1), (1,), (), (3, 2, 2))
    indices = []
    for _ in range(draw.random.randrange(len(sizes)) + 1):
        index = draw.layout(
            draw.pick("i64", "i64", "i32"), draw.broadcastable(shape), fill=0
        )
        indices.append(draw.pick(index, index, None))
    return indices


FAMILIES = {
    "copies": copies,
    "creation": creation,
    "dropout": dropout,
    "gather": gather,
    "indexing": indexing,
    "reductions": reductions,
}
