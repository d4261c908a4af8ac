# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operator calls that make_layout_fixtures.py records.

Every family is a function that makes calls: for each operator shapes of sizes
0, 1 and more, and operands that are row-major, permuted, expanded, sliced, or
have odd strides where a dimension has size 1. Drawn with a fixed seed. Here are
views, element-wise operators and matrix products; layout_kernel_cases.py and
layout_network_cases.py have the other families.

Tested by test/unit/passes/rules/LayoutFixtureTest.cpp.
"""

import layout_kernel_cases
import layout_network_cases
from layout_draw import Draw
from make_layout_fixtures import Layout

# ---------------------------------------------------------------------------
# Views
# ---------------------------------------------------------------------------


def views(record):
    draw = Draw(1)
    for _ in range(30):
        for name in ["alias.default", "detach.default", "squeeze.default"]:
            record.call(name, draw.layout())
        record.call("t.default", draw.layout(sizes=draw.shape(0, 2)))
        x = draw.layout()
        record.call("unsqueeze.default", x, draw.dim(x.sizes + (1,)))
        record.call("squeeze.dim", x, draw.dim(x.sizes))
        record.call("squeeze.dims", x, draw.dims(x.sizes))
        record.call(
            "transpose.int", x, draw.dim(x.sizes), draw.dim(x.sizes)
        )
        order = draw.random.sample(range(len(x.sizes)), len(x.sizes))
        record.call(
            "permute.default", x, [d - draw.pick(0, len(order)) for d in order]
        )
    for _ in range(40):
        view_calls(record, draw)
        window_calls(record, draw)
    view_refusals(record)


def view_calls(record, draw):
    x = draw.layout("f32")
    count = 1
    for size in x.sizes:
        count *= size
    targets = [[-1], [count], list(x.sizes), [1, count], [count, 1, 1]]
    if len(x.sizes) > 1:
        targets += [[x.sizes[0], -1], [-1, x.sizes[-1]]]
        targets += [[x.sizes[0] * x.sizes[1], *x.sizes[2:]]] * 2
    if count % 2 == 0:
        targets += [[2, count // 2], [*x.sizes[:-1], x.sizes[-1] // 2, 2]]
    target = draw.random.choice(targets)
    record.call("view.default", x, target)
    record.call("_unsafe_view.default", x, target)
    narrow = draw.layout(sizes=draw.broadcastable(draw.shape()))
    wide = [draw.pick(2, 3) if size == 1 else size for size in narrow.sizes]
    wide = [draw.pick(-1, size) for size in wide]
    new = draw.pick([], [], [1], [2], [3, 1], [1, 1], [0, 2])
    record.call("expand.default", narrow, [*new, *wide])


def window_calls(record, draw):
    x = draw.layout(sizes=draw.shape(1))
    dim = draw.dim(x.sizes)
    size = x.sizes[dim]
    start = draw.pick(None, 0, 1, -2, 100)
    end = draw.pick(None, 0, 1, 2, -1, size, 2**63 - 1)
    record.call("slice.Tensor", x, dim, start, end, draw.pick(1, 1, 2, 3))
    record.call("slice.Tensor", x, dim)
    if size > 0:
        index = draw.random.randrange(-size, size)
        record.call("select.int", x, dim, index)
    record.call("split.Tensor", x, draw.pick(1, 2, 3), dim)
    first = draw.random.randrange(size + 1)
    record.call("split_with_sizes.default", x, [first, size - first], dim)
    record.call("unbind.int", x, dim)
    record.call("unfold.default", x, dim, draw.pick(0, 1, 2), draw.pick(1, 2))
    y = draw.layout(sizes=draw.shape(2))
    dims = draw.random.sample(range(len(y.sizes)), 2)
    record.call("diagonal.default", y, draw.pick(0, 1, -1, 5), *dims)


def view_refusals(record):
    matrix = Layout("f32", (2, 3))
    turned = Layout("f32", (3, 2), (1, 3))
    record.refused("view.default", turned, [6])
    record.refused("_unsafe_view.default", turned, [6])
    record.refused("view.default", matrix, [4])
    record.refused("view.default", matrix, [-1, -1])
    record.refused("view.default", matrix, [-1, 4])
    record.refused("view.default", Layout("f32", (0, 3)), [-1, 0])
    record.refused("expand.default", matrix, [3])
    record.refused("expand.default", matrix, [2, 4])
    record.refused("expand.default", matrix, [-1, 2, 3])
    record.refused("t.default", Layout("f32", (2, 3, 4)))
    record.refused("transpose.int", matrix, 0, 2)
    record.refused("permute.default", matrix, [0, 0])
    record.refused("permute.default", matrix, [0])
    record.refused("permute.default", matrix, [0, 2])
    record.refused("unsqueeze.default", matrix, 3)
    record.refused("unsqueeze.default", matrix, -4)
    record.refused("squeeze.dim", matrix, 2)
    record.refused("squeeze.dims", matrix, [0, -2])
    record.refused("select.int", matrix, 0, 2)
    record.refused("select.int", matrix, 1, -4)
    record.refused("slice.Tensor", matrix, 0, 0, 1, 0)
    record.refused("slice.Tensor", matrix, 2)
    record.refused("slice.Tensor", Layout("f32", ()), 0)
    record.refused("split.Tensor", matrix, 0, 0)
    record.refused("split_with_sizes.default", matrix, [1, 2], 0)
    record.refused("unbind.int", Layout("f32", ()))
    record.refused("unfold.default", matrix, 0, 3, 1)
    record.refused("diagonal.default", matrix, 0, 1, 1)


# ---------------------------------------------------------------------------
# Element-wise operators
# ---------------------------------------------------------------------------

FLOATS_ONLY = """elu frac gelu hardsigmoid hardswish hardtanh leaky_relu mish silu
softplus softshrink""".split()
UNARY = """abs acos asin atan ceil cos cosh erf erfc erfinv exp exp2 expm1 floor
isinf isnan log log10 log1p log2 logical_not neg reciprocal relu round
rsqrt sgn sigmoid sign sin sinh sqrt tan tanh trunc""".split()
BINARY = """add.Tensor sub.Tensor mul.Tensor div.Tensor maximum.default
minimum.default eq.Tensor ne.Tensor lt.Tensor le.Tensor gt.Tensor ge.Tensor logical_and.default
logical_or.default logical_xor.default fmod.Tensor remainder.Tensor
pow.Tensor_Tensor atan2.default copysign.Tensor floor_divide.default""".split()
WITH_NUMBER = """add.Scalar sub.Scalar mul.Scalar div.Scalar rsub.Scalar
eq.Scalar ne.Scalar lt.Scalar le.Scalar
gt.Scalar ge.Scalar fmod.Scalar remainder.Scalar pow.Tensor_Scalar
copysign.Scalar""".split()
TENSOR_WITH_NUMBER = """add.Tensor sub.Tensor mul.Tensor div.Tensor eq.Tensor
lt.Tensor bitwise_and.Tensor""".split()
GRADIENTS = """gelu_backward hardsigmoid_backward hardswish_backward hypot
mish_backward sigmoid_backward silu_backward tanh_backward""".split()


def pointwise(record):
    draw = Draw(2)
    for _ in range(38):
        for name in UNARY:
            record.call(f"{name}.default", draw.layout())
        for name in FLOATS_ONLY:
            record.call(f"{name}.default", draw.layout(draw.float()))
        bits(record, draw)
        for name in BINARY:
            record.call(name, *operand_pair(draw))
        mode = draw.pick(None, "floor", "trunc")
        record.call("div.Tensor_mode", *operand_pair(draw), mode)
        for name in WITH_NUMBER:
            record.call(name, draw.layout(), draw.number())
        for name in GRADIENTS:
            record.call(f"{name}.default", *gradient_pair(draw))
        record.call("threshold_backward.default", *gradient_pair(draw), 0)
        parameterized_gradients(record, draw)
        record.call("pow.Scalar", draw.number(), draw.layout())
        record.call("div.Scalar_mode", draw.layout(), draw.number(), "floor")
        several_operands(record, draw)
        bounds(record, draw)
    for _ in range(5):
        for name in TENSOR_WITH_NUMBER:
            record.call(name, draw.layout(), draw.number())
    pointwise_refusals(record)


def bits(record, draw):
    record.call("bitwise_not.default", draw.layout(draw.integer()))
    for name in ["bitwise_and", "bitwise_or", "bitwise_xor"]:
        record.call(f"{name}.Tensor", *operand_pair(draw, draw.integer))
    for name in ["bitwise_and.Scalar", "bitwise_or.Scalar"]:
        record.call(name, draw.layout(draw.integer()), draw.pick(True, 3))


def operand_pair(draw, dtype_of=None):
    dtype_of = dtype_of or draw.dtype
    dtype = dtype_of()
    x = draw.layout(dtype)
    same = draw.random.random() < 0.6
    sizes = x.sizes if draw.random.random() < 0.5 else None
    sizes = draw.broadcastable(x.sizes) if sizes is None else sizes
    y = draw.layout(dtype if same else dtype_of(), sizes)
    return (x, y) if draw.random.random() < 0.7 else (y, x)


def gradient_pair(draw):
    x = draw.layout(draw.float())
    return x, draw.layout(x.dtype, x.sizes)


def parameterized_gradients(record, draw):
    grad, x = gradient_pair(draw)
    record.call("leaky_relu_backward.default", grad, x, 0.1, False)
    record.call("hardtanh_backward.default", grad, x, -1, 1)
    record.call("softplus_backward.default", grad, x, 1, 20)
    record.call("elu_backward.default", grad, 1, 1, 1, False, x)
    record.call("lerp.Scalar", grad, x, 0.5)


def several_operands(record, draw):
    x, y = operand_pair(draw)
    z = draw.layout(x.dtype, draw.broadcastable(x.sizes))
    record.call("addcmul.default", x, y, z)
    record.call("addcdiv.default", x, y, z)
    condition = draw.layout("i1", draw.broadcastable(x.sizes))
    record.call("where.self", condition, x, y)
    record.call("where.self", condition, x, draw.layout(sizes=()))
    record.call("masked_fill.Scalar", x, condition, draw.number())
    record.call("masked_fill.Tensor", x, condition, draw.layout(x.dtype, ()))


def bounds(record, draw):
    x = draw.layout()
    low, high = draw.pick(None, 0, 0.5), draw.pick(1, 1.5)
    record.call("clamp.default", x, low, draw.pick(None, high))
    record.call("clamp_min.default", x, high)
    record.call("clamp_max.default", x, high)


def pointwise_refusals(record):
    left, right = Layout("f32", (2, 3)), Layout("f32", (2, 4))
    record.refused("add.Tensor", left, right)
    record.refused("mul.Tensor", left, Layout("f32", (2,)))
    record.refused("eq.Tensor", left, right)
    record.refused("where.self", Layout("i1", (4,)), left, left)
    record.refused("where.self", left, left, left)
    record.refused("masked_fill.Scalar", left, left, 1)
    record.refused("clamp.default", left)
    record.refused("gelu_backward.default", left, right)


# ---------------------------------------------------------------------------
# Matrix products
# ---------------------------------------------------------------------------


def matmul(record):
    draw = Draw(3)
    sizes = [0, 1, 2, 3, 5]
    for _ in range(40):
        b, m, n, k = (draw.random.choice(sizes) for _ in range(4))
        dtype = draw.float()
        left, right = draw.layout(dtype, (m, k)), draw.layout(dtype, (k, n))
        record.call("mm.default", left, right)
        bias = draw.pick((n,), (m, n), (1, n), (1,), ())
        record.call(
            "addmm.default", draw.layout(dtype, bias), left, right
        )
        vector = draw.layout(dtype, (k,))
        record.call("mv.default", left, vector)
        record.call("dot.default", draw.layout(dtype, (k,)), vector)
        lefts = draw.layout(dtype, (b, m, k))
        rights = draw.layout(dtype, (b, k, n))
        record.call("bmm.default", lefts, rights)
        record.call(
            "baddbmm.default", draw.layout(dtype, (b, m, n)), lefts, rights
        )
    square, tall = Layout("f32", (2, 2)), Layout("f32", (3, 2))
    record.refused("mm.default", square, tall)
    record.refused("mm.default", square, Layout("f32", (2,)))
    record.refused("mm.default", square, Layout("bf16", (2, 2)))
    record.refused("addmm.default", tall, square, square)
    record.refused("bmm.default", square, square)
    record.refused("mv.default", square, Layout("f32", (3,)))
    record.refused("dot.default", Layout("f32", (2,)), Layout("f32", (3,)))
    record.refused(
        "bmm.default", Layout("f32", (2, 3, 3)), Layout("f32", (1, 3, 3))
    )


FAMILIES = {
    "matmul": matmul,
    "pointwise": pointwise,
    "views": views,
    **layout_kernel_cases.FAMILIES,
    **layout_network_cases.FAMILIES,
}
