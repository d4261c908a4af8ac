# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operator calls of reductions, copies, and kernels with rules of their own.

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
        record.call("mean.default", draw.layout(draw.float(), x.sizes), dtype)
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
    table = Layout("f32", (5, 4))
    indices = Layout("i64", (2,), fill=0)
    record.refused("embedding.default", table, table)
    record.refused("embedding.default", Layout("f32", (5,)), indices)
    record.refused("gather.default", table, 2, Layout("i64", (1, 1), fill=0))
    record.refused("gather.default", table, 0, indices)
    record.refused(
        "index_select.default", table, 0, Layout("i64", (1, 1), fill=0)
    )


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


def losses(record):
    draw = Draw(10)
    for _ in range(40):
        x = draw.layout(draw.float())
        dim = draw.dim(x.sizes)
        grad = draw.layout(x.dtype, x.sizes)
        for name in ["_softmax", "_log_softmax"]:
            record.call(f"{name}.default", x, dim, False)
            record.call(
                f"{name}_backward_data.default", grad, x, dim, x.dtype
            )
        record.call("_safe_softmax.default", x, dim)
        record.call(
            "_safe_softmax.default", x, dim, draw.pick(None, torch.float32)
        )
        likelihood(record, draw)
        target = draw.layout(x.dtype, draw.pick(x.sizes, ()))
        reduction = draw.pick(0, 1, 2)
        record.call("mse_loss.default", x, target, reduction)
        record.call(
            "mse_loss_backward.default",
            grad if reduction == 0 else Layout(x.dtype, ()),
            x,
            draw.layout(x.dtype, x.sizes),
            reduction,
        )
    matrix, targets = Layout("f32", (2, 3)), Layout("i64", (3,), fill=0)
    record.refused("_softmax.default", matrix, 2, False)
    record.refused("_log_softmax.default", Layout("i64", (2,)), 0, False)
    record.refused("nll_loss_forward.default", matrix, targets, None, 1, -100)
    record.refused("mse_loss.default", matrix, Layout("f32", (2, 2)))


def likelihood(record, draw):
    dtype = draw.float()
    n, c, h, w = draw.pick(1, 2, 4), draw.pick(1, 3), 2, draw.pick(1, 3)
    reduction = draw.pick(0, 1, 2)
    weight = draw.pick(None, Layout(dtype, (c,)))
    total = Layout(dtype, ())
    for sizes, kind in [((n, c), ""), ((c,), ""), ((n, c, h, w), "2d")]:
        samples = (n, *sizes[2:]) if len(sizes) > 1 else ()
        x = draw.layout(dtype, sizes)
        target = draw.layout("i64", samples, fill=0)
        rest = [target, weight, reduction, -100]
        record.call(f"nll_loss{kind}_forward.default", x, *rest)
        grad = Layout(dtype, samples if reduction == 0 else ())
        record.call(f"nll_loss{kind}_backward.default", grad, x, *rest, total)


def attention(record):
    draw = Draw(11)
    forward = "_scaled_dot_product_flash_attention_for_cpu.default"
    backward = "_scaled_dot_product_flash_attention_for_cpu_backward.default"
    for _ in range(60):
        dtype = draw.pick("f32", "f32", "bf16", "f16", "f64")
        b, s, t, d = draw.pick(1, 2), draw.pick(1, 4), draw.pick(4, 6), 8
        heads, key_heads = draw.pick((1, 1), (3, 3), (4, 2))
        causal = draw.pick(True, False)
        t = s if causal else t
        query = draw.layout(dtype, (b, heads, s, d))
        key = draw.layout(dtype, (b, key_heads, t, d))
        value = draw.layout(dtype, (b, key_heads, t, d))
        masks = [None, Layout(dtype, (b, 1, s, t))]
        options = [None if causal else draw.pick(*masks), draw.pick(None, 0.5)]
        record.call(forward, query, key, value, 0.0, causal, *options)
        record.call(forward, query, key, value)
        sums = Layout(
            "f64" if dtype == "f64" else "f32",
            (b, heads, s),
            (s * heads, 1, heads),
        )
        grad, out = (draw.layout(dtype, query.sizes) for _ in range(2))
        record.call(
            backward, grad, query, key, value, out, sums, 0.0, causal, *options
        )
    x, y = Layout("f32", (2, 3, 4, 8)), Layout("f32", (2, 3, 4, 5))
    record.refused(forward, x, x, y)
    record.refused(forward, x, y, y)
    record.refused(forward, Layout("f32", (3, 4, 8)), x, x)


