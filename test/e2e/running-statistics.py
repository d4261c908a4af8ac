# ===- running-statistics.py - Batch norm on ranks with other batches ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# F22: statistics stay each rank's own, or every step starts from rank 0's;
# they are neither sharded nor averaged. The loss reads them, so that it shows
# those of rank 1 too, which no dump does.

import pathlib
import sys

import torch
from support.compare import Checks
from support.small import SmallStep, sgd
from support.traffic import planned_traffic
from torch import nn

MODES = ("mode=replicate", "mode=fully_shard")
SGD = "optimizer=sgd results=gradients"


class Centered(nn.Module):
    """Reads the running mean before a batch norm updates it."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(1)
        self.w = nn.Parameter(torch.ones(1))

    def forward(self, x):
        centered = x - self.norm.running_mean
        return (self.w * centered).mean() + self.norm(x).mean()


def constant_batches(*values):
    return [{"x": torch.full((4, 1), value)} for value in values]


def check_f22_batch_norm(check, folder):
    """Batches of 0 on rank 0 and 2 on rank 1, momentum 0.1.

    Loss of step 1: (0 + 2) / 2. Before step 2 the means are 0 and 0.2, or 0
    and 0 when rank 0's are broadcast: (0 + 1.8) / 2 = 0.9, or 1.
    """
    batches = constant_batches(0.0, 2.0, 0.0, 2.0)
    step = SmallStep(Centered, batches, folder / "norm").capture()
    for buffers, second in (("local", 0.9), ("broadcast", 1.0)):
        for mode in MODES:
            name = f"F22 buffers={buffers} {mode}"
            plan = step.compile(
                f"mesh=dp:2 {mode} buffers={buffers} {SGD}",
                f"{buffers}-{mode[5:]}",
            )
            run = step.train(plan, 2, 2, lr=0.0)
            losses = [loss.item() for loss in run.losses]
            close = [abs(a - b) < 1e-6 for a, b in zip(losses, (1.0, second))]
            check.that(all(close), f"{name}: losses {losses}")
            count = run.tensors["norm.num_batches_tracked"]
            check.that(
                count.dtype == torch.int64 and count.item() == 2,
                f"{name}: expected 2 batches, got {count}",
            )
            mean = run.tensors["norm.running_mean"].item()
            check.that(mean == 0, f"{name}: rank 0's mean is {mean}")
            sent = planned_traffic(plan).launches.get("broadcast", 0)
            check.that(
                sent == (buffers == "broadcast"),
                f"{name}: {sent} broadcasts",
            )


def check_broadcast_trains_like_pytorch(check, folder):
    """Other batches, other means: 5 steps, over processes too."""
    generator = torch.Generator().manual_seed(3)
    batches = [
        {"x": torch.randn(4, 1, generator=generator)} for _ in range(15)
    ]
    step = SmallStep(Centered, batches, folder / "trained").capture()
    for buffers in ("local", "broadcast"):
        expected = step.train_eager(
            3, 5, sgd(), broadcast_buffers=buffers == "broadcast"
        )
        plan = step.compile(
            f"mesh=dp:3 mode=fully_shard buffers={buffers} {SGD}", buffers
        )
        for backend in ("local", "gloo"):
            actual = step.train(plan, 3, 5, backend)
            name = f"buffers={buffers} over {backend}"
            check.same_run(name, expected, actual)


folder = pathlib.Path(sys.argv[1])
torch.set_num_threads(1)
with Checks() as check:
    check_f22_batch_norm(check, folder)
    check_broadcast_trains_like_pytorch(check, folder)
