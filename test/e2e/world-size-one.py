# ===- world-size-one.py - One rank equals eager PyTorch -------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# On a mesh of one rank every mode and optimizer gives eager PyTorch's bits:
# losses of 20 steps, the last gradients, and the parameters. Groups of
# parameters and clipping are PyTorch's own.

import itertools
import pathlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

import torch
from reference.training import Clipping, adamw, train_eager
from support.compare import Checks
from support.steps import captured_step
from support.toolchain import Run, compile_plan

STEPS = 20


@dataclass(frozen=True)
class Recipe:
    """Options of the compiler, and what they mean to PyTorch."""

    options: str
    modes: tuple
    make_optimizer: Callable = adamw
    clipping: Clipping | None = None


def grouped(kind, **numbers):
    """Adam or SGD without decay of 1-dim names and a slower first layer."""

    def make(parameters, lr):
        groups = [
            {
                "params": [parameter],
                "lr": lr * (0.5 if "0." in name else 1.0),
                "weight_decay": 0.0 if _is_vector(name) else 0.1,
            }
            for name, parameter in parameters.items()
        ]
        return kind(groups, lr=lr, foreach=False, fused=False, **numbers)

    make.takes_names = True
    return make


def _is_vector(name):
    return fnmatchcase(name, "*norm*") or fnmatchcase(name, "*bias")


GROUPS = "weight-decay=0.1 no-decay=*norm*,*bias lr-scale=*0.*:0.5"
RECIPES = (
    Recipe("optimizer=adamw", ("replicate", "fully_shard")),
    Recipe(
        "optimizer=adamw clip-norm=0.5",
        ("fully_shard",),
        clipping=Clipping(0.5),
    ),
    Recipe(
        f"optimizer=adam betas=0.8,0.99 eps=1e-6 {GROUPS} skip-nonfinite",
        ("replicate",),
        grouped(torch.optim.Adam, betas=(0.8, 0.99), eps=1e-6),
        Clipping(skips=True),
    ),
    Recipe(
        f"optimizer=sgd momentum=0.9 nesterov {GROUPS} clip-norm=0.1",
        ("replicate",),
        grouped(torch.optim.SGD, momentum=0.9, nesterov=True),
        Clipping(0.1),
    ),
    Recipe(
        f"optimizer=adamw {GROUPS}",
        ("fully_shard",),
        grouped(torch.optim.AdamW),
    ),
)


def check_recipe(check, step, index, folder):
    recipe = RECIPES[index]
    expected = train_eager(
        step.build_model(),
        step.batches(),
        STEPS,
        param_dtype=step.param_dtype,
        make_optimizer=recipe.make_optimizer,
        clipping=recipe.clipping,
    )
    for mode in recipe.modes:
        name = f"{step.model}-{step.dtype}-{mode}-{index}"
        plan = compile_plan(
            step.archive,
            f"mesh=dp:1 mode={mode} {recipe.options} results=gradients",
            folder / f"{name}.plan.json",
        )
        run = Run(plan, ranks=1)
        actual = run.train(step.archive, step.data, STEPS, folder / name)
        check.same_run(f"{name}, {recipe.options}", expected, actual)


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
torch.set_num_threads(1)
with Checks() as check:
    for model, dtype in itertools.product(("mlp", "llama"), ("f32", "bf16")):
        step = captured_step(model, dtype)
        for index in range(len(RECIPES)):
            check_recipe(check, step, index, folder)
