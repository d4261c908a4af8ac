# ===- nonfinite-gradients.py - A batch of NaN ----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# One batch of one of two ranks is NaN. With skip-nonfinite all ranks leave out
# the update of that step, and only that: parameters and optimizer go on as if
# PyTorch had not called optimizer.step(). Without it the run says what happened.

import itertools
import pathlib
import re
import sys

import torch
from reference.training import Clipping, train_eager
from safetensors.torch import load_file, save_file
from support.compare import Checks
from support.steps import captured_step
from support.toolchain import Run, compile_plan, read_metrics, run_tool

RANKS = 2
STEPS = 6
# Batch (s - 1) * RANKS + r: rank 1 reads it in step 3.
LOST_STEP, LOST_BATCH = 3, 5
MODES = ("replicate", "fully_shard")
CLIP_NORM = 0.25


def write_data(step, folder):
    """The batches of `step`, one of them NaN."""
    batches = load_file(step.data)
    name = next(n for n, t in batches.items() if t.is_floating_point())
    batches[name][LOST_BATCH] = float("nan")
    data = folder / "batches.safetensors"
    save_file(batches, data)
    return data, batches


def compile_mode(step, mode, options, folder):
    name = f"{mode}-{options}".replace(" ", "-")
    return compile_plan(
        step.archive,
        f"mesh=dp:{RANKS} mode={mode} {options} results=gradients",
        folder / f"{name}.plan.json",
    )


def check_skipping(check, step, data, batches, max_norm, folder):
    """Parameters and norms equal PyTorch's; the metrics say what was left out."""
    expected = train_eager(
        step.build_model(),
        batches,
        STEPS,
        ranks=RANKS,
        clipping=Clipping(max_norm, skips=True),
    )
    clip = f" clip-norm={max_norm}" if max_norm else ""
    for mode, backend in itertools.product(MODES, ("local", "gloo")):
        plan = compile_mode(step, mode, "skip-nonfinite" + clip, folder)
        place = folder / f"{plan.stem}-{backend}"
        actual = Run(plan, RANKS, backend).train(
            step.archive, data, STEPS, place
        )
        name = f"skip-nonfinite{clip} mode={mode} over {backend}"
        check.same_run(name, expected, actual)
        records = read_metrics(place / "metrics.jsonl")
        applied = [record["applied"] for record in records]
        wanted = [number != LOST_STEP for number in range(1, STEPS + 1)]
        check.that(
            applied == wanted,
            f"{name}: expected applied {wanted}, got {applied}",
        )


def check_message(check, step, data, options, mode, patterns, folder):
    plan = compile_mode(step, mode, options, folder)
    finished = run_tool(
        "simplefsdp-run",
        *("-n", RANKS, plan, "--backend", "local", "--steps", STEPS),
        *("--weights", step.archive, "--data", data),
    )
    printed = finished.stdout + finished.stderr
    missing = [p for p in patterns if not re.search(p, printed)]
    check.that(
        not missing, f"{options} {mode}: no match for {missing} in:\n{printed}"
    )
    return printed


def check_messages(check, step, data, folder):
    # The sum over the ranks brings NaN to every chunk: the first is rank 0's.
    first = next(name for name, _ in step.build_model().named_parameters())
    start = rf"warning: step {LOST_STEP}: the gradient norm is -?nan, "
    whole = rf"{start}first in '{re.escape(first)}'"
    check_message(
        check,
        step,
        data,
        "skip-nonfinite",
        "fully_shard",
        (
            rf"{whole} on rank 0; its updates are left out",
            rf"note: the updates of 1 of {STEPS} steps were left out",
            r"loss \S+  norm \S+  ",
        ),
        folder,
    )
    printed = check_message(
        check,
        step,
        data,
        f"clip-norm={CLIP_NORM}",
        "replicate",
        (rf"{whole}; compile with skip-nonfinite",),
        folder,
    )
    count = printed.count("gradient norm is")
    check.that(count == 1, f"expected one warning, got {count}:\n{printed}")


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
torch.set_num_threads(1)
with Checks() as check:
    step = captured_step("mlp")
    data, batches = write_data(step, folder)
    for max_norm in (None, CLIP_NORM):
        check_skipping(check, step, data, batches, max_norm, folder)
    check_messages(check, step, data, folder)
