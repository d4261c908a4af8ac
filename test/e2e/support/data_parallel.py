# ===- data_parallel.py - All schedules of a data-parallel step ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# docs/semantics.md, items 1 to 3 of what must be equal: bucketing, order,
# placement and transport never change a bit. Every combination is compared
# with PyTorch's arithmetic on the same batches, not only with each other.
# Tested by test/e2e/data-parallel-2.py and test/e2e/data-parallel-3.py.

import itertools

from reference.training import Clipping, train_eager
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
# Below the norm of every step.
CLIP_NORM = 0.5
# (bucket, order, transport) of the runs with clipping, for every placement.
CLIPPED = (("none", "none", "local"), ("block", "prefetch", "gloo"))


def check_data_parallel(check, ranks, dtype, folder):
    """Trains llama under every combination and compares all bits."""
    step = captured_step("llama", dtype)
    _check_schedules(check, step, ranks, folder)
    _check_clipping(check, step, ranks, folder)


def _train_reference(step, ranks, clipping=None):
    return train_eager(
        step.build_model(),
        step.batches(),
        STEPS,
        ranks=ranks,
        param_dtype=step.param_dtype,
        clipping=clipping,
    )


def _check_clipping(check, step, ranks, folder):
    expected = _train_reference(step, ranks, Clipping(CLIP_NORM))
    check.that(
        min(expected.norms) > CLIP_NORM,
        f"expected every step to be clipped, got norms {expected.norms}",
    )
    for index, placement in enumerate(PLACEMENTS):
        for bucket, order, backend in CLIPPED:
            options = f"{placement} bucket={bucket} reorder={order}"
            plan = compile_plan(
                step.archive,
                f"mesh=dp:{ranks} {options} clip-norm={CLIP_NORM} "
                "optimizer=adamw results=gradients",
                folder / f"clip-{index}-{bucket}.plan.json",
            )
            actual = Run(plan, ranks, backend).train(
                step.archive, step.data, STEPS, folder / f"{plan.stem}-run"
            )
            name = f"clipping, {options} on {ranks} ranks over {backend}"
            check.same_run(f"{name}, {step.dtype}", expected, actual)


def _check_schedules(check, step, ranks, folder):
    expected = _train_reference(step, ranks)
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
            name = f"{options} on {ranks} ranks over {backend}, {step.dtype}"
            check.same_run(name, expected, actual)
