# ===- against-pytorch.py - Two ranks equal DDP and FSDP2 ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# On two ranks a sum has one addition and the mean is an exact halving, so DDP,
# FSDP2 with both reshard settings, and every mode of ours must agree bit for
# bit on losses, gradients and parameters over 10 AdamW steps. FSDP2 forms the
# norm for clipping from the ranks' chunks as we do, so that agrees too.

import dataclasses
import pathlib
import sys

import torch
from reference.distributed import VARIANTS, Case, train_distributed
from support.compare import Checks
from support.data_parallel import BACKENDS, CLIP_NORM, PLACEMENTS
from support.steps import captured_step
from support.toolchain import Run, compile_plan

STEPS = 10
RANKS = 2


def train_ours(step, folder):
    """{description: Trained} of every mode and transport."""
    runs = {}
    for index, placement in enumerate(PLACEMENTS):
        name = f"{step.dtype}-{index}"
        plan = compile_plan(
            step.archive,
            f"mesh=dp:{RANKS} {placement} bucket=block reorder=prefetch "
            "optimizer=adamw results=gradients",
            folder / f"{name}.plan.json",
        )
        for backend in BACKENDS:
            place = folder / f"{name}-{backend}"
            run = Run(plan, RANKS, backend)
            runs[f"{placement} over {backend}"] = run.train(
                step.archive, step.data, STEPS, place
            )
    return runs


def check_clipping(check, step, expected, folder):
    for index, placement in enumerate(PLACEMENTS):
        plan = compile_plan(
            step.archive,
            f"mesh=dp:{RANKS} {placement} clip-norm={CLIP_NORM} "
            "optimizer=adamw results=gradients",
            folder / f"{step.dtype}-clip-{index}.plan.json",
        )
        actual = Run(plan, RANKS).train(
            step.archive, step.data, STEPS, folder / f"{plan.stem}-run"
        )
        name = f"FSDP2 with clipping and {placement}, {step.dtype}"
        check.same_run(name, expected, actual)


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
torch.set_num_threads(1)
with Checks() as check:
    steps = {d: captured_step("llama", d) for d in ("f32", "bf16")}
    cases = {
        dtype: Case(step.build_model, step.batches(), step.param_dtype)
        for dtype, step in steps.items()
    }
    clipped = {
        f"{dtype}-clip": dataclasses.replace(
            case, max_norm=CLIP_NORM, variants=("fsdp2-reshard",)
        )
        for dtype, case in cases.items()
    }
    pytorch = train_distributed({**cases, **clipped}, STEPS, RANKS)
    for dtype, step in steps.items():
        ours = train_ours(step, folder)
        for variant in VARIANTS:
            for name, actual in ours.items():
                check.same_run(
                    f"{variant} and {name}, {dtype}",
                    pytorch[dtype, variant],
                    actual,
                )
        expected = pytorch[f"{dtype}-clip", "fsdp2-reshard"]
        check_clipping(check, step, expected, folder)
