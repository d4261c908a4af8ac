# ===- data_parallel.py - All schedules of a data-parallel step ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# docs/semantics.md, items 1 to 3 of what must be equal: bucketing, order,
# placement and transport never change a bit. Every combination is compared
# with PyTorch's arithmetic on the same batches, not only with each other.
# Tested by test/e2e/data-parallel-2.py and test/e2e/data-parallel-3.py.

import itertools

from reference.training import train_eager
from support.steps import captured_step
from support.toolchain import Run, compile_plan

STEPS = 20
PLACEMENTS = (
    "mode=replicate",
    "mode=fully_shard reshard=always",
    "mode=fully_shard reshard=never",
)
BUCKETS = ("none", "block")
ORDERS = ("none", "prefetch")
BACKENDS = ("local", "shm", "gloo")


def check_data_parallel(check, ranks, dtype, folder):
    """Trains llama under every combination and compares all bits."""
    step = captured_step("llama", dtype)
    expected = train_eager(
        step.build_model(),
        step.batches(),
        STEPS,
        ranks=ranks,
        param_dtype=step.param_dtype,
    )
    choices = itertools.product(PLACEMENTS, BUCKETS, ORDERS)
    for index, (placement, bucket, order) in enumerate(choices):
        options = f"{placement} bucket={bucket} reorder={order}"
        plan = compile_plan(
            step.archive,
            f"mesh=dp:{ranks} {options} optimizer=adamw results=gradients",
            folder / f"{index}.plan.json",
        )
        for backend in BACKENDS:
            run = Run(plan, ranks, backend)
            place = folder / f"{index}-{backend}"
            actual = run.train(step.archive, step.data, STEPS, place)
            name = f"{options} on {ranks} ranks over {backend}, {dtype}"
            check.same_run(name, expected, actual)
