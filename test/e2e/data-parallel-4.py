# ===- data-parallel-4.py - Hybrid sharding and its orders of addition -----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t f32
# RUN: rm -rf %t && %python %s %t bf16
#
# F10: 2 replicas of 2 shards, against PyTorch's arithmetic in the order of
# additions that each choice of `reduction` promises; 4 ranks in blocks of two add
# in the order of hybrid_shard.

import pathlib
import sys

import torch
from reference.training import Clipping, Reduction, train_eager
from support.compare import Checks
from support.data_parallel import CLIP_NORM
from support.steps import captured_step
from support.toolchain import Run, compile_plan

RANKS = 4
STEPS = 20
FLAT = Reduction()
BLOCKS = Reduction(grouped=2)
HYBRID = "mesh=dp_replicate:2,dp_shard:2 mode=hybrid_shard"
CHOICES = (
    (f"{HYBRID}", BLOCKS),
    # Parameters that stay whole are added in the same order.
    (f"{HYBRID} reshard=never keep-replicated=*norm*", BLOCKS),
    (f"{HYBRID} reduction=flat", FLAT),
    (
        f"{HYBRID} reduction=allreduce_first keep-replicated=*norm*",
        Reduction(grouped=2, replicas_first=True),
    ),
    (f"{HYBRID} gradient-scale=1/3", Reduction(grouped=2, divisor=3)),
    # Norms of the chunks of the shard axis.
    (f"{HYBRID} clip-norm={CLIP_NORM}", BLOCKS, Clipping(CLIP_NORM, chunks=2)),
    ("mesh=dp:4 mode=fully_shard", FLAT),
    ("mesh=dp:4 mode=replicate reduction=grouped:2", BLOCKS),
    ("mesh=dp:4 mode=fully_shard reduction=grouped:2", BLOCKS),
    ("mesh=dp:4 mode=fully_shard gradient-scale=sum", Reduction(divisor=1)),
)
SCHEDULES = (
    ("block", "prefetch", "local"),
    ("block", "prefetch", "shm"),
    ("none", "none", "gloo"),
)


def check_choice(check, step, folder, options, reduction, clipping=None):
    expected = train_eager(
        step.build_model(),
        step.batches(),
        STEPS,
        ranks=RANKS,
        param_dtype=step.param_dtype,
        reduction=reduction,
        clipping=clipping,
    )
    # What schedules and transports do to bits does not depend on the scale.
    schedules = SCHEDULES[:1] if "scale" in options else SCHEDULES
    for bucket, order, backend in schedules:
        plan = compile_plan(
            step.archive,
            f"{options} bucket={bucket} reorder={order} results=gradients",
            folder / "step.plan.json",
        )
        actual = Run(plan, RANKS, backend).train(
            step.archive, step.data, STEPS, folder / backend
        )
        name = f"{options} bucket={bucket} over {backend}, {step.dtype}"
        check.same_run(name, expected, actual)


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
torch.set_num_threads(1)
with Checks() as check:
    step = captured_step("llama", sys.argv[2])
    for choice in CHOICES:
        check_choice(check, step, folder, *choice)
