# ===- reference-agrees.py - The references agree with each other ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: %python %s
#
# On two ranks DDP, FSDP2 with both reshard settings, and our own definition of
# the mean gradient must give the same bits; otherwise comparing a plan with
# them would prove nothing. Also: the comparison does see a difference.

import torch
from reference.distributed import Case, train_distributed
from reference.training import train_eager
from support.compare import Checks, difference, tensor_difference
from support.steps import captured_step

STEPS = 10


def check_references(check):
    steps = {
        f"{model}-{dtype}": captured_step(model, dtype)
        for model in ("mlp", "llama")
        for dtype in ("f32", "bf16")
    }
    cases = {
        name: Case(
            step.build_model,
            step.batches(),
            step.param_dtype,
            by_layer=step.model != "mlp",
        )
        for name, step in steps.items()
    }
    # Forks, so it comes before the first backward pass of this process.
    runs = train_distributed(cases, STEPS)
    expected = {
        name: train_eager(
            case.build_model(),
            case.batches,
            STEPS,
            ranks=2,
            param_dtype=case.param_dtype,
        )
        for name, case in cases.items()
    }
    for (name, variant), actual in runs.items():
        check.same_run(f"{name} under {variant}", expected[name], actual)


def check_comparison(check):
    zero, negative = torch.tensor([1.0, 0.0]), torch.tensor([1.0, -0.0])
    found = tensor_difference(zero, negative)
    expected = (
        "1 of 2 elements differ, first at [1]: expected 0.0 (0x00000000), "
        "got -0.0 (0x80000000)"
    )
    check.that(found == expected, f"expected '{expected}', got '{found}'")
    nan = torch.tensor(float("nan"))
    check.that(tensor_difference(nan, nan) is None, "NaN differs from itself")
    found = tensor_difference(zero, zero.double())
    check.that(found is not None, "dtypes f32 and f64 are equal")


def check_one_step_differs(check):
    step = captured_step("mlp")
    batches = step.batches()
    one = train_eager(step.build_model(), batches, 2)
    other = train_eager(step.build_model(), batches, 2, lr=2e-3)
    found = difference(one, other)
    check.that(
        found is not None and found.startswith("loss of step 2"),
        f"expected the loss of step 2 to differ, got '{found}'",
    )


torch.set_num_threads(1)
with Checks() as check:
    check_references(check)
    check_comparison(check)
    check_one_step_differs(check)