def normalization(record):
    draw = Draw(12)
    for _ in range(60):
        layer_norm(record, draw)
        batch_norm(record, draw)
    x, three = Layout("f32", (2, 3)), Layout("f32", (3,))
    two = Layout("f32", (2,))
    record.refused("native_layer_norm.default", x, [2], two, two, 1e-5)
    record.refused("native_layer_norm.default", x, [3], two, three, 1e-5)


def layer_norm(record, draw):
    x = draw.layout(draw.float(), draw.shape(1))
    first = draw.random.randrange(len(x.sizes))
    normalized = list(x.sizes[first:])
    parameters = draw.pick(x.dtype, x.dtype, torch.float32)
    weight, bias = (Layout(parameters, normalized) for _ in range(2))
    has_bias = draw.pick(True, True, False)
    record.call(
        "native_layer_norm.default", x, normalized, weight,
        bias if has_bias else None, 1e-5,
    )
    record.call("native_layer_norm.default", x, normalized, None, None, 1e-5)
    rows = (*x.sizes[:first], *[1] * len(normalized))
    statistics = [Layout(parameters, rows) for _ in range(2)]
    mask = [True, draw.pick(True, False), draw.pick(True, False)]
    grad = draw.layout(x.dtype, x.sizes)
    record.call(
        "native_layer_norm_backward.default", grad, x, normalized, *statistics,
        weight, bias, mask,
    )


def batch_norm(record, draw):
    dtype = draw.float()
    channels = 3
    sizes = draw.pick((4, 3), (2, 3, 4), (2, 3, 4, 5), (2, 3, 1, 1),
                      (1, 3, 4, 5), (2, 3, 2, 2, 2))
    x = draw.layout(dtype, sizes)
    kind = draw.pick(x.dtype, x.dtype, torch.float32)
    channel = Layout(kind, (channels,))
    training = draw.pick(True, False)
    affine = draw.pick([channel, channel], [channel, channel], [None, None])
    record.call(
        "_native_batch_norm_legit_functional.default", x, *affine, channel,
        channel, training, 0.1, 1e-5,
    )
    record.call(
        "_native_batch_norm_legit.no_stats", x, *affine, True, 0.1, 1e-5
    )
    record.call(
        "_native_batch_norm_legit_no_training.default", x, *affine, channel,
        channel, 0.1, 1e-5,
    )
    saved = channel if training else Layout(kind, (0,))
    mask = [draw.pick(True, False) for _ in range(3)]
    record.call(
        "native_batch_norm_backward.default", draw.layout(dtype, sizes), x,
        affine[0], channel, channel, saved, saved, training, 1e-5, mask,
    )


def convolution(record):
    draw = Draw(13)
    for _ in range(150):
        convolve(record, draw)
    image, kernel = Layout("f32", (2, 3, 8, 8)), Layout("f32", (4, 3, 3, 3))
    plain = [[1, 1], [0, 0], [1, 1], False, [0, 0]]
    name = "convolution.default"
    record.refused(name, image, Layout("f32", (4, 2, 3, 3)), None, *plain, 1)
    record.refused(name, image, Layout("f32", (4, 3, 9, 9)), None, *plain, 1)
    record.refused(name, Layout("f32", (2, 3, 8)), kernel, None, *plain, 1)
    record.refused(name, Layout("f64", (2, 3, 8, 8)), kernel, None, *plain, 1)


