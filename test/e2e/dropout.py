# ===- dropout.py - Random masks follow the seed alone ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# A GPT-2 with dropout trains to the bits of PyTorch whose draws are seeded by
# our rule, on 1 and 3 ranks under every mode and schedule. Each rank has masks
# of its own.

import contextlib
import itertools
import pathlib
import sys
from dataclasses import replace

import torch
from reference.random_numbers import one_dropout_operator, seeded_by
from simplefsdp_capture.models import build, configure
from support.compare import Checks, difference
from support.small import SmallStep
from support.steps import DTYPES, random_batches

STEPS = 20
SEED = 5
SCHEDULES = (
    "mode=replicate bucket=none reorder=none",
    "mode=fully_shard bucket=block reorder=prefetch",
)


def build_model():
    torch.manual_seed(0)
    entry, config = configure("gpt2")
    return build(entry, replace(config, dropout=0.1))[0].train()


def check_dropout(check, dtype, folder):
    batches = list(itertools.islice(random_batches("gpt2"), 3 * STEPS))
    step = SmallStep(
        build_model, batches, folder / dtype, DTYPES[dtype]
    ).capture()
    patch = one_dropout_operator if dtype == "bf16" else contextlib.nullcontext
    for ranks in (1, 3):
        with patch():
            expected = step.train_eager(ranks, STEPS, drawing=seeded_by(SEED))
            other = step.train_eager(ranks, STEPS, drawing=seeded_by(SEED + 1))
        check.that(
            difference(expected, other) is not None,
            f"{dtype}: another seed gives the same run",
        )
        for index, schedule in enumerate(SCHEDULES):
            plan = step.compile(
                f"mesh=dp:{ranks} {schedule} optimizer=adamw "
                "results=gradients",
                f"{ranks}-{index}",
            )
            actual = step.train(
                plan, ranks, STEPS, "local", 1e-3, "--seed", SEED
            )
            name = f"dropout, {dtype}, {schedule} on {ranks} ranks"
            check.same_run(name, expected, actual)


folder = pathlib.Path(sys.argv[1])
torch.set_num_threads(1)
with Checks() as check:
    for dtype in ("f32", "bf16"):
        check_dropout(check, dtype, folder)
