# ===- foreign-archives.py - Files of other producers train to eager's bits ===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t %inputs/archives
#
# Without our manifest, and with frozen, unused and buffer-holding models: 20
# steps on one rank in both modes equal PyTorch running the same graph.

import pathlib
import sys

import torch
from reference.archive import SavedStep, train_archive
from support.compare import Checks, difference
from support.toolchain import Run, compile_plan

from simplefsdp_capture import write_batches

STEPS = 20
# Archives and the bound of their integer inputs (vocabulary, classes).
ARCHIVES = {
    "raw_no_manifest": 256,
    "llama_tied": 256,
    "llama_autocast": 256,
    "mlp_frozen": 4,
    "mlp_unused": 4,
    "mlp_batchnorm": 4,
}


def random_batches(example, bound):
    """Endless batches of the shapes and dtypes of `example`."""
    generator = torch.Generator().manual_seed(0)
    while True:
        yield {
            name: (
                torch.randn(tensor.shape, generator=generator)
                if tensor.is_floating_point()
                else torch.randint(bound, tensor.shape, generator=generator)
            )
            for name, tensor in example.items()
        }


def check_archive(check, archive, bound, folder):
    data = folder / f"{archive.stem}.safetensors"
    example = SavedStep(archive).example_batch()
    write_batches(random_batches(example, bound), data, STEPS)
    expected = train_archive(archive, data, STEPS)
    for mode in ("replicate", "fully_shard"):
        name = f"{archive.stem}-{mode}"
        plan = compile_plan(
            archive,
            f"mesh=dp:1 mode={mode} optimizer=adamw results=gradients",
            folder / f"{name}.plan.json",
        )
        run = Run(plan, ranks=1)
        actual = run.train(archive, data, STEPS, folder / name)
        check.same_run(name, expected, actual)


def check_dropout(check, archive, folder):
    """Masks follow the seed and the rank, not the schedule or transport."""
    data = folder / "dropout.safetensors"
    example = SavedStep(archive).example_batch()
    write_batches(random_batches(example, 4), data, STEPS)
    runs = {}
    for index, (options, backend, seed) in enumerate(
        (
            ("mode=replicate bucket=none reorder=none", "local", 0),
            ("mode=fully_shard bucket=block reorder=prefetch", "gloo", 0),
            ("mode=replicate bucket=none reorder=none", "local", 1),
        )
    ):
        plan = compile_plan(
            archive,
            f"mesh=dp:2 {options} optimizer=adamw results=gradients",
            folder / f"dropout-{index}.plan.json",
        )
        runs[index] = Run(plan, 2, backend).train(
            *(archive, data, STEPS, folder / f"dropout-{index}"),
            *("--seed", seed),
        )
    check.same_run("dropout under two schedules", runs[0], runs[1])
    check.that(
        difference(runs[0], runs[2]) is not None,
        "dropout: another seed gives the same run",
    )


folder, archives = map(pathlib.Path, sys.argv[1:])
folder.mkdir(parents=True)
torch.set_num_threads(1)
with Checks() as check:
    for name, bound in ARCHIVES.items():
        check_archive(check, archives / f"{name}.pt2", bound, folder)
    check_dropout(check, archives / "mlp_dropout.pt2", folder)
