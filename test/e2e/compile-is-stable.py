# ===- compile-is-stable.py - Compiling is a function of its input ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# On whole models: print -> parse -> print is a fixed point, and generic CSE and
# canonicalization keep every collective.

import pathlib
import re
import sys

from support.compare import Checks
from support.steps import captured_step
from support.toolchain import run_tool

COLLECTIVE = re.compile(
    r"sfsdp\.(?:all_gather|reduce_scatter|all_reduce|broadcast)\w*"
)
PIPELINES = (
    "mesh=dp:2 mode=replicate bucket=none reorder=none optimizer=adamw",
    "mesh=dp:2 mode=fully_shard bucket=none reorder=none optimizer=sgd",
    "mesh=dp:2 mode=fully_shard bucket=block reorder=prefetch optimizer=adamw",
)


def optimize(path, output, *passes):
    run_tool("simplefsdp-opt", path, *passes, "-o", output)
    return output.read_text()


def check_module(check, name, source, folder, *passes):
    printed = folder / "printed.mlir"
    first = optimize(source, printed, *passes)
    second = optimize(printed, folder / "again.mlir")
    check.that(first == second, f"{name}: printing again gives another text")
    cleaned = optimize(
        printed, folder / "cleaned.mlir", "--cse", "--canonicalize"
    )
    before = len(COLLECTIVE.findall(first))
    after = len(COLLECTIVE.findall(cleaned))
    check.that(
        before == after,
        f"{name}: {before} collectives before cleaning, {after} after",
    )
    if passes:
        check.that(before > 0, f"{name}: no collectives")


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
with Checks() as check:
    for model, dtype in (("mlp", "f32"), ("llama", "f32"), ("llama", "bf16")):
        step = captured_step(model, dtype)
        check_module(check, f"{model}-{dtype}", step.archive, folder)
        for options in PIPELINES:
            check_module(
                check,
                f"{model}-{dtype} {options}",
                step.archive,
                folder,
                f"--simplefsdp={options}",
            )
