# ===- buffers.py - Whose running statistics a step starts with ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# F22: resnet18 with buffers of each rank's own, and with those of rank 0, which is
# what DistributedDataParallel does; against PyTorch's arithmetic.

import pathlib
import sys

import torch
from reference.training import train_eager
from support.compare import Checks
from support.steps import captured_step
from support.toolchain import Run, compile_plan

STEPS = 20
CHOICES = (
    ("mesh=dp:2 mode=replicate", 2, "local"),
    ("mesh=dp:3 mode=fully_shard micro-batches=2 sync=each", 3, "gloo"),
)

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
torch.set_num_threads(1)
with Checks() as check:
    step = captured_step("resnet18")
    for options, ranks, backend in CHOICES:
        for buffers in ("local", "broadcast"):
            expected = train_eager(
                step.build_model(),
                step.batches(),
                STEPS,
                ranks=ranks,
                micro_batches=2 if "micro" in options else 1,
                broadcast_buffers=buffers == "broadcast",
            )
            plan = compile_plan(
                step.archive,
                f"{options} buffers={buffers} results=gradients",
                folder / "step.plan.json",
            )
            actual = Run(plan, ranks, backend).train(
                step.archive, step.data, STEPS, folder / "run"
            )
            name = f"{options} buffers={buffers} over {backend}"
            check.same_run(name, expected, actual)
