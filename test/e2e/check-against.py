# ===- check-against.py - A plan checks itself against the unsharded one ----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# `simplefsdp-run --check-against REF`: plans of every placement agree with the
# unsharded plan of the same graph, and a plan whose gradients are scaled
# wrongly does not.

import json
import pathlib
import sys

from support.compare import Checks
from support.data_parallel import PLACEMENTS
from support.failures import check_command
from support.steps import captured_step
from support.toolchain import compile_plan, run_tool, tool

REFERENCE = "mesh=dp:1 mode=replicate optimizer=none results=gradients"
STEPS = 3
HYBRID = "mesh=dp_replicate:2,dp_shard:2 mode=hybrid_shard"
CLIPPING = ("", " clip-norm=0.5", " skip-nonfinite")
CHOICES = [
    (f"mesh=dp:2 {placement}{clipping}", 2)
    for placement, clipping in zip(PLACEMENTS, CLIPPING)
] + [
    ("mesh=dp:4 mode=fully_shard reduction=grouped:3", 4),
    (f"{HYBRID} clip-norm=0.5", 4),
    (f"{HYBRID} reduction=flat", 4),
    (f"{HYBRID} reduction=allreduce_first", 4),
]


def arguments(plan, ranks, reference, step):
    return [
        *("-n", ranks, plan, "--check-against", reference),
        *("--weights", step.archive, "--data", step.data),
        *("--steps", STEPS),
    ]


def with_other_divisor(plan_path, folder):
    """The same plan, but one reduction divides by twice as much."""
    plan = json.loads(plan_path.read_text())
    instructions = plan["programs"][0]["instructions"]
    first = next(i for i in instructions if "divisor" in i)
    first["divisor"] *= 2
    path = folder / "wrong.plan.json"
    path.write_text(json.dumps(plan))
    return path


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
with Checks() as check:
    step = captured_step("llama")
    reference = compile_plan(
        step.archive, REFERENCE, folder / "reference.plan.json"
    )
    for index, (options, ranks) in enumerate(CHOICES):
        plan = compile_plan(
            step.archive,
            f"{options} optimizer=adamw results=gradients",
            folder / f"{index}.plan.json",
        )
        run_tool("simplefsdp-run", *arguments(plan, ranks, reference, step))
        check.that(True, f"{options} agrees")
        wrong = with_other_divisor(plan, folder)
        check_command(
            check,
            f"wrong divisor, {options}",
            [
                tool("simplefsdp-run"),
                *arguments(wrong, ranks, reference, step),
                "--unproved",
            ],
            "gradient|grad",
            code=1,
        )
