# ===- plan-cases.py - What plans say, without running them ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: rm -rf %t && %python %s %t
#
# F07: more than 2^31 elements; F17: the wire carries the compute dtype; F60:
# every compile gives the same bytes, wherever it runs and writes.

import json
import os
import pathlib
import subprocess
import sys

import simplefsdp_capture
import torch
from support.compare import Checks
from support.small import SmallStep
from support.steps import captured_step
from support.toolchain import compile_plan, tool
from support.traffic import planned_traffic
from torch import nn

MIB = 2**20


class Table(nn.Module):
    """The mean of some rows of one large bf16 table."""

    def __init__(self, rows, columns):
        super().__init__()
        self.table = nn.Embedding(rows, columns, dtype=torch.bfloat16)

    def forward(self, tokens):
        return self.table(tokens).float().mean()


class Square(nn.Module):
    """A bias-free layer, read in the compute dtype, also by backward."""

    def __init__(self, size):
        super().__init__()
        self.first = nn.Linear(size, size, bias=False)

    def forward(self, x):
        return self.first(x.to(self.first.weight.dtype)).float().mean()


def check_f07_large(check, folder):
    """[262144, 8960] bf16 over 8 ranks, by hand.

    262144 * 8960 = 2,348,810,240 elements of 2 bytes = 4,697,620,480 bytes;
    each rank holds 32768 rows = 293,601,280 elements and receives 7 / 8 of
    the bytes = 4,110,417,920.
    """
    rows, columns, ranks = 262144, 8960, 8
    folder.mkdir(parents=True)
    with simplefsdp_capture.fake_weights():
        model = Table(rows, columns)
    archive = folder / "large.pt2"
    tokens = torch.zeros(4, dtype=torch.int64)
    simplefsdp_capture.capture(model, {"tokens": tokens}, archive)
    path = compile_plan(
        archive,
        f"mesh=dp:{ranks} mode=fully_shard",
        folder / "large.plan.json",
    )
    plan = json.loads(path.read_text())
    (parameter,) = [a for a in plan["arguments"] if a["role"] == "parameter"]
    value = plan["values"][int(parameter["value"][1:])]
    check.that(
        value["sizes"] == [rows // ranks, columns],
        f"F07: expected local rows 32768, got {value['sizes']}",
    )
    largest = max(storage["bytes"] for storage in plan["storages"])
    check.that(
        largest == 4_697_620_480,
        f"F07: expected a gathered table of 4,697,620,480 bytes, got {largest}",
    )
    received = planned_traffic(path).bytes_received["all_gather"]
    check.that(
        received == 4_110_417_920,
        f"F07: expected 4,110,417,920 bytes received, got {received}",
    )


def check_f17_wire_dtype(check, folder):
    """[1024, 1024] in bf16 over 4 ranks: 3 / 4 of 2 MiB = 1.5 MiB."""
    batches = [{"x": torch.randn(2, 1024)}]
    step = SmallStep(
        lambda: Square(1024), batches, folder, torch.bfloat16
    ).capture()
    plan = step.compile("mesh=dp:4 mode=fully_shard bucket=none reshard=never")
    traffic = planned_traffic(plan)
    received = traffic.bytes_received["all_gather"]
    expected = 3 * MIB // 2
    check.that(
        received == expected, f"F17: expected {expected} bytes, got {received}"
    )


def check_f60_same_bytes(check, folder):
    """Other folder, other output name, other environment: the same plan."""
    archive = captured_step("llama").archive.resolve()
    options = (
        "mesh=dp:4 mode=fully_shard bucket=block reorder=prefetch "
        "optimizer=adamw"
    )
    plans = []
    for rank in ("0", "3"):
        place = folder / f"rank-{rank}"
        place.mkdir(parents=True)
        subprocess.run(
            [
                tool("simplefsdp-opt"),
                os.path.relpath(archive, place) if rank == "3" else archive,
                f"--simplefsdp={options}",
                f"--emit-plan={rank}.json",
                "-o",
                os.devnull,
            ],
            cwd=place,
            env={**os.environ, "RANK": rank, "WORLD_SIZE": "4"},
            check=True,
        )
        plans.append((place / f"{rank}.json").read_bytes())
    check.that(plans[0] == plans[1], "F60: two compiles differ")


folder = pathlib.Path(sys.argv[1])
with Checks() as check:
    check_f07_large(check, folder / "f07")
    check_f17_wire_dtype(check, folder / "f17")
    check_f60_same_bytes(check, folder / "f60")
