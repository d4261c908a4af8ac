# ===- world-size-one.py - One rank equals eager PyTorch -------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# Both modes on a mesh of one rank give eager PyTorch's bits: losses of 20
# AdamW steps, the last gradients, and the parameters.

import itertools
import pathlib
import sys

import torch
from reference.training import train_eager
from support.compare import Checks
from support.steps import captured_step
from support.toolchain import Run, compile_plan

STEPS = 20


def check_step(check, step, folder):
    expected = train_eager(
        step.build_model(),
        step.batches(),
        STEPS,
        param_dtype=step.param_dtype,
    )
    for mode in ("replicate", "fully_shard"):
        name = f"{step.model}-{step.dtype}-{mode}"
        plan = compile_plan(
            step.archive,
            f"mesh=dp:1 mode={mode} optimizer=adamw results=gradients",
            folder / f"{name}.plan.json",
        )
        run = Run(plan, ranks=1)
        actual = run.train(step.archive, step.data, STEPS, folder / name)
        check.same_run(name, expected, actual)


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
torch.set_num_threads(1)
with Checks() as check:
    for model, dtype in itertools.product(("mlp", "llama"), ("f32", "bf16")):
        check_step(check, captured_step(model, dtype), folder)
