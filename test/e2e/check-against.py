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


def arguments(plan, reference, step):
    return [
        *("-n", 2, plan, "--check-against", reference),
        *("--weights", step.archive, "--data", step.data),
        *("--steps", STEPS),
    ]


def with_other_divisor(plan_path, folder):
    """The same plan, but one reduction divides by 4 instead of 2."""
    plan = json.loads(plan_path.read_text())
    instructions = plan["programs"][0]["instructions"]
    first = next(i for i in instructions if i.get("divisor") == 2)
    first["divisor"] = 4
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
    for index, placement in enumerate(PLACEMENTS):
        plan = compile_plan(
            step.archive,
            f"mesh=dp:2 {placement} optimizer=adamw results=gradients",
            folder / f"{index}.plan.json",
        )
        run_tool("simplefsdp-run", *arguments(plan, reference, step))
        check.that(True, f"{placement} agrees")
        wrong = with_other_divisor(plan, folder)
        check_command(
            check,
            f"wrong divisor, {placement}",
            [
                tool("simplefsdp-run"),
                *arguments(wrong, reference, step),
                "--unproved",
            ],
            "gradient|grad",
            code=1,
        )
