# ===- bucket-sizes.py - Buckets of a size are DDP's -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# bucket=size:N puts gradients into the buckets that PyTorch's reducer makes of
# them in the order in which they are ready, and buckets never change a bit.

import json
import pathlib
import sys

import torch
import torch.distributed as dist
from reference.training import train_eager
from support.compare import Checks
from support.steps import captured_step
from support.toolchain import Run, compile_plan

STEPS = 20
MEBIBYTE = 2**20
# Sizes in MiB: all in one, several, and one tensor each.
SIZES = (25, 0.05, 0.0001)


def reductions(plan_path):
    """Names of the members of each reduction, in the order of starts."""
    program = json.loads(plan_path.read_text())["programs"][0]
    return [
        [member["name"] for member in instruction["members"]]
        for instruction in program["instructions"]
        if instruction.get("start") in ("all_reduce", "reduce_scatter")
    ]


def buckets_of_pytorch(tensors, size):
    """[[name]] that DDP's reducer makes of {name: tensor} in this order."""
    first = dist._DEFAULT_FIRST_BUCKET_BYTES
    limits = [min(first, int(size * MEBIBYTE)), int(size * MEBIBYTE)]
    indices, _ = dist._compute_bucket_assignment_by_size(
        list(tensors.values()), limits
    )
    names = list(tensors)
    return [sorted(names[i] for i in bucket) for bucket in indices]


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
torch.set_num_threads(1)
with Checks() as check:
    step = captured_step("llama")
    parameters = dict(step.build_model().named_parameters())
    expected = train_eager(step.build_model(), step.batches(), STEPS, ranks=2)
    for mode in ("replicate", "fully_shard"):
        common = f"mesh=dp:2 mode={mode} results=gradients reorder=none"
        alone = compile_plan(
            step.archive, f"{common} bucket=none", folder / "alone.plan.json"
        )
        ready = [names[0] for names in reductions(alone)]
        for size in SIZES:
            plan = compile_plan(
                step.archive,
                f"{common} bucket=size:{size}",
                folder / "sized.plan.json",
            )
            found = [sorted(names) for names in reductions(plan)]
            wanted = buckets_of_pytorch(
                {name: parameters[name] for name in ready}, size
            )
            check.that(
                found == wanted,
                f"{mode}, {size} MiB: expected {wanted}, got {found}",
            )
            actual = Run(plan, 2).train(
                step.archive, step.data, STEPS, folder / "run"
            )
            check.same_run(f"{mode}, {size} MiB", expected, actual)
