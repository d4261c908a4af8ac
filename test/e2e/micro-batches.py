# ===- micro-batches.py - Gradients of several batches per step ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# F12, F13: three micro-batches per step under every mode and every `sync`, against
# PyTorch's arithmetic: which sum comes first is part of the meaning. One rank
# is plain gradient accumulation: backward() three times, then one division.

import pathlib
import sys

import torch
from reference.training import Clipping, Reduction, train_eager
from support.compare import Checks
from support.steps import captured_step
from support.toolchain import Run, compile_plan

STEPS = 20
MICRO_BATCHES = 3
HYBRID = "mesh=dp_replicate:2,dp_shard:2 mode=hybrid_shard"
EACH = Reduction(sync="each")
LAST = Reduction(sync="last")
# options, ranks, the order of additions, element type
CHOICES = (
    ("mesh=dp:1", 1, EACH, "f32"),
    ("mesh=dp:2 mode=fully_shard", 2, EACH, "f32"),
    ("mesh=dp:2 mode=fully_shard reshard=never", 2, EACH, "bf16"),
    ("mesh=dp:2 mode=fully_shard sync=last", 2, LAST, "f32"),
    ("mesh=dp:2 mode=replicate", 2, LAST, "f32"),
    ("mesh=dp:2 mode=fully_shard clip-norm=0.5", 2, EACH, "f32"),
    ("mesh=dp:3 mode=replicate sync=each", 3, EACH, "bf16"),
    (f"{HYBRID}", 4, Reduction(grouped=2), "f32"),
    (
        f"{HYBRID} sync=shard-each-replica-last",
        4,
        Reduction(grouped=2, sync="shard-each-replica-last"),
        "f32",
    ),
)
SCHEDULES = (("block", "prefetch", "local"), ("none", "none", "gloo"))


def check_choice(check, options, ranks, reduction, dtype, folder):
    step = captured_step("llama", dtype)
    expected = train_eager(
        step.build_model(),
        step.batches(),
        STEPS,
        ranks=ranks,
        param_dtype=step.param_dtype,
        micro_batches=MICRO_BATCHES,
        reduction=reduction,
        clipping=Clipping(0.5) if "clip-norm" in options else None,
    )
    for bucket, order, backend in SCHEDULES:
        plan = compile_plan(
            step.archive,
            f"{options} micro-batches={MICRO_BATCHES} results=gradients "
            f"bucket={bucket} reorder={order}",
            folder / "step.plan.json",
        )
        actual = Run(plan, ranks, backend).train(
            step.archive, step.data, STEPS, folder / backend
        )
        name = f"{options} bucket={bucket} over {backend}, {dtype}"
        check.same_run(name, expected, actual)


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
torch.set_num_threads(1)
with Checks() as check:
    for choice in CHOICES:
        check_choice(check, *choice, folder)
