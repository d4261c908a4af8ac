# ===- field-cases.py - Failures that others had, as small models ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# One function per case; the numbers are worked out in its comment.

import pathlib
import sys

import torch
from support.compare import Checks
from support.small import SmallStep, sgd
from support.traffic import planned_traffic
from torch import nn

MODES = ("mode=replicate", "mode=fully_shard")
SGD = "optimizer=sgd results=gradients"


class Dot(nn.Module):
    """loss = sum(w * x): the gradient of w is x."""

    def __init__(self, count=4):
        super().__init__()
        self.w = nn.Parameter(torch.ones(count))

    def forward(self, x):
        return (self.w * x).sum().float()


class Scaled(nn.Module):
    """loss = exp(t) * sum(w * x) with a 0-dim and an empty parameter."""

    def __init__(self):
        super().__init__()
        self.t = nn.Parameter(torch.tensor(0.5))
        self.w = nn.Parameter(torch.ones(4, 4))
        self.empty = nn.Parameter(torch.ones(0, 4))

    def forward(self, x):
        return torch.exp(self.t) * (self.w * x).sum() + self.empty.sum()


class Twice(nn.Module):
    """Reads one weight twice."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(10, 128))
        self.b = nn.Parameter(torch.ones(10))

    def forward(self, x):
        return (x @ self.w.T + self.b + x @ self.w.T).square().mean()


class Tied(nn.Module):
    """One table as embedding and as head."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(16, 4)
        self.head = nn.Linear(4, 16, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens):
        logits = self.head(self.embedding(tokens))
        return nn.functional.cross_entropy(logits, tokens)


class Uneven(nn.Module):
    """A weight of the given shape and a mean square of its product."""

    def __init__(self, rows, columns):
        super().__init__()
        self.linear = nn.Linear(columns, rows)

    def forward(self, x):
        return self.linear(x).square().mean()


class PartlyTrained(nn.Module):
    """A frozen, a trained and an unused weight."""

    def __init__(self):
        super().__init__()
        self.frozen = nn.Linear(8, 8)
        self.trained = nn.Linear(8, 8)
        self.unused = nn.Parameter(torch.ones(3))
        self.frozen.requires_grad_(False)

    def forward(self, x):
        return self.trained(self.frozen(x)).square().mean()