def convolve(record, draw):
    dtype = draw.pick("f32", "f32", "f32", "f64", "bf16")
    dims = draw.pick(1, 2, 2, 2, 2, 3)
    transposed = draw.random.random() < 0.2
    groups = draw.pick(1, 1, 2)
    inputs, outputs = 2 * draw.pick(1, 2), 2 * draw.pick(1, 3)
    batch = draw.pick(0, 1, 2, 2, 2, 2)
    sizes = (batch, inputs, *[draw.pick(5, 6)] * dims)
    kernel = [draw.pick(1, 3, 3)] * dims
    weight = (outputs, inputs // groups, *kernel)
    if transposed:
        weight = (inputs, outputs // groups, *kernel)
    # The rule refuses other strides of volumes and empty batches.
    any_input, any_weight = dims < 3 and batch > 0, dims == 2 and batch > 0
    x = image(draw, dtype, sizes) if any_input else Layout(dtype, sizes)
    w = image(draw, dtype, weight) if any_weight else Layout(dtype, weight)
    bias = draw.pick(None, Layout(dtype, (outputs,)))
    rest = [
        [draw.pick(1, 2)] * dims,
        [draw.pick(0, 1)] * dims,
        [draw.pick(1, 1, 2)] * dims,
        transposed,
        [0] * dims,
        groups,
    ]
    record.call("convolution.default", x, w, bias, *rest)
    try:
        result = torch.ops.aten.convolution(x.make(), w.make(), None, *rest)
    except RuntimeError:
        return
    grad = image(draw, dtype, tuple(result.shape))
    # With the bias' gradient alone, oneDNN returns the weight's as well.
    mask = draw.pick([True] * 3, [True, True, False], [False, True, True])
    record.call(
        "convolution_backward.default", grad, x, w, [outputs], *rest, mask,
        uncertain=[1],
    )


def image(draw, dtype, sizes):
    """Row-major, channels last, or anything."""
    last = [*range(2, len(sizes)), 1]
    strides, stride = [0] * len(sizes), 1
    for dim in reversed([0, *last]):
        strides[dim] = stride
        stride *= max(sizes[dim], 1)
    return draw.pick(
        Layout(dtype, sizes),
        Layout(dtype, sizes, strides),
        draw.layout(dtype, sizes),
    )


def pooling(record):
    draw = Draw(14)
    for _ in range(60):
        dtype = draw.pick("f32", "bf16", "f64")
        sizes = draw.pick((2, 3, 6, 7), (1, 1, 4, 4), (3, 6, 6), (2, 3, 3, 3))
        x = image(draw, dtype, sizes)
        kernel, stride = draw.pick([2, 2], [3, 2], [2]), draw.pick([], [1], [2])
        rest = [draw.pick([0], [1, 1]), draw.pick([1], [2, 1])]
        ceil = draw.pick(True, False)
        name = "max_pool2d_with_indices"
        record.call(f"{name}.default", x, kernel, stride, *rest, ceil)
        record.call(f"{name}.default", x, kernel)
        try:
            values, indices = torch.ops.aten.max_pool2d_with_indices(
                x.make(), kernel, stride, *rest, ceil
            )
        except RuntimeError:
            continue
        shape, strides = tuple(values.shape), values.stride()
        record.call(
            f"{name}_backward.default",
            draw.pick(
                draw.layout(dtype, shape), Layout(dtype, shape, strides)
            ),
            x, kernel, stride, *rest, ceil,
            Layout("i64", shape, strides, fill=0),
        )
    x = Layout("f32", (1, 1, 4, 4))
    record.refused("max_pool2d_with_indices.default", x, [5, 5])
    record.refused("max_pool2d_with_indices.default", x, [2, 2], [], [2, 2])


FAMILIES = {
    "attention": attention,
    "convolution": convolution,
    "copies": copies,
    "creation": creation,
    "dropout": dropout,
    "gather": gather,
    "indexing": indexing,
    "losses": losses,
    "normalization": normalization,
    "pooling": pooling,
    "reductions": reductions,
}
