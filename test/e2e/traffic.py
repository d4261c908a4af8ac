# ===- traffic.py - Plans move what the oracle says ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t %inputs/archives/llama_tied.pt2
#
# Number of collectives and bytes received, per kind, of every mode on llama and
# mlp: the plan's own counts equal those worked out from parameter shapes. Where
# backward reads every parameter (llama_tied), these are the table's own.

import itertools
import pathlib
import sys

import torch
from support.compare import Checks
from support.steps import captured_step
from support.toolchain import compile_plan
from support.traffic import (
    Sharding,
    Traffic,
    buckets_of,
    expected_traffic,
    not_saved_for_backward,
    planned_traffic,
)

GATHER_WIDTH = {"f32": 4, "bf16": 2}
PLACEMENTS = (
    ("replicate", "always"),
    ("fully_shard", "always"),
    ("fully_shard", "never"),
    ("fully_shard", "auto"),
    ("hybrid_shard", "always"),
    ("hybrid_shard", "never"),
)
REPLICAS = 2


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
    # 2 replicas of it: chunks of 8 and 3 elements travel as 4 and 2 of them,
    # there and back.
    found = expected_traffic(
        shapes, Sharding(2, "hybrid_shard", "never", replicas=2)
    )
    expected = Traffic(
        {"all_gather": 2, "reduce_scatter": 2, "all_reduce": 2},
        {"all_gather": 44, "reduce_scatter": 44, "all_reduce": 2 * (16 + 8)},
    )
    check.that(found == expected, f"oracle: expected {expected}, got {found}")
    names = ["embed", "layers.0.a", "layers.0.b", "layers.1.a", "norm"]
    found = list(buckets_of(names).values())
    expected = ["before", "layers.0", "layers.0", "layers.1", "after"]
    check.that(found == expected, f"blocks: expected {expected}, got {found}")


def check_plan(check, what, archive, shapes, sharding, folder):
    mesh = f"dp:{sharding.ranks}"
    if sharding.mode == "hybrid_shard":
        mesh = f"dp_replicate:{sharding.replicas},dp_shard:{sharding.ranks}"
    options = (
        f"mesh={mesh} mode={sharding.mode} "
        f"bucket={sharding.bucket} optimizer=adamw"
    )
    if sharding.mode != "replicate":
        options += f" reshard={sharding.reshard}"
    plan = compile_plan(archive, options, folder / "plan.json")
    expected = expected_traffic(shapes, sharding)
    found = planned_traffic(plan)
    check.that(
        found == expected,
        f"{options} of {what}: expected {expected}, got {found}",
    )
    return found


def check_model(check, name, ranks, dtype, bucket, folder):
    step = captured_step(name, dtype)
    model = step.build_model()
    shapes = {n: tuple(p.shape) for n, p in model.named_parameters()}
    first = {n: batches[0] for n, batches in step.batches().items()}
    kept = not_saved_for_backward(model, first)
    for mode, reshard in PLACEMENTS:
        width = GATHER_WIDTH[dtype]
        sharding = Sharding(
            ranks,
            mode,
            reshard,
            bucket,
            gather_width=width,
            kept=kept,
            replicas=REPLICAS,
        )
        what = f"{name} {step.dtype}"
        check_plan(check, what, step.archive, shapes, sharding, folder)


def check_table(check, archive, folder):
    """Every parameter is read by backward: 2T gathers, T reductions."""
    program = torch.export.load(archive)
    shapes = {}
    for name in program.graph_signature.inputs_to_parameters.values():
        shapes[name] = tuple(program.state_dict[name].shape)
    sharding = Sharding(2, "fully_shard", "always")
    found = check_plan(
        check, archive.stem, archive, shapes, sharding, folder
    )
    count = len(shapes)
    expected = {"all_gather": 2 * count, "reduce_scatter": count}
    check.that(
        found.launches == expected,
        f"{archive.stem}: expected {expected}, got {found.launches}",
    )


def check_clipping(check, ranks, folder):
    """One all-gather more, of one f32 per sharded parameter; none if whole."""
    step = captured_step("llama", "bf16")
    count = len(dict(step.build_model().named_parameters()))
    for mode, launches in (("replicate", 0), ("fully_shard", 1)):
        options = f"mesh=dp:{ranks} mode={mode}"
        found = [
            planned_traffic(
                compile_plan(step.archive, options + clip, folder / "c.json")
            )
            for clip in ("", " clip-norm=1 skip-nonfinite")
        ]
        more = [
            (f.launches.get("all_gather", 0), sum(f.bytes_received.values()))
            for f in found
        ]
        expected = (launches, launches * (ranks - 1) * count * 4)
        actual = tuple(b - a for a, b in zip(*more))
        check.that(
            actual == expected,
            f"clipping, {options}: expected {expected} more, got {actual}",
        )


folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True)
with Checks() as check:
    check_oracle(check)
    check_table(check, pathlib.Path(sys.argv[2]), folder)
    for ranks in (2, 3):
        check_clipping(check, ranks, folder)
    for name, ranks, dtype, bucket in itertools.product(
        ("llama", "mlp"), (2, 3), GATHER_WIDTH, ("none", "block")
    ):
        check_model(check, name, ranks, dtype, bucket, folder)
