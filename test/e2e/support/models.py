# ===- models.py - Built-in models under every mode ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# docs/semantics.md: whatever the mode, 1 to 4 ranks give the bits of PyTorch's
# arithmetic on the same batches; one rank is eager PyTorch itself.
# Tested by test/e2e/models-language.py and test/e2e/models-vision.py.

import itertools

import torch
from simplefsdp_capture.models import build, configure
from support.small import SmallStep
from support.steps import DTYPES, random_batches

STEPS = 20
RANKS = (1, 2, 3, 4)
MODES = ("replicate", "fully_shard")


def captured_model(model, dtype, folder):
    """Captures size tiny of a built-in model with batches for all ranks."""

    def build_model():
        torch.manual_seed(0)
        return build(*configure(model))[0]

    batches = list(
        itertools.islice(random_batches(model), STEPS * max(RANKS))
    )
    place = folder / f"{model}-{dtype}"
    return SmallStep(build_model, batches, place, DTYPES[dtype]).capture()


def check_model(check, model, dtype, folder):
    """Trains under every mode and number of ranks and compares all bits."""
    step = captured_model(model, dtype, folder)
    for ranks in RANKS:
        expected = step.train_eager(ranks, STEPS)
        for mode in MODES:
            plan = step.compile(
                f"mesh=dp:{ranks} mode={mode} optimizer=adamw "
                "results=gradients",
                f"{mode}-{ranks}",
            )
            actual = step.train(plan, ranks, STEPS, lr=1e-3)
            name = f"{model} {dtype}, {mode} on {ranks} ranks"
            check.same_run(name, expected, actual)
