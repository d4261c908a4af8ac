# ===- peak-memory.py - The predicted peak is the counted one --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# What the runtime counts at the peak of training is what the plan predicts,
# for every built-in model and mode, to 2 % or 64 KiB; and the peak of the second
# step is never passed again.

import json
import pathlib
import sys

from support.compare import Checks
from support.steps import captured_step
from support.toolchain import Run, compile_plan, read_metrics

STEPS = 4
MODELS = ("llama", "mlp", "gpt2", "vit", "resnet18", "transformer", "lora")
HYBRID = "mesh=dp_replicate:2,dp_shard:2 mode=hybrid_shard"
MODES = (
    ("mesh=dp:1", 1),
    ("mesh=dp:2 mode=replicate", 2),
    ("mesh=dp:2 mode=fully_shard", 2),
    ("mesh=dp:2 mode=fully_shard reshard=never micro-batches=2", 2),
    (f"{HYBRID}", 4),
)
ALLOWED_SHARE = 0.02
ALLOWED_BYTES = 64 * 1024


def check_peak(check, name, options, ranks, folder):
    step = captured_step(name)
    plan = compile_plan(step.archive, options, folder / "step.plan.json")
    Run(plan, ranks).train(step.archive, step.data, STEPS, folder / "run")
    predicted = json.loads(plan.read_text())["predicted_peak_bytes"]
    records = read_metrics(folder / "run" / "metrics.jsonl")
    peaks = [record["peak_bytes"] for record in records]
    allowed = max(ALLOWED_SHARE * predicted, ALLOWED_BYTES)
    check.that(
        abs(peaks[-1] - predicted) <= allowed,
        f"{name}, {options}: predicted {predicted}, counted {peaks[-1]}",
    )
    check.that(
        peaks[1] == peaks[-1],
        f"{name}, {options}: the peak rises after step 2: {peaks}",
    )


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
with Checks() as check:
    for name in MODELS:
        for options, ranks in MODES:
            check_peak(check, name, options, ranks, folder)