class WithViews(nn.Module):
    """Returns a view of an input, one value twice, and a parameter."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(4, 4))

    def forward(self, x):
        y = (self.w * x).detach()
        return (self.w * x).sum(), x.view(-1), y, y, self.w.detach()


def seeded(make):
    """A function that builds the same model at every call."""

    def build():
        torch.manual_seed(0)
        return make()

    return build


def random_batches(count, *shape):
    generator = torch.Generator().manual_seed(1)
    return [
        {"x": torch.randn(shape, generator=generator)} for _ in range(count)
    ]


def constant_batches(*values):
    return [{"x": torch.full((4,), value)} for value in values]


def check_equals_eager(check, name, step, ranks, steps=5):
    """Both modes equal eager SGD on `ranks` virtual ranks."""
    expected = step.train_eager(ranks, steps, sgd())
    for mode in MODES:
        plan = step.compile(f"mesh=dp:{ranks} {mode} {SGD}", mode[5:])
        actual = step.train(plan, ranks, steps)
        check.same_run(f"{name}, {mode}, {ranks} ranks", expected, actual)


def check_f01_f02_uneven_rows(check, folder):
    shapes = ((2, 3, 8), (7, 3, 4), (13, 13, 2), (9, 8, 8))
    for rows, columns, ranks in shapes:
        step = SmallStep(
            seeded(lambda: Uneven(rows, columns)),
            random_batches(5 * ranks, 6, columns),
            folder / f"uneven-{rows}-{columns}",
        ).capture()
        check_equals_eager(check, f"F02 [{rows}, {columns}]", step, ranks)


def check_f03_scalar_and_empty(check, folder):
    batches = random_batches(10, 4, 4)
    step = SmallStep(seeded(Scaled), batches, folder / "scalar").capture()
    check_equals_eager(check, "F03 0-dim and [0, 4]", step, ranks=2)


def check_f05_tied(check, folder):
    """One owner: one reduction, and the gradient is the sum of both uses."""
    generator = torch.Generator().manual_seed(2)
    batches = [
        {"tokens": torch.randint(16, (6,), generator=generator)}
        for _ in range(10)
    ]
    step = SmallStep(seeded(Tied), batches, folder / "tied").capture()
    check_equals_eager(check, "F05 tied", step, ranks=2)
    plan = step.compile("mesh=dp:2 mode=fully_shard bucket=block", "traffic")
    count = planned_traffic(plan).launches["reduce_scatter"]
    check.that(count == 1, f"F05: expected 1 reduce_scatter, got {count}")


def check_f06_read_twice(check, folder):
    """x needs no gradient, so backward does not read w: one gather each."""
    batches = random_batches(10, 3, 128)
    step = SmallStep(seeded(Twice), batches, folder / "twice").capture()
    check_equals_eager(check, "F06 read twice", step, ranks=2)
    plan = step.compile("mesh=dp:2 mode=fully_shard bucket=none", "traffic")
    found = planned_traffic(plan).launches
    expected = {"all_gather": 2, "reduce_scatter": 2}
    check.that(found == expected, f"F06: expected {expected}, got {found}")


def check_f09_mean(check, folder):
    """Gradients 1 and 3 have the mean 2; 1, 2 and 6 have the mean 3."""
    for values, mean in (((1.0, 3.0), 2.0), ((1.0, 2.0, 6.0), 3.0)):
        ranks = len(values)
        step = SmallStep(
            seeded(Dot), constant_batches(*values), folder / f"mean-{ranks}"
        ).capture()
        for mode in MODES:
            plan = step.compile(f"mesh=dp:{ranks} {mode} {SGD}", mode[5:])
            for backend in ("local", "shm", "gloo"):
                run = step.train(plan, ranks, 1, backend)
                found = run.tensors["grad.w"].tolist()
                check.that(
                    found == [mean] * 4,
                    f"F09 {mode} over {backend}: expected {mean}, got {found}",
                )


def check_f14_f15_frozen_and_unused(check, folder):
    batches = random_batches(10, 6, 8)
    step = SmallStep(
        seeded(PartlyTrained), batches, folder / "frozen"
    ).capture()
    check_equals_eager(check, "F14, F15 frozen, unused", step, ranks=2)
    # Weight decay moves no parameter without gradient.
    plan = step.compile(
        "mesh=dp:2 mode=fully_shard weight-decay=0.1 " + SGD, "decay"
    )
    unused = step.train(plan, 2, 1).tensors["unused"].tolist()
    check.that(unused == [1.0] * 3, f"F15: expected 1.0, got {unused}")


def check_f18_reduce_dtype(check, folder):
    """bf16 gradients 256, 1, 1, 1: the f32 mean is 259 / 4 = 64.75.

    A sum in bf16 stays at 256, since it has 8 bits: 64.0.
    """
    batches = [
        {"x": batch["x"].bfloat16()}
        for batch in constant_batches(256.0, 1.0, 1.0, 1.0)
    ]
    step = SmallStep(
        seeded(Dot), batches, folder / "reduce", torch.bfloat16
    ).capture()
    for mode in MODES:
        plan = step.compile(f"mesh=dp:4 {mode} {SGD}", mode[5:])
        found = step.train(plan, 4, 1).tensors["grad.w"].tolist()
        check.that(
            found == [64.75] * 4, f"F18 {mode}: expected 64.75, got {found}"
        )


def check_f50_aliases(check, folder):
    batches = random_batches(10, 4, 4)
    step = SmallStep(seeded(WithViews), batches, folder / "views").capture()
    expected = SmallStep(
        seeded(lambda: LossOnly(WithViews())), batches, folder
    ).train_eager(2, 5, sgd())
    for mode in MODES:
        plan = step.compile(f"mesh=dp:2 {mode} {SGD}", mode[5:])
        actual = step.train(plan, 2, 5)
        check.that(
            all(map(torch.equal, expected.losses, actual.losses)),
            f"F50 {mode}: losses differ",
        )


class LossOnly(nn.Module):
    """Drops every result but the loss."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x)[0]


folder = pathlib.Path(sys.argv[1])
torch.set_num_threads(1)
with Checks() as check:
    check_f01_f02_uneven_rows(check, folder)
    check_f03_scalar_and_empty(check, folder)
    check_f05_tied(check, folder)
    check_f06_read_twice(check, folder)
    check_f09_mean(check, folder)
    check_f14_f15_frozen_and_unused(check, folder)
    check_f18_reduce_dtype(check, folder)
    check_f50_aliases(check, folder)
