# ===- traffic.py - Plans move what the oracle says ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# Number of collectives and bytes received, per kind, of every mode on llama:
# the plan's own counts equal those worked out from parameter shapes.

import itertools
import pathlib
import sys

from support.compare import Checks
from support.steps import captured_step
from support.toolchain import compile_plan
from support.traffic import (
    Sharding,
    Traffic,
    buckets_of,
    expected_traffic,
    planned_traffic,
)

GATHER_WIDTH = {"f32": 4, "bf16": 2}
# The gradient of an embedding needs the indices only, not the table.
KEPT = frozenset({"tok_embeddings.weight"})
PLACEMENTS = (
    ("replicate", "always"),
    ("fully_shard", "always"),
    ("fully_shard", "never"),
)


def check_oracle(check):
    """A case worked out by hand.

    2 ranks, f32: [3, 4] has chunks of 2 rows = 8 elements = 32 bytes, [5] of
    3 elements = 12 bytes. One peer sends 32 + 12 bytes per gather.
    """
    shapes = {"layers.0.weight": (3, 4), "layers.0.bias": (5,)}
    found = expected_traffic(shapes, Sharding(2, "fully_shard", "always"))
    expected = Traffic(
        {"all_gather": 4, "reduce_scatter": 2},
        {"all_gather": 88, "reduce_scatter": 44},
    )
    check.that(found == expected, f"oracle: expected {expected}, got {found}")
    names = ["embed", "layers.0.a", "layers.0.b", "layers.1.a", "norm"]
    found = list(buckets_of(names).values())
    expected = ["before", "layers.0", "layers.0", "layers.1", "after"]
    check.that(found == expected, f"blocks: expected {expected}, got {found}")


def check_plan(check, step, sharding, folder):
    options = (
        f"mesh=dp:{sharding.ranks} mode={sharding.mode} "
        f"bucket={sharding.bucket} optimizer=adamw"
    )
    if sharding.mode == "fully_shard":
        options += f" reshard={sharding.reshard}"
    plan = compile_plan(step.archive, options, folder / "plan.json")
    parameters = step.build_model().named_parameters()
    shapes = {name: tuple(p.shape) for name, p in parameters}
    expected = expected_traffic(shapes, sharding)
    found = planned_traffic(plan)
    check.that(
        found == expected,
        f"{options} of llama {step.dtype}: expected {expected}, got {found}",
    )


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
with Checks() as check:
    check_oracle(check)
    for ranks, dtype, bucket in itertools.product(
        (2, 3), GATHER_WIDTH, ("none", "block")
    ):
        step = captured_step("llama", dtype)
        for mode, reshard in PLACEMENTS:
            width = GATHER_WIDTH[dtype]
            sharding = Sharding(
                ranks, mode, reshard, bucket, gather_width=width, kept=KEPT
            )
            check_plan(check, step, sharding, folder)
