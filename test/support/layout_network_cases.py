# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operator calls of the layers of networks: losses, attention, normalization,
convolution, pooling.

See layout_cases.py.

Tested by test/unit/passes/rules/LayoutFixtureTest.cpp.
"""

import torch
from layout_draw import Draw
from make_layout_fixtures import Layout


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
        pair_losses(record, draw, x, draw.pick(0, 1, 2))
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


def pair_losses(record, draw, x, reduction):
    target = draw.layout(x.dtype, x.sizes)
    grad = draw.layout(x.dtype, x.sizes if reduction == 0 else ())
    for name, extra in [("smooth_l1_loss", [1.0]), ("huber_loss", [1.0])]:
        record.call(f"{name}.default", x, target, reduction, *extra)
        record.call(
            f"{name}_backward.default", grad, x, target, reduction, *extra
        )
    name = "binary_cross_entropy"
    record.call(f"{name}.default", x, target, None, reduction)
    record.call(f"{name}_backward.default", grad, x, target, None, reduction)
    record.call(
        f"{name}_with_logits.default", x, target, None, None, reduction
    )


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
        group_norm(record, draw)
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


def group_norm(record, draw):
    dtype = draw.float()
    sizes = draw.pick((2, 4), (3, 4, 5), (2, 4, 3, 3), (1, 4, 1, 1))
    area = 1
    for size in sizes[2:]:
        area *= size
    x = image(draw, dtype, sizes) if len(sizes) > 2 else draw.layout(dtype, sizes)
    kind = draw.pick(x.dtype, x.dtype, torch.float32)
    weight = draw.pick(None, Layout(kind, (4,)))
    groups = draw.pick(1, 2, 4)
    shape = [sizes[0], 4, area, groups]
    record.call(
        "native_group_norm.default", x, weight, weight, *shape, 1e-5
    )
    statistics = Layout(dtype if weight is None else kind, (sizes[0], groups))
    record.call(
        "native_group_norm_backward.default", draw.layout(dtype, sizes), x,
        statistics, statistics, weight, *shape,
        [True, weight is not None, draw.pick(True, False)],
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
        averages(record, draw, x)
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


def averages(record, draw, x):
    kernel, stride = draw.pick([2, 2], [3, 2]), draw.pick([1, 1], [2, 2])
    rest = [kernel, stride, draw.pick([0, 0], [1, 1]), draw.pick(True, False)]
    record.call("avg_pool2d.default", x, *rest)
    target = draw.pick([1, 1], [2, 3])
    record.call("_adaptive_avg_pool2d.default", x, target)
    grad = draw.layout(x.dtype, (*x.sizes[:-2], *target))
    record.call("_adaptive_avg_pool2d_backward.default", grad, x)
    try:
        result = torch.ops.aten.avg_pool2d(x.make(), *rest)
    except RuntimeError:
        return
    grad = draw.layout(x.dtype, tuple(result.shape))
    record.call("avg_pool2d_backward.default", grad, x, *rest, True, None)


FAMILIES = {
    "attention": attention,
    "convolution": convolution,
    "losses": losses,
    "normalization": normalization,
    "pooling": pooling,
}
